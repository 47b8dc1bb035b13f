"""Programs on Spark beside the engine of one process: a join, a recursion, and the closure of a large graph.

    python -m benchmarks.pipeline.datalog            two million tuples, local[2], into the documents
    python -m benchmarks.pipeline.datalog --quick    a hundredth of it: tries the script, keeps nothing

Processor seconds of all processes, and seconds; both sides read the same Parquet and count the same results.
The engine of one process has the data in its memory: what it takes for that is told too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import spending
from benchmarks.tables import markdown, times, write_into

import tocsin
import tocsin.spark as ts

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-datalog.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

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
    parser.add_argument("--quick", action="store_true", help="a hundredth of the tuples; nothing is written")
    parser.add_argument("--alone", nargs=2, metavar=("CASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        return alone(CASES[int(options.alone[0])], Path(options.alone[1]))
    count = QUICK if options.quick else TUPLES
    results: dict[str, Any] = {"machine": machine_facts(), "tuples": count, "cases": {}}
    spark = ts.session("local[2]", config=CONFIG)
    spark.range(10).mapInArrow(lambda batches: batches, "id long").count()
    for number, case in enumerate(CASES):
        say(case.name)
        with tempfile.TemporaryDirectory() as folder:
            for name, facts in case.facts(count).items():
                pq.write_table(facts, Path(folder, f"{name}.parquet"))
            given = {path.stem: spark.read.parquet(str(path)) for path in Path(folder).iterdir()}
            with spending() as spent:
                found = ts.evaluate(tocsin.Program.parse(case.program), given)
            command = [sys.executable, "-m", "benchmarks.pipeline.datalog", "--alone", str(number), folder]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results["cases"][case.name] = {
            "how": found.explain().splitlines(),
            "spark": {
                "tuples": found.sizes[case.counted],
                "seconds": spent.seconds,
                "processor": spent.processor,
            },
            "engine": json.loads(answer),
        }
    spark.stop()
    generated = {"pipeline-datalog": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-datalog"])
    return 0


def alone(case: Case, folder: Path) -> int:
    """The same in a process without Spark, told as JSON."""
    from tocsin.datalog.engine import warm_up

    warm_up()
    cpu, started = time.process_time(), time.perf_counter()
    program = tocsin.Program.parse(case.program)
    engine = program.start(facts={path.stem: path for path in folder.iterdir()}, limit=1_000_000_000)
    told = {
        "tuples": engine.size(case.counted),
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - cpu,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }
    print(json.dumps(told))
    return 0


def table(results: dict[str, Any]) -> str:
    """The programs side by side."""
    cases = list(results["cases"].values())
    for case in cases:
        assert case["spark"]["tuples"] == case["engine"]["tuples"], "Spark and the engine disagree"

    def row(name: str, way: str, what: str, unit: str) -> tuple[str, list[str]]:
        return name, [f"{each[way][what]:,.1f} {unit}" for each in cases]

    ratios = [times(each["spark"]["processor"], each["engine"]["processor"]) for each in cases]
    rows = [
        ("tuples that come out", [f"{each['engine']['tuples']:,}" for each in cases]),
        row("`ts.evaluate` on `local[2]`", "spark", "seconds", "s"),
        row("processor time, all processes", "spark", "processor", "s"),
        row("the engine of one process", "engine", "seconds", "s"),
        row("processor time", "engine", "processor", "s"),
        row("memory", "engine", "gigabytes", "GB"),
        ("**processor time on Spark, times the engine's**", ratios),
    ]
    facts = results["machine"]
    note = f"{facts['cores']} cores ({facts['processor']}), Python {facts['python']}."
    head = [f"{results['tuples']:,} tuples", *results["cases"]]
    return f"{markdown(head, rows)}\n\n{note}"


if __name__ == "__main__":
    sys.exit(main())
