"""What an experiment gives back: tables, and plots as data.

A table is for reading and for CSV: a cell is a number in its column's unit, or words. The paper's own
figures are words, just as it prints them; where it only plots one, the words are PLOTTED_ONLY, as
nothing is read off plots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Points of x and y. `partial` are the x at which some rules were refused: drawn hollow."""

    name: str
    points: Sequence[tuple[float, float]]
    partial: frozenset[float] = frozenset()


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

    without a name each has the colour of its category.
    """

    name: str
    heights: Sequence[float | None]


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
