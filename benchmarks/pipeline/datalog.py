"""Programs on Spark beside the engine of one process: a join, a recursion, and the closure of a large graph.

    python -m benchmarks.pipeline.datalog            two million tuples, local[2]
    python -m benchmarks.pipeline.datalog --quick    a hundredth of it

Processor seconds of all processes, and seconds; both sides read the same Parquet and count the same results.
The engine of one process has the data in its memory: what it takes for that is told too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.measuring import say
from benchmarks.pipeline.processes import processor_seconds

import tocsin
import tocsin.spark as ts

TUPLES, QUICK = 2_000_000, 20_000
CONFIG = {"spark.sql.shuffle.partitions": "8"}


@dataclass(frozen=True)
class Case:
    """A program, the relation that is counted, and how its facts are drawn from so many tuples."""

    name: str
    program: str
    counted: str
    facts: Callable[[int], dict[str, pa.Table]]


def draw(seed: int, count: int, *ranges: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    columns = {f"c{place}": generator.integers(0, most, count) for place, most in enumerate(ranges)}
    return pa.table(columns)


JOIN = """
.decl sale(shop: number, item: number) .decl price(item: number, amount: number) .decl closed(shop: number)
.decl total(shop: number, sum: number)
.decl sold(shop: number, item: number, amount: number)
sold(s, i, a) :- sale(s, i), price(i, a), !closed(s), a > 10.
total(s, n) :- sold(s, _, _), n = sum a : { sold(s, _, a) }.
.output total
"""
RECURSION = """
.decl follows(a: number, b: number) .decl start(a: number) .decl near(a: number, d: number)
near(a, 0) :- start(a).
near(b, d + 1) :- near(a, d), follows(a, b), d < 4.
.output near
"""
CLOSURE = """
.decl arc(x: number, y: number) .decl path(x: number, y: number)
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
.output path
"""

CASES = [
    Case(
        "join, negation, sum",
        JOIN,
        "total",
        lambda count: {
            "sale": draw(1, count, count // 100, count // 20),
            "price": draw(2, count // 20, count // 20, 1_000),
            "closed": draw(3, count // 1_000, count // 100),
        },
    ),
    Case(
        "four steps from some",
        RECURSION,
        "near",
        lambda count: {"follows": draw(4, count, count // 2, count // 2), "start": draw(5, 10, count // 2)},
    ),
    Case("closure", CLOSURE, "path", lambda count: {"arc": draw(6, count, 5 * count // 4, 5 * count // 4)}),
]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline.datalog", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the tuples")
    parser.add_argument("--alone", nargs=2, metavar=("CASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        return alone(CASES[int(options.alone[0])], Path(options.alone[1]))
    count = QUICK if options.quick else TUPLES
    spark = ts.session("local[2]", config=CONFIG)
    spark.range(10).mapInArrow(lambda batches: batches, "id long").count()
    print("case | strategies | tuples | Spark: CPU s | s | one process: CPU s | s | GB")
    for number, case in enumerate(CASES):
        say(case.name)
        with tempfile.TemporaryDirectory() as folder:
            for name, table in case.facts(count).items():
                pq.write_table(table, Path(folder, f"{name}.parquet"))
            given = {path.stem: spark.read.parquet(str(path)) for path in Path(folder).iterdir()}
            cpu, started = processor_seconds(), time.perf_counter()
            found = ts.evaluate(tocsin.Program.parse(case.program), given)
            took = (processor_seconds() - cpu, time.perf_counter() - started)
            size = found.sizes[case.counted]
            command = [sys.executable, "-m", "benchmarks.pipeline.datalog", "--alone", str(number), folder]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        assert int(answer[0]) == size, f"{answer[0]} tuples in one process, {size} on Spark"
        told = found.explain().replace("\n", "; ")
        print(f"{case.name} | {told} | {size:,} | {took[0]:.1f} | {took[1]:.1f} | {' | '.join(answer[1:])}")
    spark.stop()
    return 0


def alone(case: Case, folder: Path) -> int:
    """The same in a process without Spark: tuples, processor seconds, seconds, gigabytes."""
    from tocsin.monitor.programs.warming import warm_up

    warm_up()
    cpu, started = time.process_time(), time.perf_counter()
    program = tocsin.Program.parse(case.program)
    engine = program.start(facts={path.stem: path for path in folder.iterdir()}, limit=1_000_000_000)
    size = engine.size(case.counted)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(size, f"{time.process_time() - cpu:.1f} {time.perf_counter() - started:.1f} {most:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
