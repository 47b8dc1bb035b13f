"""A stream of changes past a program: ts.activate on `local[2]`, beside the engine of one process.

    python -m benchmarks.pipeline.activation             into the documents
    python -m benchmarks.pipeline.activation --quick     few changes: tries the script, keeps nothing

Two programs: a join whose atoms share a variable, which is spread over keys, and one of which no variable
stands in all atoms, which is the work of one task. Four fifths of the changes insert, and the others delete
what is there. Both sides make every change on its own, in one order, and have to derive equally many changes.
What is measured follows on a quarter as many changes that are not. Behind it come batches of few changes:
what they take is what Spark takes for any.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import spending
from benchmarks.tables import markdown, write_into
from pyspark.sql import SparkSession

import tocsin
import tocsin.spark as ts

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-activation.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

CHANGES, QUICK_CHANGES = 40_000, 1_000
BATCHES, BATCHES_BEFORE = 8, 2
SMALL_BATCHES, SMALL = 5, 10
INSERTED = 0.8
CONFIG = {"spark.sql.shuffle.partitions": "2"}

Operation = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A program, and for so many changes how many values each column of its relations has."""

    name: str
    program: str
    values: Callable[[int], dict[str, tuple[int, ...]]]


CASES = (
    Case(
        "by key",
        """
.decl login(user: number, device: number) .decl card(user: number, card: number)
.decl known(user: number, device: number) .decl alert(user: number, device: number, card: number)
alert(u, d, c) :- login(u, d), card(u, c), !known(u, d).
""",
        lambda count: {"login": (count // 10, 6), "card": (count // 10, 50), "known": (count // 10, 6)},
    ),
    Case(
        "in one place",
        """
.decl first(a: number, b: number) .decl second(b: number, c: number) .decl third(c: number, d: number)
.decl route(a: number, d: number)
route(a, d) :- first(a, b), second(b, c), third(c, d).
""",
        lambda count: dict.fromkeys(("first", "second", "third"), (count // 6, count // 6)),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.activation", description="how fast ts.activate is"
    )
    parser.add_argument("--quick", action="store_true", help="few changes; nothing is written")
    options = parser.parse_args(arguments)
    count = QUICK_CHANGES if options.quick else CHANGES
    results: dict[str, Any] = {"machine": machine_facts(), "changes": count, "cases": {}}
    spark = ts.session("local[2]", config=CONFIG)
    for case in CASES:
        say(case.name)
        some = count * (BATCHES + BATCHES_BEFORE) // BATCHES
        drawn = list(operations(case, some + SMALL_BATCHES * SMALL))
        with tempfile.TemporaryDirectory() as folder:
            on_spark = activated(spark, case, drawn, count, Path(folder))
        results["cases"][case.name] = {"spark": on_spark, "engine": applied(case, drawn, count)}
    spark.stop()
    generated = {"pipeline-activation": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-activation"])
    return 0


def operations(case: Case, count: int) -> Iterator[Operation]:
    """Changes that all change something: no tuple is inserted twice, or deleted when it is not there."""
    rng = np.random.default_rng(7)
    values = case.values(count)
    names = list(values)
    there: list[tuple[str, tuple[int, ...]]] = []
    known: set[tuple[str, tuple[int, ...]]] = set()
    while count:
        if there and rng.random() >= INSERTED:
            place = int(rng.integers(len(there)))
            there[place], there[-1] = there[-1], there[place]
            gone = there.pop()
            known.remove(gone)
            yield ("-", *gone)
        else:
            name = names[int(rng.integers(len(names)))]
            fact = (name, tuple(rng.integers(values[name]).tolist()))
            if fact in known:
                continue
            known.add(fact)
            there.append(fact)
            yield ("+", *fact)
        count -= 1


def activated(
    spark: SparkSession, case: Case, drawn: Sequence[Operation], measured: int, folder: Path
) -> dict[str, float]:
    """What `measured` changes took on Spark, then small batches, and how many changes all of them derived."""
    (folder / "in").mkdir()
    schema = "op string, relation string, tuple array<string>, seq bigint"
    changes = (
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(f"file://{folder / 'in'}")
    )
    query = (
        ts.activate(tocsin.Program.parse(case.program), changes)
        .writeStream.option("checkpointLocation", f"file://{folder / 'checkpoint'}")
        .start(f"file://{folder / 'out'}")
    )
    places = np.arange(len(drawn))
    large, small = places[: -SMALL_BATCHES * SMALL], places[-SMALL_BATCHES * SMALL :]
    pieces = np.array_split(large, BATCHES + BATCHES_BEFORE) + np.array_split(small, SMALL_BATCHES)
    spent = []
    done = 0
    for upto in (BATCHES_BEFORE, BATCHES_BEFORE + BATCHES, len(pieces)):
        with spending() as of_these:
            for number in range(done, upto):
                write_batch(folder / "in", number, pieces[number], drawn)
            query.processAllAvailable()
        spent.append(of_these)
        done = upto
    query.stop()
    derived = ds.dataset(folder / "out", format="parquet", exclude_invalid_files=True).count_rows()
    return {
        "seconds": spent[1].seconds,
        "processor": spent[1].processor,
        "small batch": spent[2].processor / SMALL_BATCHES,
        "derived": derived,
        "changes": measured,
    }


def write_batch(folder: Path, number: int, places: Any, drawn: Sequence[Operation]) -> None:
    """A file of changes, each with a seq of its own."""
    some = [drawn[place] for place in places.tolist()]
    made = pa.table(
        {
            "op": [op for op, _, _ in some],
            "relation": [relation for _, relation, _ in some],
            "tuple": [list(map(str, values)) for _, _, values in some],
            "seq": pa.array(places),
        }
    )
    draft = folder / f".{number}"
    pq.write_table(made, draft)
    os.utime(draft, (number, number))  # Spark takes files in the order of their times
    draft.rename(folder / f"{number:05d}.parquet")


def applied(case: Case, drawn: Sequence[Operation], measured: int) -> dict[str, float]:
    """The same by the engine of one process."""
    engine = tocsin.Program.parse(case.program).start()
    derived = 0
    last = len(drawn) - SMALL_BATCHES * SMALL
    times = {}
    for place, operation in enumerate(drawn):
        if place in (last - measured, last):
            times[place] = (time.perf_counter(), time.process_time())
        found = engine.apply([operation])
        derived += sum(map(len, found.added.values())) + sum(map(len, found.removed.values()))
    (clock, processor), (clock_after, processor_after) = times.values()
    return {
        "seconds": clock_after - clock,
        "processor": processor_after - processor,
        "derived": derived,
        "changes": measured,
    }


def table(results: dict[str, Any]) -> str:
    """The programs side by side."""
    cases = list(results["cases"].values())
    for case in cases:
        assert case["spark"]["derived"] == case["engine"]["derived"], "Spark and the engine disagree"

    def row(name: str, way: str, unit: str) -> tuple[str, list[str]]:
        if unit == "a second":
            return name, [f"{each[way]['changes'] / each[way]['seconds']:,.0f}" for each in cases]
        return name, [f"{1e6 * each[way]['processor'] / each[way]['changes']:,.0f} µs" for each in cases]

    ratios = [f"{each['spark']['processor'] / each['engine']['processor']:,.0f} times" for each in cases]
    every = results["changes"] * (BATCHES + BATCHES_BEFORE) / BATCHES + SMALL_BATCHES * SMALL
    rows = [
        ("derived changes for each", [f"{each['engine']['derived'] / every:.1f}" for each in cases]),
        row("`ts.activate` on `local[2]`, changes a second", "spark", "a second"),
        row("processor time of a change, all processes", "spark", "processor"),
        (f"of a batch of {SMALL} changes", [f"{each['spark']['small batch']:,.1f} s" for each in cases]),
        row("the engine of one process, changes a second", "engine", "a second"),
        row("processor time of a change", "engine", "processor"),
        ("**processor time on Spark, times the engine's**", ratios),
    ]
    head = [f"{results['changes']:,} changes in {BATCHES} batches", *results["cases"]]
    facts = results["machine"]
    note = f"{facts['cores']} cores ({facts['processor']}), Python {facts['python']}."
    return f"{markdown(head, rows)}\n\n{note}"


if __name__ == "__main__":
    sys.exit(main())
