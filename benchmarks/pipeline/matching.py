"""From Parquet to Parquet by ts.match, beside the kernel alone and beside a mapInArrow that does nothing.

    python -m benchmarks.pipeline.matching             into the documents
    python -m benchmarks.pipeline.matching --quick     few events and rules: tries the script, keeps nothing

Payments of 20 fields (workload.py) against three sets of rules:

    hard        so many rules that matching takes most of the processor's time
    many        100,000 rules, 20 to 50 matches an event: here the matches take it, as rows on their way
    few         1,000 rules, at most one match an event: here the events take it

*The kernel* is `index.match_table(reader, threads=1)` on events that are in memory as Arrow: columns read and
matches made into Arrow, nothing read from files or written to them. On Spark the session is warm, the index
is sent, and what is timed reads Parquet files and writes Parquet files. *Nothing* is a mapInArrow that gets
the same columns and gives back row numbers. Each master has a process of its own, twice in turn; within it
the jobs alternate. Medians. Processor time is that of Java, this Python and the workers together.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import Spent, spending
from benchmarks.pipeline.workload import exclusive_rules, rules, write_events
from benchmarks.tables import markdown, write_into

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-matching.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

MASTERS = ("local[1]", "local[2]")
FILES, EVENTS_OF_FILE, QUICK_EVENTS = 6, 125_000, 5_000
ROUNDS = 3


class Case(NamedTuple):
    """A set of rules, and how many of the files of events it is matched with."""

    name: str
    rules: int
    clauses: int
    files: int
    exclusive: bool = False


CASES = (
    Case("hard", 2_000_000, 9, 2),
    Case("many", 100_000, 6, 2),
    Case("few", 1_000, 4, 6, exclusive=True),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.matching", description="how fast ts.match is"
    )
    parser.add_argument("--quick", action="store_true", help="few events and rules; nothing is written")
    parser.add_argument("--step", choices=("make", "kernel", *set(MASTERS)), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step is not None:
        print(json.dumps(_do(options.step, options.folder, options.quick)))
        return 0
    results: dict[str, Any] = {"machine": machine_facts(), "spark": []}
    with tempfile.TemporaryDirectory() as folder:
        for step in ("make", "kernel", *MASTERS):
            say(step)
            found = _in_a_process(step, folder, options.quick)
            if step in MASTERS:
                results["spark"].append({"master": step, **found})
            else:
                results[step] = found
    generated = {"pipeline-matching": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-matching"])
    return 0


def _in_a_process(step: str, folder: str, quick: bool) -> Any:
    command = [sys.executable, "-m", "benchmarks.pipeline.matching", "--step", step, "--folder", folder]
    done = subprocess.run(
        [*command, *["--quick"] * quick], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    return json.loads(done.stdout.splitlines()[-1])


def _do(step: str, folder: Path, quick: bool) -> dict[str, Any]:
    if step == "make":
        return _make(folder, quick)
    if step == "kernel":
        return {case.name: _kernel(folder, case) for case in CASES}
    return _on_spark(folder, step)


def _make(folder: Path, quick: bool) -> dict[str, Any]:
    import tocsin

    made = {}
    write_events(folder / "events", FILES * (QUICK_EVENTS if quick else EVENTS_OF_FILE), FILES)
    for case in CASES:
        make = exclusive_rules if case.exclusive else rules
        index: Any = tocsin.build(make(min(case.rules, 20_000) if quick else case.rules, case.clauses))
        index.save(folder / f"{case.name}.tocsin")
        made[case.name] = {
            "rules": len(index),
            "fields": len(index.fields),
            "bytes": (folder / f"{case.name}.tocsin").stat().st_size,
        }
    return made


def _files(folder: Path, case: Case) -> list[str]:
    return [str(each) for each in sorted((folder / "events").iterdir())[: case.files]]


def _kernel(folder: Path, case: Case) -> dict[str, Any]:
    """Seconds of the clock and of this process's one thread, for each event."""
    import tocsin

    pa.set_cpu_count(1)
    index: Any = tocsin.open(folder / f"{case.name}.tocsin")
    table = pa.concat_tables([pq.read_table(file) for file in _files(folder, case)]).combine_chunks()
    index.match_table(table.slice(0, 20_000), threads=1)
    clock, processor, matches = [], [], 0
    for _ in range(ROUNDS):
        began, spent = time.perf_counter(), time.process_time()
        matches = 0
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        for batch in index.match_table(reader, threads=1):
            matches += batch.num_rows
        clock.append((time.perf_counter() - began) / table.num_rows)
        processor.append((time.process_time() - spent) / table.num_rows)
    counts = index.match_table(table, count=True, threads=1).per_event
    return {
        "seconds": statistics.median(clock),
        "processor": statistics.median(processor),
        "events": table.num_rows,
        "matches": matches / table.num_rows,
        "most matches": max(counts.to_pylist()),
    }


def row_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What costs the least that a mapInArrow can cost and still gives a row for each one."""
    import numpy as np

    first = 0
    for batch in batches:
        numbers = pa.array(np.arange(first, first + batch.num_rows, dtype=np.int64))
        yield pa.RecordBatch.from_arrays([numbers], names=["row"])
        first += batch.num_rows


def _on_spark(folder: Path, master: str) -> dict[str, Any]:
    import tocsin
    import tocsin.spark as ts

    spark = ts.session(master)
    found: dict[str, Any] = {}
    for case in CASES:
        index: Any = tocsin.open(folder / f"{case.name}.tocsin")
        events = spark.read.parquet(*_files(folder, case))
        columns = ["id", *(path[0] for path in index.fields)]

        def matching(events: Any = events, index: Any = index) -> Any:
            return ts.match(events, index, keep=["id"])

        def nothing(events: Any = events, columns: Any = columns) -> Any:
            return events.select(*columns).mapInArrow(row_numbers, "row bigint")

        jobs = {"matching": matching, "nothing": nothing}
        rows = events.count()
        spent: dict[str, list[Spent]] = {name: [] for name in jobs}
        for _ in range(1 + ROUNDS):
            for name, job in jobs.items():
                with spending() as taken:
                    job().write.mode("overwrite").parquet(str(folder / "out"))
                spent[name].append(taken)
        found[case.name] = {name: _medians(each[1:], rows) for name, each in spent.items()}
    spark.stop()
    return found


def _medians(spent: list[Spent], rows: int) -> dict[str, float]:
    """For each row."""
    return {
        "seconds": statistics.median(each.seconds for each in spent) / rows,
        "processor": statistics.median(each.processor for each in spent) / rows,
    }


def table(results: dict[str, Any]) -> str:
    """The sets of rules side by side."""

    names = [case.name for case in CASES]
    kernel, made = results["kernel"], results["make"]

    def on(master: str, job: str, what: str) -> list[float]:
        runs = [each for each in results["spark"] if each["master"] == master]
        return [statistics.median(run[name][job][what] for run in runs) for name in names]

    def micro(seconds: Sequence[float]) -> list[str]:
        return [f"{each * 1e6:.1f} µs" for each in seconds]

    def ratio(above: Sequence[float], below: Sequence[float], form: str) -> list[str]:
        return [format(over / under, form) for over, under in zip(above, below, strict=True)]

    alone = [kernel[name]["seconds"] for name in names]
    one, two = (on(master, "matching", "seconds") for master in ("local[1]", "local[2]"))
    spent, idle = (on("local[1]", job, "processor") for job in ("matching", "nothing"))
    rows = [
        ("rules", [f"{made[name]['rules']:,}" for name in names]),
        ("matches an event", [f"{kernel[name]['matches']:.2g}" for name in names]),
        ("**the kernel**, in memory, one thread", micro(alone)),
        ("`ts.match` on `local[1]`", micro(one)),
        ("**its throughput as a share of the kernel's**", ratio(alone, one, ".0%")),
        ("`ts.match` on `local[2]`", micro(two)),
        ("**times as fast as on `local[1]`**", ratio(one, two, ".2f")),
        ("processor time of `ts.match`, all processes", micro(spent)),
        ("of it the kernel's", micro([kernel[name]["processor"] for name in names])),
        ("processor time of a mapInArrow that gives row numbers", micro(idle)),
        ("**times that of the row numbers**", ratio(spent, idle, ".2f")),
    ]
    facts = results["machine"]
    note = (
        f"For each event, medians; {facts['cores']} cores ({facts['processor']}), Python {facts['python']}."
        f" No event of *few* has more than {kernel['few']['most matches']} match."
    )
    return f"{markdown(['', *names], rows)}\n\n{note}"


if __name__ == "__main__":
    sys.exit(main())
