"""Figures 11, 12 and 13 of the A-Tree paper: memory, matching and construction on synthesised rules.

One thing of the workload is varied in each panel; the engines are those of the paper. They are held to
one answer for every workload, also where only memory or construction is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

from tocsin_lab import abe_gen
from tocsin_lab.experiments.atree_claims import Claim, claims_table
from tocsin_lab.experiments.atree_parameters import DEFAULT, SIZES, SWEEPS, Sweep
from tocsin_lab.experiments.clocks import Seconds, interleaved, machine_note
from tocsin_lab.experiments.doors import (
    PROBED_RULES,
    WARMING_RULES,
    Door,
    Event,
    Offer,
    hold_to_judge,
    open_door_if_it_takes,
    rebuilt,
    refusal_note,
    warm,
    with_judge,
)
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import (
    PLOTTED_ONLY,
    REFUSED,
    Axis,
    Cell,
    Column,
    Line,
    Lines,
    Outcome,
    Plot,
    Table,
)
from tocsin_lab.experiments.readings import Reading, Readings

EVENTS = 100
EVENTS_TO_CHECK = 20
ROUNDS = 10
REBUILDS = 2
DEFAULT_OF_FEW = replace(DEFAULT, expressions=WARMING_RULES)


class Wanted(Enum):
    """What is to be measured with care: times are then taken in several rounds."""

    MEMORY = "memory"
    MATCHING = "matching"
    CONSTRUCTION = "construction"


@dataclass(frozen=True)
class Figure:
    """What one of the three figures reads off an engine, and how it is shown."""

    number: int
    title: str
    up: Axis
    letters: str
    reading: Callable[[Reading], float | None]
    wanted: Wanted
    claims: Sequence[Claim]


def measure(figure: Figure, run: Run) -> Outcome:
    """Panel by panel."""
    sweeps = [SWEEPS[letter] for letter in figure.letters]
    in_rounds = figure.wanted is not Wanted.MEMORY
    run.progress.steps(1 + sum(len(sweep.values) + in_rounds for sweep in sweeps))
    run.progress.step("compiling what is not compiled yet")
    warm(Offer.of(abe_gen.rules(DEFAULT_OF_FEW)), events_of(DEFAULT_OF_FEW), run.engines)
    tables, drawn = [], []
    found: dict[str, dict[float, Readings]] = {}
    for sweep in sweeps:
        readings = found[sweep.letter] = measure_panel(sweep, run, figure.wanted)
        tables.append(panel_table(figure, sweep, readings, run.engines))
        drawn.append(panel_plot(figure, sweep, readings, run.engines))
    tables.append(claims_table(f"Figure {figure.number}", figure.claims, found, figure.reading))
    plot = Plot(f"A-Tree paper, Figure {figure.number}: {figure.title}", drawn)
    return Outcome(tables, [plot], [_note(figure), machine_note()])


def measure_panel(sweep: Sweep, run: Run, wanted: Wanted) -> dict[float, Readings]:
    """Build every engine for every value and hold all to one answer; then time what is wanted.

    That is done for all values in turns, so that what slows the machine for a while bends no line.
    """
    doors: dict[tuple[float, str], Door] = {}
    works: dict[tuple[float, str], Callable[[], object]] = {}
    settings = sweep.settings(run)
    for value, setting in settings.items():
        run.progress.step(f"({sweep.letter}) {sweep.title} {value:,g}")
        offer, events = Offer.of(abe_gen.rules(setting)), events_of(setting)
        opened = {name: open_door_if_it_takes(offer, name) for name in with_judge(run.engines)}
        hold_to_judge(opened, events if wanted is Wanted.MATCHING else events[:EVENTS_TO_CHECK])
        doors |= {(value, name): opened[name] for name in run.engines}
        works |= {
            (value, name): partial(_match_all, opened[name].index, events)
            for name in run.engines
            if opened[name].index is not None
        }
    taken: dict[tuple[float, str], Seconds] = {}
    if wanted is not Wanted.MEMORY:
        run.progress.step(f"({sweep.letter}) {wanted.value}, in turns")
    if wanted is Wanted.MATCHING:
        taken = interleaved(works, ROUNDS, EVENTS)
    elif wanted is Wanted.CONSTRUCTION:
        doors = dict(zip(doors, rebuilt(list(doors.values()), REBUILDS), strict=True))
    return {
        value: {name: _reading(doors[value, name], taken.get((value, name))) for name in run.engines}
        for value in settings
    }


def events_of(setting: abe_gen.Setting) -> list[dict[str, object]]:
    """The events that are matched one at a time."""
    return abe_gen.rows_of(abe_gen.events(setting, EVENTS))


def _match_all(index: Any, events: Sequence[Event]) -> None:
    for event in events:
        index.match(event)


def _reading(door: Door, taken: Seconds | None) -> Reading:
    built = door.index is not None
    return Reading(
        offered=door.offered,
        refused=door.refused,
        why=refusal_note(door) if door.refused else "",
        match=None if taken is None else taken.best,
        build=door.seconds if built else None,
        bytes_matching=door.bytes_matching if built else None,
    )


def panel_table(
    figure: Figure, sweep: Sweep, found: Mapping[float, Readings], engines: Sequence[str]
) -> Table:
    """A row for each value; engines that refused rules have a column that says how many."""
    refusing = [name for name in engines if any(each[name].refused for each in found.values())]
    columns = [
        Column(sweep.across.label),
        *(Column(name, figure.up.unit) for name in engines),
        *(Column(f"{name} refused") for name in refusing),
        Column("in the paper"),
    ]
    rows: list[list[Cell]] = []
    for value, readings in found.items():
        rows.append(
            [
                value,
                *(_cell(figure.reading(readings[name]), readings[name]) for name in engines),
                *(f"{readings[name].refused:,} of {readings[name].offered:,}" for name in refusing),
                PLOTTED_ONLY,
            ]
        )
    notes = [
        f"{sweep.across.label} {value:,g}: {readings[name].why}"
        for name in refusing
        for value, readings in found.items()
        if readings[name].refused
    ]
    title = f"Figure {figure.number}({sweep.letter}): {figure.up.text}, by {sweep.title}"
    return Table(title, columns, rows, notes, sweep.letter)


def panel_plot(
    figure: Figure, sweep: Sweep, found: Mapping[float, Readings], engines: Sequence[str]
) -> Lines:
    """A line for each engine, hollow where it refused some rules, with a gap where it was not built."""
    lines = []
    for name in engines:
        points = {value: figure.reading(readings[name]) for value, readings in found.items()}
        partial = frozenset(value for value, readings in found.items() if readings[name].refused)
        lines.append(Line(name, [(value, y) for value, y in points.items() if y is not None], partial))
    refused = {
        name: min(value for value, readings in found.items() if readings[name].refused)
        for name in engines
        if any(readings[name].refused for readings in found.values())
    }
    note = "\n".join(f"{name} refuses rules from {value:,g} on" for name, value in refused.items())
    return Lines(f"({sweep.letter}) {sweep.title}", sweep.across, figure.up, lines, note)


def _cell(value: float | None, reading: Reading) -> Cell:
    return REFUSED if value is None and reading.refused else value


def _note(figure: Figure) -> str:
    how = {
        Wanted.MEMORY: "",
        Wanted.MATCHING: f"Best of {ROUNDS} rounds over {EVENTS} events, one event at a time. ",
        Wanted.CONSTRUCTION: f"Best of {1 + REBUILDS} rounds. ",
    }
    return (
        f"{how[figure.wanted]}All engines gave atree's matches, each on the rules that it took; one that "
        f"refused any of the first {PROBED_RULES[-1]} was not built. Values are those of the paper's Table "
        "3, sizes times the scale."
    )


MEMORY = Figure(
    11,
    "memory consumption",
    Axis("memory", "MB", log=True),
    "abcd",
    lambda reading: None if reading.bytes_matching is None else reading.bytes_matching / 1e6,
    wanted=Wanted.MEMORY,
    claims=(
        Claim.less("a", "at the most rules", "71 % less than BoP"),
        Claim.least_from("a", "from 300 K rules on"),
        Claim.refuses("a", "dnf", "out of memory at 30 M rules"),
        Claim.refuses("b", "bdd", "out of memory from depth 4 on"),
        Claim.refuses("b", "dnf", "out of memory from depth 5 on"),
        Claim.refuses("c", "bdd", "out of memory from 10 children on"),
        Claim.refuses("c", "dnf", "out of memory from 6 children on"),
        Claim.ranking("c", "A-Tree, BoP, Interval ID"),
        Claim.least_from("d", "from α 0.2 on"),
        Claim.less("d", "at α 1", "68 % less"),
    ),
)
MATCHING = Figure(
    12,
    "event matching time",
    Axis("matching an event", "ms", log=True),
    "abcdefgh",
    lambda reading: None if reading.match is None else 1_000 * reading.match,
    wanted=Wanted.MATCHING,
    claims=(
        Claim.less("a", "at the most rules", "86 % less than BDD"),
        Claim.less("b", "at depth 6", "99 % less than Scan"),
        Claim.refuses("b", "bdd", "out of memory from depth 4 on"),
        Claim.refuses("b", "dnf", "out of memory from depth 5 on"),
        Claim.least_from("a", "always"),
        Claim.ranking("e", "A-Tree, Translation, BDD, BoP, Interval ID, Scan"),
        Claim.ranking("h", "A-Tree, Translation, BDD, BoP, Interval ID, Scan"),
    ),
)
CONSTRUCTION = Figure(
    13,
    "index construction time",
    Axis("construction", "s", log=True),
    "abcd",
    lambda reading: reading.build,
    wanted=Wanted.CONSTRUCTION,
    claims=(
        Claim.least_from("a", "always"),
        Claim.less("d", "at α 1", "75 % less than BoP"),
    ),
)


def _experiment(figure: Figure, shows: str, engines: tuple[str, ...], scale: float, lasts: str) -> Experiment:
    panels = f"{figure.letters[0]}-{figure.letters[-1]}"
    return Experiment(
        name=f"atree-figure{figure.number}",
        paper=Paper.ATREE,
        place=f"Figure {figure.number} ({panels})",
        shows=shows,
        size=f"{DEFAULT.expressions:,} rules, in (a) {SIZES[0]:,} to {SIZES[-1]:,}",
        scale=scale,
        lasts=lasts,
        engines=engines,
        measure=lambda run: measure(figure, run),
    )


_INDEXES = ("atree", "interval", "bop", "bdd", "dnf")
FIGURE_11 = _experiment(MEMORY, "memory of every index, four things varied", _INDEXES, 0.005, "1 min")
FIGURE_12 = _experiment(
    MATCHING, "matching time of every engine, eight things varied", (*_INDEXES, "scan"), 0.005, "3 min"
)
FIGURE_13 = _experiment(
    CONSTRUCTION, "construction time of every index, four things varied", _INDEXES, 0.005, "2 min"
)
