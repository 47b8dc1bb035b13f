"""What matching adds to a micro-batch: 1,000 events against 100,000 rules.

    python -m benchmarks.pipeline.latency             into the documents
    python -m benchmarks.pipeline.latency --quick     few rules and batches: tries the script, keeps nothing

Three streams read the same files, one file of 1,000 payments a batch, and write Parquet, on `local[2]` in one
session: a mapInArrow that does nothing, `ts.match` in its place, and `ts.stream` with all that it promises. A
batch's time is Spark's own (triggerExecution); the first five batches of each stream do not count. The
streams run in turn, several times; medians.

Then the rules of a running `ts.stream` are changed between two batches, and the versions that its alerts
carry tell after how many batches the change is live.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.workload import events, rules
from benchmarks.tables import markdown, milliseconds, write_into
from pyspark.sql import DataFrame, SparkSession

import tocsin
import tocsin.spark as ts

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-latency.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

EVENTS, RULES, QUICK_RULES, CLAUSES = 1_000, 100_000, 2_000, 6
BATCHES, QUICK_BATCHES, NOT_COUNTED = 30, 8, 5
TURNS = 3
BATCHES_AROUND_A_CHANGE = 4

Durations = list[float]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.latency", description="what matching adds to a micro-batch"
    )
    parser.add_argument("--quick", action="store_true", help="few rules and batches; nothing is written")
    options = parser.parse_args(arguments)
    batches, turns = (QUICK_BATCHES, 1) if options.quick else (BATCHES, TURNS)
    made = rules(QUICK_RULES if options.quick else RULES, CLAUSES)
    results: dict[str, Any] = {"machine": machine_facts(), "rules": made.num_rows, "batches": batches}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "events").mkdir()
        for number in range(batches):
            write_batch(folder / "events", number)
        pq.write_table(made, folder / "rules.parquet")
        index: Any = tocsin.build(made)
        index.save(folder / "rules.tocsin")
        spark = ts.session("local[2]")
        seconds: dict[str, Durations] = {name: [] for name in STREAMS}
        for turn in range(turns):
            for name, run in STREAMS.items():
                say(f"{name}, turn {turn + 1}")
                out = folder / f"{name}-{turn}"
                seconds[name] += run(spark, source(spark, folder / "events"), folder, out)[NOT_COUNTED:]
        results["seconds"] = {name: statistics.median(each) for name, each in seconds.items()}
        say("a change of the rules")
        results["live after"] = batches_until_live(spark, folder, made)
        spark.stop()
    generated = {"pipeline-latency": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-latency"])
    return 0


def write_batch(folder: Path, number: int) -> None:
    """A file is there whole or not at all."""
    draft = folder / f".{number}"
    pq.write_table(events(number * EVENTS, EVENTS), draft)
    draft.rename(folder / f"{number:05d}.parquet")


def source(spark: SparkSession, folder: Path) -> DataFrame:
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


# ---- The streams


def as_it_is(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def nothing(_spark: SparkSession, stream: DataFrame, _folder: Path, out: Path) -> Durations:
    return written(stream.mapInArrow(as_it_is, stream.schema), out)


def matching(_spark: SparkSession, stream: DataFrame, folder: Path, out: Path) -> Durations:
    index: Any = tocsin.open(folder / "rules.tocsin")
    return written(ts.match(stream, index, keep=["id"]), out)


def streaming(_spark: SparkSession, stream: DataFrame, folder: Path, out: Path) -> Durations:
    running = ts.stream(stream, folder / "rules.tocsin", str(out), key="id", once=True)
    running.wait()
    return durations(running.query)


def written(stream: DataFrame, out: Path) -> Durations:
    query = (
        stream.writeStream.format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", f"{out}.checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return durations(query)


def durations(query: Any) -> Durations:
    """Seconds of each batch that had events."""
    done = [each for each in query.recentProgress if each["numInputRows"]]
    return [each["durationMs"]["triggerExecution"] / 1_000 for each in done]


Run = Callable[[SparkSession, DataFrame, Path, Path], Durations]
STREAMS: dict[str, Run] = {"nothing": nothing, "ts.match": matching, "ts.stream": streaming}


# ---- A change of the rules


def batches_until_live(spark: SparkSession, folder: Path, made: pa.Table) -> int:
    """The number of the first batch after a change whose alerts are by the new rules, counted from 1."""
    arriving, out = folder / "arriving", folder / "changed"
    arriving.mkdir()
    write_batch(arriving, 0)
    running = ts.stream(source(spark, arriving), folder / "rules.parquet", str(out), key="id")
    for number in range(1, BATCHES_AROUND_A_CHANGE):
        running.process_all_available()
        write_batch(arriving, number)
    running.process_all_available()
    every = pa.table({"id": ["every"], "when": ["true"]})
    pq.write_table(pa.concat_tables([made, every]), folder / ".rules.parquet")
    (folder / ".rules.parquet").rename(folder / "rules.parquet")
    for number in range(BATCHES_AROUND_A_CHANGE, 2 * BATCHES_AROUND_A_CHANGE):
        write_batch(arriving, number)
        running.process_all_available()
    running.stop()
    alerts = ds.dataset(out, partitioning="hive").to_table(
        columns=["batch"], filter=ds.field("rule") == "every"
    )
    return int(min(alerts["batch"].to_pylist())) - BATCHES_AROUND_A_CHANGE + 1


def table(results: dict[str, Any]) -> str:
    """The streams one below the other."""
    base = results["seconds"]["nothing"]
    names = {
        "nothing": "a mapInArrow that does nothing",
        "ts.match": "`ts.match` in its place",
        "ts.stream": "`ts.stream`",
    }
    rows = [
        (
            names[name],
            [milliseconds(seconds), "" if name == "nothing" else f"{(seconds - base) * 1_000:+.0f} ms"],
        )
        for name, seconds in results["seconds"].items()
    ]
    head = [f"{EVENTS:,} events a batch, {results['rules']:,} rules", "a batch", "more"]
    ordinal = {1: "first", 2: "second"}.get(results["live after"], f"{results['live after']}th")
    note = f"A change of the rules was live in the {ordinal} batch that began after it."
    return f"{markdown(head, rows)}\n\n{note}"


if __name__ == "__main__":
    sys.exit(main())
