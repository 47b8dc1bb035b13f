"""Readings of engines on contracts as tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tocsin_lab.experiments.dewey_engines import Reading
from tocsin_lab.experiments.outcome import (
    PLOTTED_ONLY,
    REFUSED,
    Axis,
    Bar,
    Bars,
    Cell,
    Column,
    Line,
    Lines,
    Table,
)

ByPlace = Mapping[float, Mapping[str, Reading]]
"""The readings by engine, for each value on the axis."""

Value = Callable[[Reading], float | None]

MATCHING = Axis("matching a visit", "ms")
EVALUATING = Axis("evaluation for a visit", "ms")


def megabytes(reading: Reading) -> float | None:
    """Memory of the index and what stands beside it."""
    return None if reading.bytes is None else reading.bytes / 1e6


def milliseconds(reading: Reading) -> float | None:
    """Of matching a visit."""
    return None if reading.steps is None else 1_000 * reading.steps.total


def evaluation(reading: Reading) -> float | None:
    """Milliseconds of the last step, after index search and sorting."""
    steps = reading.steps
    return None if steps is None or steps.evaluate is None else 1_000 * steps.evaluate


def before_evaluation(reading: Reading) -> float | None:
    """Milliseconds of index search and sorting."""
    steps = reading.steps
    if steps is None or steps.search is None or steps.sort is None:
        return None
    return 1_000 * (steps.search + steps.sort)


def slowest(reading: Reading, value: Value) -> float | None:
    """The same of the slowest round; None where there are no rounds."""
    return None if reading.slowest is None else value(replace(reading, steps=reading.slowest))


def steps_table(title: str, across: Column, found: ByPlace, engines: Sequence[str]) -> Table:
    """For each value a row an engine: its steps, and all of them together."""
    columns = [
        across,
        Column("engine"),
        Column("index search", "ms"),
        Column("sorting", "ms"),
        Column("evaluation", "ms"),
        Column("total", "ms"),
        Column("slowest round", "ms"),
        Column("in the paper"),
    ]
    rows: list[list[Cell]] = []
    for place, readings in found.items():
        for name in engines:
            steps = readings[name].steps
            times: list[Cell] = [REFUSED] * 5
            if steps is not None:
                single = [
                    None if each is None else 1_000 * each
                    for each in (steps.search, steps.sort, steps.evaluate)
                ]
                times = [*single, 1_000 * steps.total, slowest(readings[name], milliseconds)]
            rows.append([place, name, *times, PLOTTED_ONLY])
    return Table(title, columns, rows, refusals(across.title, found))


def cell(reading: Reading, value: Value) -> Cell:
    """The value, or that there is none as the engine refused everything."""
    found = value(reading)
    return REFUSED if found is None and reading.why else found


def refusals(across: str, found: ByPlace) -> list[str]:
    """A note for each engine that refused something; what is shown is of the rest."""
    return [
        f"{across} {place:g}: {name} {reading.why}"
        for place, readings in found.items()
        for name, reading in readings.items()
        if reading.why
    ]


def lines(
    title: str, across: Axis, up: Axis, found: ByPlace, named: Mapping[str, tuple[str, Value]]
) -> Lines:
    """A panel of lines; each name stands for an engine and what is read off it."""
    drawn = []
    for name, (engine, value) in named.items():
        points = [
            (place, y) for place, readings in found.items() if (y := value(readings[engine])) is not None
        ]
        if points:
            partial = frozenset(place for place, readings in found.items() if readings[engine].why)
            reached = [slowest(readings[engine], value) for readings in found.values()]
            drawn.append(Line(name, points, partial, [each for each in reached if each is not None]))
    return Lines(title, across, up, drawn, _note(found))


def bars(title: str, across: str, up: Axis, found: ByPlace, engines: Sequence[str]) -> Bars:
    """A panel of bars: for each value one an engine."""
    categories = [f"{place:g}" for place in found]
    heights = [
        Bar(
            name,
            [milliseconds(readings[name]) for readings in found.values()],
            [slowest(readings[name], milliseconds) for readings in found.values()],
        )
        for name in engines
    ]
    return Bars(title, across, up, categories, heights, note=_note(found))


def total_figure(
    title: str, across: Axis, found: ByPlace, engines: Sequence[str]
) -> tuple[Table, list[Lines]]:
    """Matching as a whole, and what of it is index search and sorting."""
    table = steps_table(title, Column(across.label, across.unit), found, engines)
    panels = [
        lines(name, across, MATCHING, found, {engine: (engine, value) for engine in engines})
        for name, value in (("total", milliseconds), ("index search and sorting", before_evaluation))
    ]
    return table, panels


def evaluation_figure(
    title: str, across: Axis, found: ByPlace, engines: Sequence[str], name: str = ""
) -> tuple[Table, Lines]:
    """The last step alone."""
    rows: list[list[Cell]] = [
        [
            place,
            *(cell(each[engine], evaluation) for engine in engines),
            *(slowest(each[engine], evaluation) for engine in engines),
            PLOTTED_ONLY,
        ]
        for place, each in found.items()
    ]
    columns = [
        Column(across.label, across.unit),
        *(Column(engine, "ms") for engine in engines),
        *(Column(f"{engine}, slowest round", "ms") for engine in engines),
        Column("in the paper"),
    ]
    table = Table(title, columns, rows, refusals(across.label, found), name)
    named = {engine: (engine, evaluation) for engine in engines}
    return table, lines(name or "evaluation alone", across, EVALUATING, found, named)


def _note(found: ByPlace) -> str:
    refused: dict[str, float] = {}
    for place, readings in found.items():
        for name, reading in readings.items():
            if reading.why:
                refused.setdefault(name, place)
    return "\n".join(f"{name} refuses some from {place:g} on" for name, place in refused.items())
