"""How fast the spine is: building, saving, opening and matching, beside a Python loop over eval.

    python -m benchmarks.spine                 the two workloads of tocsin_lab, 100,000 rules each
    python -m benchmarks.spine --abe FOLDER    random rules from a folder (see folders.py), whose counts
                                               are then checked too

Every time is the processor time of this one process, on one core, the best of several repetitions
(medians are in the JSON); only building is by the clock, as index.stats() tells its phases. Before any
of them counts, the ways of matching are held to one answer. Results are printed; those of the first
command, which has no options, also go to benchmarks/results/spine.json and into the documents that have
a place for them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.folders import counts_in, events_in, rules_in, table_of
from benchmarks.measuring import Seconds, machine_facts, say, timed
from benchmarks.tables import machine_note, markdown, milliseconds, times, write_into

import tocsin
from tocsin.warmup import warm_up
from tocsin_lab import abe_gen
from tocsin_lab.exchange import campaigns, visits
from tocsin_lab.python_loop import PythonLoop

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "spine.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")

SINGLE_EVENTS = 200
LOOPED_EVENTS = 20
FEW_RULES = (10, 100, 1_000, 10_000)


@dataclass
class Workload:
    """Rules (id, when) and events, as a table and, for some, as dictionaries."""

    name: str
    rules: pa.Table
    table: pa.Table
    events: list[dict[str, Any]]
    listed: frozenset[tuple[str, ...]]
    counts: list[int] | None = None


@dataclass
class Measured:
    """What one workload gave; times are seconds, of matching per event."""

    name: str
    rules: int
    events: int
    matches_per_event: float
    build: Seconds
    build_phases: dict[str, float]
    nodes: int
    predicates: int
    bytes_matching: int
    file_bytes: int
    open_verified: Seconds
    open_trusted: Seconds
    blocks: Seconds
    blocks_count_only: Seconds
    single: Seconds
    python_loop: Seconds
    python_loop_set_up: float
    counts_checked: bool


@dataclass
class FewRules:
    """Times per event with few rules, where a loop may do."""

    rules: int
    blocks: float
    single: float
    python_loop: float


@dataclass
class Report:
    """All of one run."""

    machine: dict[str, str]
    workloads: list[Measured] = field(default_factory=list)
    few_rules: list[FewRules] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="how fast the spine is")
    parser.add_argument("--abe", type=Path, metavar="FOLDER", help="random rules with known counts")
    parser.add_argument("--rules", type=int, default=100_000, metavar="N", help="rules in a made workload")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="repetitions of each measurement")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", tocsin.TocsinWarning)  # rules that name fields of no event are meant
    pa.set_cpu_count(1)
    warm_up()
    exchange = exchange_workload(options.rules)
    random = folder_workload(options.abe) if options.abe else random_workload(options.rules)
    report = Report(machine_facts())
    for workload in (exchange, random):
        report.workloads.append(measure(workload, options.repeat))
    for count in FEW_RULES:
        report.few_rules.append(measure_few(exchange, count, options.repeat))
    print("\n\n".join((summary(report), phases(report), few(report))))
    if options == parser.parse_args([]):
        write_down(report)
    return 0


# ---- Workloads


def exchange_workload(rules: int, events: int = 20_000) -> Workload:
    table = visits(events)
    listed = frozenset({("user", "interests"), ("site", "keywords")})
    return Workload("advertising exchange", campaigns(rules), table, spread(table), listed)


def random_workload(rules: int, events: int = 3_000) -> Workload:
    setting = abe_gen.Setting(expressions=rules)
    made = abe_gen.events(setting, events)
    return Workload(
        "random rules",
        abe_gen.rules(setting),
        abe_gen.table_of(made),
        abe_gen.rows_of(made)[:SINGLE_EVENTS],
        abe_gen.listed_fields(setting),
    )


def folder_workload(folder: Path) -> Workload:
    events = events_in(folder)
    return Workload(
        "random rules",
        rules_in(folder),
        table_of(events),
        events[:SINGLE_EVENTS],
        abe_gen.listed_fields(abe_gen.Setting()),
        counts_in(folder),
    )


def spread(table: pa.Table) -> list[dict[str, Any]]:
    """Some rows from all over the table."""
    step = max(1, table.num_rows // SINGLE_EVENTS)
    rows: list[dict[str, Any]] = table.take(pa.array(range(0, table.num_rows, step))).to_pylist()
    return rows[:SINGLE_EVENTS]


# ---- Measuring


def measure(workload: Workload, repeat: int) -> Measured:
    say(f"{workload.name}: {workload.rules.num_rows:,} rules")
    built: list[Any] = [tocsin.build(workload.rules) for _ in range(min(repeat, 3))]
    clocks = [sum(each.stats().seconds.values()) for each in built]
    build = Seconds(min(clocks), statistics.median(clocks))
    index = built[clocks.index(build.best)]
    stats = index.stats()
    file_bytes, verified, trusted = measure_file(index, repeat)
    say("  the Python loop is compiled")
    start = time.process_time()
    loop = PythonLoop(workload.rules["when"].to_pylist(), workload.listed)
    set_up = time.process_time() - start
    say("  the answers are compared")
    counts = agreed(workload, index, loop)
    say("  matching is timed")
    rows, some = workload.table.num_rows, workload.events[:LOOPED_EVENTS]
    prepared = [loop.prepare(event) for event in some]
    return Measured(
        name=workload.name,
        rules=len(index),
        events=rows,
        matches_per_event=sum(counts) / rows,
        build=build,
        build_phases=dict(stats.seconds),
        nodes=stats.nodes,
        predicates=stats.predicates,
        bytes_matching=sum(stats.bytes_matching.values()),
        file_bytes=file_bytes,
        open_verified=verified,
        open_trusted=trusted,
        blocks=timed(lambda: index.match_table(workload.table, threads=1), repeat, rows),
        blocks_count_only=timed(
            lambda: index.match_table(workload.table, count=True, threads=1), repeat, rows
        ),
        single=timed(lambda: [index.match(event) for event in workload.events], repeat, len(workload.events)),
        python_loop=timed(lambda: [loop.match(names) for names in prepared], min(repeat, 3), len(prepared)),
        python_loop_set_up=set_up,
        counts_checked=workload.counts is not None,
    )


def measure_few(workload: Workload, count: int, repeat: int) -> FewRules:
    rules = workload.rules.slice(0, count)
    index, loop = tocsin.build(rules), PythonLoop(rules["when"].to_pylist(), workload.listed)
    rows, events = workload.table.num_rows, workload.events
    prepared = [loop.prepare(event) for event in events]
    return FewRules(
        rules=rules.num_rows,
        blocks=timed(lambda: index.match_table(workload.table, threads=1), repeat, rows).best,
        single=timed(lambda: [index.match(event) for event in events], repeat, len(events)).best,
        python_loop=timed(lambda: [loop.match(names) for names in prepared], repeat, len(events)).best,
    )


def measure_file(index: Any, repeat: int) -> tuple[int, Seconds, Seconds]:
    """Bytes of the saved file, and opening it from the file system's cache with and without a check."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.tocsin"
        index.save(path)
        verified = timed(lambda: tocsin.open(path), repeat)
        trusted = timed(lambda: tocsin.open(path, verify=False), repeat)
        return path.stat().st_size, verified, trusted


def agreed(workload: Workload, index: Any, loop: PythonLoop) -> list[int]:
    """Check that all ways of matching give one answer on the sample; the number of matches per event."""
    sample = pa.Table.from_pylist(workload.events, workload.table.schema)
    ids = workload.rules["id"].cast(pa.string()).to_pylist()
    by_event: list[list[str]] = [[] for _ in workload.events]
    rows = index.match_table(sample)
    for event, rule in zip(rows["event"].to_pylist(), rows["rule"].to_pylist(), strict=True):
        by_event[event].append(rule)
    for number, event in enumerate(workload.events):
        same = [match.rule for match in index.match(event)] == by_event[number]
        if number < LOOPED_EVENTS:
            same &= [ids[place] for place in loop.match(loop.prepare(event))] == by_event[number]
        if not same:
            sys.exit(f"{workload.name}: the ways of matching differ on event {number}: {event}")
    counts: list[int] = index.match_table(workload.table, count=True).per_event.to_pylist()
    if workload.counts is not None and counts != workload.counts:
        sys.exit(f"{workload.name}: the counts are not those of the folder")
    return counts


# ---- Writing it down


def write_down(report: Report) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(asdict(report), indent=1) + "\n")
    generated = {"spine": summary(report), "spine-phases": phases(report), "spine-few": few(report)}
    write_into(DOCUMENTS, generated)


def summary(report: Report) -> str:
    """The table that the README shows."""
    found = report.workloads
    rows: list[tuple[str, list[str]]] = [
        ("rules", [f"{each.rules:,}" for each in found]),
        ("matches an event", [f"{each.matches_per_event:,.0f}" for each in found]),
        (
            "**in blocks** (Arrow table in, Arrow table out)",
            [milliseconds(each.blocks.best) for each in found],
        ),
        ("in blocks, counted only", [milliseconds(each.blocks_count_only.best) for each in found]),
        ("one event at a time (dictionary in)", [milliseconds(each.single.best) for each in found]),
        ("Python loop over compiled `eval`", [milliseconds(each.python_loop.best) for each in found]),
        ("blocks beat the loop by", [times(each.python_loop.best, each.blocks.best) for each in found]),
        ("blocks beat single events by", [times(each.single.best, each.blocks.best) for each in found]),
        (
            "single events beat the loop by",
            [times(each.python_loop.best, each.single.best) for each in found],
        ),
    ]
    note = (
        f"{machine_note(report.machine)} "
        "The three ways gave the same matches on a sample of events in the same run."
    )
    return f"{markdown([''] + [each.name for each in found], rows)}\n\n{note}"


def phases(report: Report) -> str:
    """Building, saving and opening."""
    found = report.workloads
    rows = [
        ("build, all", [f"{each.build.best:.2f} s" for each in found]),
        ("build, rules a second", [f"{each.rules / each.build.best:,.0f}" for each in found]),
        *(
            (
                f"of it {phase.replace('_', ' ')}",
                [f"{each.build_phases[phase]:.2f} s" for each in found],
            )
            for phase in found[0].build_phases
        ),
        ("predicates", [f"{each.predicates:,}" for each in found]),
        ("nodes", [f"{each.nodes:,}" for each in found]),
        ("bytes that matching needs", [f"{each.bytes_matching / 1e6:.1f} MB" for each in found]),
        ("saved file, texts and metadata included", [f"{each.file_bytes / 1e6:.1f} MB" for each in found]),
        ("open, checksum verified", [milliseconds(each.open_verified.best) for each in found]),
        ("open, trusted (as Spark's workers do)", [milliseconds(each.open_trusted.best) for each in found]),
        ("the Python loop's set-up, for comparison", [f"{each.python_loop_set_up:.0f} s" for each in found]),
    ]
    return markdown([""] + [each.name for each in found], rows)


def few(report: Report) -> str:
    """With few rules."""
    rows = [
        (
            f"{each.rules:,}",
            [milliseconds(each.blocks), milliseconds(each.single), milliseconds(each.python_loop)],
        )
        for each in report.few_rules
    ]
    return markdown(["rules of the exchange", "in blocks", "one event at a time", "Python loop"], rows)


if __name__ == "__main__":
    sys.exit(main())
