"""Figures 11, 12 and 13 of the A-Tree paper: memory, matching and construction on synthesised rules.

One thing of the workload is varied in each panel; the engines are those of the paper. They are held to
one answer for every workload, also where only memory or construction is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from tocsin_lab import abe_gen
from tocsin_lab.experiments.atree_claims import Claim, claims_table
from tocsin_lab.experiments.atree_largest import SIZES as SIZES_ALONE
from tocsin_lab.experiments.atree_largest import measure_largest
from tocsin_lab.experiments.atree_parameters import DEFAULT, SIZES, SWEEPS, Sweep
from tocsin_lab.experiments.clocks import Seconds, machine_note
from tocsin_lab.experiments.doors import (
    PROBED_RULES,
    WARMING_RULES,
    Door,
    Offer,
    hold_to_judge,
    open_door_if_it_takes,
    rebuilt,
    refusal_note,
    warm,
    with_judge,
)
from tocsin_lab.experiments.event_steps import StepTimes, step_times
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
    together,
)
from tocsin_lab.experiments.readings import Reading, Readings

EVENTS = 100
EVENTS_TO_CHECK = 20
ROUNDS = 10
REBUILDS = 2
LONG = 100.0
"""Seconds of building that are not spent again."""
FOR_CONJUNCTIONS = "scan-conj"
"""An engine that stands beside the others where rules are conjunctions, and only there."""
DEFAULT_OF_FEW = replace(DEFAULT, expressions=WARMING_RULES)


class Wanted(Enum):
    """What is to be measured with care: times are then taken in several rounds."""

    MEMORY = "memory"
    MATCHING = "matching"
    CONSTRUCTION = "construction"


@dataclass(frozen=True)
class Figure:
    """What one of the three figures reads off an engine, in its axis's unit, and how it is shown."""

    number: int
    title: str
    up: Axis
    letters: str
    reading: Callable[[Reading], Seconds | None]
    wanted: Wanted
    claims: Sequence[Claim]

    @property
    def reads(self) -> bool:
        """Whether the reading of events is timed besides."""
        return self.wanted is Wanted.MATCHING

    def best(self, reading: Reading) -> float | None:
        """What is compared: the best of the rounds."""
        found = self.reading(reading)
        return None if found is None else found.best


def measure(figure: Figure, run: Run) -> Outcome:
    """Panel by panel."""
    sweeps = [SWEEPS[letter] for letter in figure.letters]
    steps = {sweep.letter: len(sweep.values) + len(_portions(figure, sweep)) for sweep in sweeps}
    largest = len(SIZES_ALONE) if figure.wanted is Wanted.CONSTRUCTION else 0
    run.progress.steps(sum(steps.values()) + largest)
    parts = [
        run.part(sweep.letter, steps[sweep.letter], partial(measured_panel, figure, sweep, run))
        for sweep in sweeps
    ]
    if largest:
        parts.append(run.part("largest", largest, partial(measure_largest, run)))
    return together(parts)


def measured_panel(figure: Figure, sweep: Sweep, run: Run) -> Outcome:
    """A panel's table, its picture, and what the text says of it."""
    engines = tuple(name for name in run.engines if name != FOR_CONJUNCTIONS or sweep.is_conjunctive)
    found = measure_panel(figure, sweep, replace(run, engines=engines))
    tables = [panel_table(figure, sweep, found, engines)]
    claims = [claim for claim in figure.claims if claim.letter == sweep.letter]
    if claims:
        panels = {sweep.letter: found}
        tables.append(claims_table(f"Figure {figure.number}", claims, panels, figure.best))
    title = f"A-Tree paper, Figure {figure.number}: {figure.title}"
    plot = Plot(title, [panel_plot(figure, sweep, found, engines)])
    return Outcome(tables, [plot], [_note(figure), machine_note()])


def _portions(figure: Figure, sweep: Sweep) -> list[slice]:
    """Values whose engines are timed in turns, and so are in memory together: all, unless sizes grow."""
    if figure.wanted is Wanted.MEMORY:
        return []
    every = range(len(sweep.values))
    return [slice(place, place + 1) for place in every] if sweep.of_size else [slice(None)]


def measure_panel(figure: Figure, sweep: Sweep, run: Run) -> dict[float, Readings]:
    """Build every engine for every value and hold all to one answer; then time what is wanted.

    That is done for values in turns, so that what slows the machine for a while bends no line.
    """
    warm(Offer.of(abe_gen.rules(DEFAULT_OF_FEW)), events_of(DEFAULT_OF_FEW), run.engines)
    settings = list(sweep.settings(run).items())
    if figure.wanted is Wanted.MEMORY:
        opened = (_opened(figure, sweep, value, setting, run) for value, setting in settings)
        return {
            value: {name: _reading(doors[name]) for name in run.engines}
            for (value, _), doors in zip(settings, opened, strict=True)
        }
    found: dict[float, Readings] = {}
    for portion in _portions(figure, sweep):
        found |= _timed_portion(figure, sweep, dict(settings[portion]), run)
    return found


def _timed_portion(
    figure: Figure, sweep: Sweep, settings: Mapping[float, abe_gen.Setting], run: Run
) -> dict[float, Readings]:
    doors = {
        (value, name): door
        for value, setting in settings.items()
        for name, door in _opened(figure, sweep, value, setting, run).items()
        if name in run.engines
    }
    run.progress.step(f"({sweep.letter}) {figure.wanted.value}, in turns")
    times: Mapping[tuple[float, str], StepTimes] = {}
    if figure.wanted is Wanted.MATCHING:
        indexes = {place: door.index for place, door in doors.items() if door.index is not None}
        events = {value: events_of(setting) for value, setting in settings.items()}
        times = step_times(indexes, {place: events[place[0]] for place in indexes}, ROUNDS)
    elif sum(door.seconds.best for door in doors.values()) < LONG:
        doors = dict(zip(doors, rebuilt(list(doors.values()), REBUILDS), strict=True))
    return {
        value: {name: _reading(doors[value, name], times.get((value, name))) for name in run.engines}
        for value in settings
    }


def _opened(
    figure: Figure, sweep: Sweep, value: float, setting: abe_gen.Setting, run: Run
) -> dict[str, Door]:
    """The engines for one value, all held to atree's answer."""
    run.progress.step(f"({sweep.letter}) {sweep.title} {value:,g}")
    offer, events = Offer.of(abe_gen.rules(setting)), events_of(setting)
    opened = {name: open_door_if_it_takes(offer, name) for name in with_judge(run.engines)}
    hold_to_judge(opened, events if figure.wanted is Wanted.MATCHING else events[:EVENTS_TO_CHECK])
    return opened


def events_of(setting: abe_gen.Setting) -> list[dict[str, object]]:
    """The events that are matched one at a time."""
    return abe_gen.rows_of(abe_gen.events(setting, EVENTS))


def _reading(door: Door, times: StepTimes | None = None) -> Reading:
    built = door.index is not None
    return Reading(
        offered=door.offered,
        refused=door.refused,
        why=refusal_note(door) if door.refused else "",
        read=times and times.read,
        match=times and times.match,
        build=door.seconds if built else None,
        bytes_matching=door.bytes_matching if built else None,
    )


def panel_table(
    figure: Figure, sweep: Sweep, found: Mapping[float, Readings], engines: Sequence[str]
) -> Table:
    """A row for each value; engines that refused rules have a column that says how many.

    Where there are repeats, how far apart these are: the slowest as so many times the best, of the engine
    where that is most. Where matching is timed, what reading an event takes besides, of all engines alike.
    """
    refusing = [name for name in engines if any(each[name].refused for each in found.values())]
    repeated = figure.wanted is not Wanted.MEMORY
    columns = [
        Column(sweep.across.label),
        *(Column(name, figure.up.unit) for name in engines),
        *([Column("reading an event, fewest", "ms"), Column("most", "ms")] if figure.reads else []),
        *([Column("slowest to best round, at most", "times")] if repeated else []),
        *(Column(f"{name} refused") for name in refusing),
        Column("in the paper"),
    ]
    rows: list[list[Cell]] = []
    for value, readings in found.items():
        cells = [figure.reading(readings[name]) for name in engines]
        apart = [each.slowest / each.best for each in cells if each is not None]
        read = [1_000 * each.read.best for each in readings.values() if each.read is not None]
        rows.append(
            [
                value,
                *(
                    _cell(each and each.best, readings[name])
                    for each, name in zip(cells, engines, strict=True)
                ),
                *([min(read, default=None), max(read, default=None)] if figure.reads else []),
                *([max(apart, default=None)] if repeated else []),
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
        there = {value: each for value, each in points.items() if each is not None}
        partial = frozenset(value for value, readings in found.items() if readings[name].refused)
        slowest = [each.slowest for each in there.values()]
        lines.append(Line(name, [(value, each.best) for value, each in there.items()], partial, slowest))
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
        Wanted.MATCHING: (
            f"Best of {ROUNDS} rounds over {EVENTS} events, one event at a time; whiskers reach to the "
            "slowest. The index's own work is timed, from the values of an event to the rules that match; "
            "reading the event comes before it, is the same for all engines, and stands beside. "
        ),
        Wanted.CONSTRUCTION: (
            f"Best of {1 + REBUILDS} rounds; whiskers reach to the slowest. Where all engines together take "
            f"more than {LONG:g} s there is one round. "
        ),
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
    lambda reading: None if reading.bytes_matching is None else Seconds.of([reading.bytes_matching / 1e6]),
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
    "abcdefghi",
    lambda reading: None if reading.match is None else reading.match.scaled(1_000),
    wanted=Wanted.MATCHING,
    claims=(
        Claim.less("a", "at the most rules", "86 % less than BDD"),
        Claim.less("b", "at depth 6", "99 % less than Scan"),
        Claim.refuses("b", "bdd", "out of memory from depth 4 on"),
        Claim.refuses("b", "dnf", "out of memory from depth 5 on"),
        Claim.least_from("a", "always"),
        Claim.ranking("e", "A-Tree, Translation, BDD, BoP, Interval ID, Scan"),
        Claim.ranking("h", "A-Tree, Translation, BDD, BoP, Interval ID, Scan"),
        Claim.least_from("i", "always, beside engines for conjunctions (abstract)"),
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
    MATCHING,
    "matching time of every engine, eight things varied, and of conjunctions",
    (*_INDEXES, "scan", FOR_CONJUNCTIONS),
    0.005,
    "4 min",
)
FIGURE_13 = _experiment(
    CONSTRUCTION, "construction time of every index, four things varied", _INDEXES, 0.005, "2 min"
)
