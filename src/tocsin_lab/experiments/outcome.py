"""What an experiment gives back: tables, and plots as data.

A table is for reading and for CSV: a cell is a number in its column's unit, or words. The paper's own
figures are words, just as it prints them; where it only plots one, the words are PLOTTED_ONLY, as
nothing is read off plots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

PLOTTED_ONLY = "plotted only"
REFUSED = "refused"

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column; all its numbers are in its unit."""

    title: str
    unit: str = ""

    @property
    def heading(self) -> str:
        """The title, and the unit behind it."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True)
class Table:
    """Rows of as many cells as there are columns. The name tells an experiment's tables apart."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    name: str = ""


@dataclass(frozen=True)
class Axis:
    """What an axis measures; `log` when values are told apart by their ratio."""

    label: str
    unit: str = ""
    log: bool = False

    @property
    def text(self) -> str:
        """The label, and the unit behind it."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Line:
    """Points of x and y. `partial` are the x at which some rules were refused: drawn hollow.

    `slowest` is, where there are repeats, the y of the slowest for each point: a whisker reaches up to it.
    """

    name: str
    points: Sequence[tuple[float, float]]
    partial: frozenset[float] = frozenset()
    slowest: Sequence[float] = ()


@dataclass(frozen=True)
class Lines:
    """A panel of lines, one for each engine or design."""

    title: str
    across: Axis
    up: Axis
    lines: Sequence[Line]
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """A height for each category; None where there is nothing to show. All of a name have its colour;

    without a name each has the colour of its category. `slowest` is as in a Line, None where not repeated.
    """

    name: str
    heights: Sequence[float | None]
    slowest: Sequence[float | None] = ()


@dataclass(frozen=True)
class Bars:
    """A panel of bars, beside each other in each category or on top of each other."""

    title: str
    across: str
    up: Axis
    categories: Sequence[str]
    bars: Sequence[Bar]
    stacked: bool = False
    note: str = ""


@dataclass(frozen=True)
class Plot:
    """One picture of one or more panels. The name tells an experiment's plots apart."""

    title: str
    panels: Sequence[Lines | Bars]
    name: str = ""


@dataclass(frozen=True)
class Outcome:
    """All of one run. Notes are what holds for all tables: what was measured, and how."""

    tables: Sequence[Table]
    plots: Sequence[Plot]
    notes: Sequence[str] = ()


def together(parts: Sequence[Outcome]) -> Outcome:
    """One outcome of those of an experiment's parts, in their order.

    Tables of one title are one table, behind those of a single part; plots of one title are one plot; a note
    is said once.
    """
    tables: dict[str, Table] = {}
    plots: dict[str, Plot] = {}
    for part in parts:
        for table in part.tables:
            before = tables.pop(table.title, None)
            rows = table.rows if before is None else [*before.rows, *table.rows]
            tables[table.title] = replace(table, rows=rows)
        for plot in part.plots:
            before_it = plots.get(plot.title)
            panels = plot.panels if before_it is None else [*before_it.panels, *plot.panels]
            plots[plot.title] = replace(plot, panels=panels)
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Outcome([*tables.values()], [*plots.values()], [*notes])
