"""Beyond Figure 13 (a) of the A-Tree paper: A-Tree alone, on more rules than all engines could hold.

The rules are written to Parquet as they are made, a portion at a time, and built from there, as anybody's
would be. Both are done in processes of their own, so that what they need in memory at most can be told.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.engines.build import build
from tocsin.rules import read_rules
from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.files import write_rules
from tocsin_lab.abe_gen.workloads import rule_batches
from tocsin_lab.experiments.atree_parameters import DEFAULT
from tocsin_lab.experiments.clocks import machine_note, timed
from tocsin_lab.experiments.doors import JUDGE
from tocsin_lab.experiments.event_steps import step_times
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.outcome import Cell, Column, Outcome, Table

SIZES = (10_000_000, 30_000_000, 100_000_000)
"""At scale 1; the paper's largest is the second."""
EVENTS = 100
ROUNDS = 5
NOT_HELD = "more than there is"


class Peak(NamedTuple):
    """What a process found, and the most memory that it had, in bytes."""

    found: Any
    most: int


class Largest(NamedTuple):
    """An index of many rules. Times are seconds, of matching per event."""

    read: float
    build: float
    bytes_matching: int
    read_event: float
    match: float


def measure_largest(run: Run) -> Outcome:
    """A row for each size."""
    rows: list[list[Cell]] = []
    for size in SIZES:
        setting = replace(DEFAULT, expressions=run.sized(size), seed=run.seed)
        run.progress.step(f"A-Tree alone, {setting.expressions:,} rules")
        with tempfile.TemporaryDirectory() as folder:
            rows.append([setting.expressions, *_row(setting, Path(folder))])
    columns = [
        Column("rules"),
        Column("Parquet", "MB"),
        Column("making them", "s"),
        Column("memory of that at most", "MB"),
        Column("reading them", "s"),
        Column("building", "s"),
        Column("memory of both at most", "MB"),
        Column("memory of matching", "MB"),
        Column("reading an event", "ms"),
        Column("matching it", "ms"),
    ]
    about = (
        f"{JUDGE} alone, from Parquet. What a process had in memory at most is as the system tells it. "
        f"Events: best of {ROUNDS} rounds over {EVENTS}, one at a time."
    )
    title = "Beyond Figure 13(a): A-Tree alone, rules in a file"
    return Outcome([Table(title, columns, rows, [about], "largest")], [], [machine_note()])


def _row(setting: abe_gen.Setting, folder: Path) -> list[Cell]:
    try:
        making = in_a_process(write_workload, setting, folder)
        parquet: list[Cell] = [sum(path.stat().st_size for path in folder.iterdir()) / 1e6]
        parquet += [making.found, making.most / 1e6]
        built = in_a_process(measure_file, setting, folder)
    except BrokenProcessPool:
        return [NOT_HELD, *[None] * 8]
    found: Largest = built.found
    return [
        *parquet,
        found.read,
        found.build,
        built.most / 1e6,
        found.bytes_matching / 1e6,
        1_000 * found.read_event,
        1_000 * found.match,
    ]


def in_a_process(work: Callable[[abe_gen.Setting, Path], object], setting: abe_gen.Setting, at: Path) -> Peak:
    """What some work gives; BrokenProcessPool when the system ends it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return Peak(*pool.submit(_measured, work, setting, at).result())


def _measured(
    work: Callable[[abe_gen.Setting, Path], object], setting: abe_gen.Setting, at: Path
) -> tuple[object, int]:
    found = work(setting, at)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found, most if sys.platform == "darwin" else 1024 * most


def write_workload(setting: abe_gen.Setting, folder: Path) -> float:
    """Write the rules to a folder; the seconds of processor time."""

    def write() -> None:
        write_rules(rule_batches(abe_gen.forest_of(setting)), folder, ("parquet",), lambda _: None)

    return timed(write)[1]


def measure_file(setting: abe_gen.Setting, folder: Path) -> Largest:
    """Read and build what is there, and match events."""
    rules, reading = timed(lambda: read_rules(folder / "rules.parquet"))
    index, building = timed(lambda: build(rules))
    events = abe_gen.rows_of(abe_gen.events(setting, EVENTS))
    steps = step_times({JUDGE: index}, {JUDGE: events}, ROUNDS)[JUDGE]
    memory = sum(index.stats().bytes_matching.values())
    return Largest(reading, building, memory, steps.read.best, steps.match.best)
