"""Table 4 of the A-Tree paper: every engine on rules like its advertisements.

Every engine is built of the same rules and matches the same events one at a time; atree also matches
them in blocks, in a row of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from tocsin.errors import TocsinError
from tocsin_lab import abe_gen
from tocsin_lab.experiments.clocks import Seconds, interleaved, machine_note
from tocsin_lab.experiments.doors import (
    JUDGE,
    Door,
    Offer,
    hold_to_judge,
    open_door,
    rebuilt,
    refusal_note,
    warm,
)
from tocsin_lab.experiments.event_steps import Event, StepTimes, step_times
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import REFUSED, Axis, Bar, Bars, Cell, Column, Outcome, Plot, Table

ADS = abe_gen.AdsSetting()
EVENTS = 100
EVENTS_IN_BLOCKS = 2_048
ROUNDS = 5
REBUILDS = 2
LONG = 100.0
"""Seconds of building that are not spent again."""
BLOCKS = "atree in blocks"


class Printed(NamedTuple):
    """A row of Table 4, as it is printed; the matching time also as a number."""

    matching: float
    construction: str = "-"
    memory: str = "-"


TABLE_4 = {
    "atree": Printed(1.6, "2.9", "205"),
    "bdd": Printed(11.5, "25.6", "823"),
    "dnf": Printed(13.7, "11.1 + 14.6", "320 + 4,592"),
    "bop": Printed(44.1, "8.6", "684"),
    "interval": Printed(53.6, "12.2", "1775"),
    "dewey": Printed(62.7, "14.8", "1887"),
    "scan": Printed(529.1),
}
"""Milliseconds, seconds and megabytes; its Translation is our dnf."""

NOT_IN_PAPER = "-"


def measure(run: Run) -> Outcome:
    """Build, compare, time."""
    setting = abe_gen.AdsSetting(expressions=run.sized(ADS.expressions), seed=run.seed)
    engines = [JUDGE, *(name for name in run.engines if name != JUDGE)]
    run.progress.steps(len(engines) + 4)
    run.progress.step("making rules and events")
    offer = Offer.of(abe_gen.rules(setting))
    made = abe_gen.events(setting, EVENTS_IN_BLOCKS)
    events, table = abe_gen.rows_of(abe_gen.first(made, EVENTS)), abe_gen.table_of(made)
    run.progress.step("compiling what is not compiled yet")
    warm(offer, events, engines)
    doors = {}
    for name in engines:
        run.progress.step(f"building {name}")
        doors[name] = open_door(offer, name)
    rebuilds = REBUILDS if sum(door.seconds.best for door in doors.values()) < LONG else 0
    if rebuilds:
        run.progress.steps(len(engines) + 5)
        run.progress.step("building all of them again, in turns")
        doors = {door.engine: door for door in rebuilt(list(doors.values()), rebuilds)}
    run.progress.step("comparing all answers")
    matches = hold_to_judge(doors, events)
    hold_blocks(doors[JUDGE], table, matches)
    run.progress.step("matching")
    times = time_matching(doors, events, table)
    per_event = sum(matches) / EVENTS
    note = (
        f"{len(offer.rules):,} rules, the paper's figures are for {ADS.expressions:,}. Matching: the best of "
        f"{ROUNDS} rounds over {EVENTS} events and the slowest, one event at a time, from its values to "
        "the rules; reading: from the event, a dictionary, to its values, alike for all engines; in blocks "
        f"{EVENTS_IN_BLOCKS:,} events (an Arrow table) at once. {per_event:,.0f} matches an event; all "
        "engines gave the same, each on the rules that it took. Construction: from rules in memory, as "
        f"text, to an index that is ready, the best of {1 + rebuilds}. Memory: what matching needs."
    )
    tables = [_headline(doors, times), _phases(doors)]
    return Outcome(tables, [_plot(doors, times, len(offer.rules))], [note, machine_note()])


def hold_blocks(judge: Door, table: pa.Table, matches: Sequence[int]) -> None:
    """TocsinError when blocks of events do not give the numbers of matches of single events."""
    counts: list[int] = judge.index.match_table(table, count=True).per_event.to_pylist()
    if counts[: len(matches)] != list(matches):
        raise TocsinError(f"{JUDGE} gives other matches in blocks than one event at a time")


class Times(NamedTuple):
    """Seconds an event: both steps of every engine that took rules; atree in blocks, reading among it."""

    steps: Mapping[str, StepTimes]
    blocks: Seconds


def time_matching(doors: Mapping[str, Door], events: Sequence[Event], table: pa.Table) -> Times:
    """In turns, single events before blocks."""
    indexes = {name: door.index for name, door in doors.items() if door.index is not None}
    steps = step_times(indexes, dict.fromkeys(indexes, events), ROUNDS)
    works = {BLOCKS: lambda: doors[JUDGE].index.match_table(table, threads=1)}
    return Times(steps, interleaved(works, ROUNDS, table.num_rows)[BLOCKS])


def _headline(doors: Mapping[str, Door], times: Times) -> Table:
    refusing = any(door.refused for door in doors.values())
    columns = [
        Column("engine"),
        Column("reading", "ms"),
        Column("match", "ms"),
        Column("slowest", "ms"),
        Column("paper", "ms"),
        Column("of atree", "times"),
        Column("paper", "times"),
        Column("construct", "s"),
        Column("slowest", "s"),
        Column("paper", "s"),
        Column("memory", "MB"),
        Column("paper", "MB"),
        *([Column("refused", "rules")] if refusing else []),
    ]
    rows = [[*_row(door, times), *([door.refused] if refusing else [])] for door in doors.values()]
    own, blocks = times.steps[JUDGE], times.blocks
    whole = own.read.best + own.match.best
    in_blocks: list[Cell] = [BLOCKS, "within", 1_000 * blocks.best, 1_000 * blocks.slowest, NOT_IN_PAPER]
    rows.insert(1, [*in_blocks, blocks.best / whole, *[None] * (len(columns) - 6)])
    notes = [
        "atree in blocks: reading is within its time, and it is set against atree's with reading.",
        *(refusal_note(door) for door in doors.values() if door.refused),
    ]
    return Table("Table 4: rules like advertisements", columns, rows, notes)


def _row(door: Door, times: Times) -> list[Cell]:
    printed = TABLE_4.get(door.engine)
    matching, ratio, construction, in_memory = (
        [NOT_IN_PAPER] * 4
        if printed is None
        else [
            f"{printed.matching:g}",
            f"{printed.matching / TABLE_4[JUDGE].matching:.3g}",
            printed.construction,
            printed.memory,
        ]
    )
    read: Cell = REFUSED
    match: list[Cell] = [REFUSED] * 2
    of_atree: Cell = REFUSED
    build: list[Cell] = [REFUSED] * 2
    memory: Cell = REFUSED
    if door.index is not None:
        own = times.steps[door.engine]
        read = 1_000 * own.read.best
        match = [1_000 * own.match.best, 1_000 * own.match.slowest]
        of_atree = own.match.best / times.steps[JUDGE].match.best
        build = [door.seconds.best, door.seconds.slowest]
        memory = door.bytes_matching and door.bytes_matching / 1e6
    return [door.engine, read, *match, matching, of_atree, ratio, *build, construction, memory, in_memory]


def _phases(doors: Mapping[str, Door]) -> Table:
    """Where construction spends its time: what all engines share, and what is an engine's own."""
    shared = list(doors[JUDGE].phases)
    columns = [
        Column("engine"),
        *(Column(phase.replace("_", " "), "s") for phase in shared),
        Column("its own layout", "s"),
    ]
    rows: list[list[Cell]] = [
        [door.engine, *(door.phases.get(phase) for phase in shared), door.phases.get(door.engine)]
        for door in doors.values()
        if door.index is not None
    ]
    notes = [
        "By the clock, in the first round; what comes before an engine's own layout is the same for all."
    ]
    return Table("Table 4: construction by phase", columns, rows, notes, "phases")


def _plot(doors: Mapping[str, Door], times: Times, rules: int) -> Plot:
    ready = [door for door in doors.values() if door.index is not None]
    names = [door.engine for door in ready]
    match = [times.steps[name].match.scaled(1_000) for name in names]
    match.insert(1, times.blocks.scaled(1_000))
    matched = [JUDGE, BLOCKS, *names[1:]]
    refused = [name for name, door in doors.items() if door.refused]
    note = f"refused some rules: {', '.join(refused)}" if refused else ""
    in_paper = [TABLE_4[name].matching if name in TABLE_4 else None for name in matched]
    build = [door.seconds for door in ready]
    return Plot(
        f"A-Tree paper, Table 4: ours with {rules:,} rules, the paper's (grey) with {ADS.expressions:,}",
        [
            Bars(
                "matching an event that is read",
                "",
                Axis("time", "ms", log=True),
                matched,
                [
                    Bar("", [each.best for each in match], [each.slowest for each in match]),
                    Bar("the paper", in_paper),
                ],
                note=note,
            ),
            Bars(
                "construction",
                "",
                Axis("time", "s", log=True),
                names,
                [
                    Bar("", [each.best for each in build], [each.slowest for each in build]),
                    Bar("the paper", [_total(name, "construction") for name in names]),
                ],
            ),
            Bars(
                "memory",
                "",
                Axis("memory", "MB", log=True),
                names,
                [
                    Bar("", [(door.bytes_matching or 0) / 1e6 for door in ready]),
                    Bar("the paper", [_total(name, "memory") for name in names]),
                ],
            ),
        ],
    )


def _total(engine: str, column: str) -> float | None:
    """The paper's figure, its two parts together where there are two."""
    printed: str = getattr(TABLE_4.get(engine), column, "-")
    return None if printed == "-" else sum(float(part.replace(",", "")) for part in printed.split(" + "))


TABLE = Experiment(
    name="atree-table4",
    paper=Paper.ATREE,
    place="Table 4",
    shows="every engine on rules like advertisements: matching, construction, memory",
    size=f"{ADS.expressions:,} rules",
    scale=0.1,
    lasts="2 min",
    engines=("atree", "interval", "dewey", "bop", "bdd", "dnf", "scan", "scan-conj"),
    measure=measure,
)
