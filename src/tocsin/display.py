"""What an object shows of itself: a title and small tables, as text when it is printed, as HTML in notebooks.

Rule ids, conditions and events may hold anything, so every text is made harmless here: `printable` for a
terminal, `safe` for HTML. Nothing shown is larger than a screen or two, however large the object is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import NamedTuple, TypeAlias

from tocsin.printable import one_line, printable, printable_lines

SHOWN = 10
"""Rows of a table that is only looked at."""

_LONGEST = 2_000
_WIDEST_CELL, _WIDEST_LAST = 60, 100
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_COLOURS = {"true": "#218a50", "false": "#d04a50"}
"""Of words that say whether something holds: readable on black and on white."""

Value: TypeAlias = str | int | float | None


class Grid(NamedTuple):
    """A table: its rows, and how many more there are than it shows."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Value]]
    more: int = 0

    @classmethod
    def of(cls, heads: Sequence[str], rows: Iterable[Sequence[Value]], count: int, most: int = SHOWN) -> Grid:
        """The first of so many rows."""
        return cls(heads, list(islice(rows, most)), max(0, count - most))


class Display(NamedTuple):
    """A title, and tables with what they are headed by."""

    title: str
    grids: Sequence[tuple[str, Grid]]

    def text(self) -> str:
        """As lines for a terminal."""
        lines = [printable(self.title)]
        for head, grid in self.grids:
            if grid.rows:
                lines += ["", *([printable(head)] if head else []), *_lines(grid)]
        return "\n".join(lines)

    def html(self) -> str:
        """As a part of a notebook: no script, nothing loaded, the notebook's own colours."""
        parts = [f"<b>{safe(printable(self.title))}</b>"]
        for head, grid in self.grids:
            if grid.rows:
                parts += [f"<p>{safe(printable(head))}</p>" * bool(head), _html(grid)]
        return f'<div class="tocsin"><style>{_STYLE}</style>{"".join(parts)}</div>'


class Displayed:
    """An object with a rich form in notebooks."""

    __slots__ = ()

    def _display(self) -> Display:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._display().html()


def safe(text: str) -> str:
    """A text as it can stand in HTML, between tags and in quotes."""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
    return escape(_CONTROL.sub("\ufffd", cut), quote=True)


def html_rows(heads: Iterable[str], rows: Iterable[str]) -> str:
    """A table of heads and rows that are HTML already."""
    head = "".join(f"<th>{each}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _html(grid: Grid) -> str:
    rows = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in grid.rows]
    if grid.more:
        rows.append(f'<tr><td colspan="{len(grid.heads)}">... {grid.more:,} more</td></tr>')
    return html_rows(map(safe, grid.heads), rows)


def _cell(value: Value) -> str:
    if not isinstance(value, str):
        return f'<td style="text-align:right">{_said(value)}</td>'
    colour = f' style="color:{_COLOURS[value]}"' if value in _COLOURS else ""
    return f"<td{colour}><bdi>{safe(printable_lines(value))}</bdi></td>"


def _lines(grid: Grid) -> list[str]:
    widest = [*([_WIDEST_CELL] * (len(grid.heads) - 1)), _WIDEST_LAST]
    cells = [list(map(one_line, map(_said, row), widest)) for row in grid.rows]
    widths = [max(map(len, column)) for column in zip(grid.heads, *cells, strict=True)]
    columns = zip(*grid.rows, strict=True)
    is_number = [not any(isinstance(value, str) for value in column) for column in columns]

    def line(row: Sequence[str]) -> str:
        placed = zip(row, widths, is_number, strict=True)
        return "  ".join(text.rjust(width) if right else text.ljust(width) for text, width, right in placed)

    rest = [f"... {grid.more:,} more"] if grid.more else []
    return [line(row).rstrip() for row in (grid.heads, *cells)] + rest


def _said(value: Value) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


_STYLE = (
    ".tocsin{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto}"
    ".tocsin p{margin:.8em 0 .2em}.tocsin table{border-collapse:collapse;margin:.3em 0}"
    ".tocsin th,.tocsin td{text-align:left;vertical-align:top;padding:.2em .8em .2em 0;color:inherit;"
    "background:none;border:0;border-bottom:1px solid rgba(128,128,128,.4);white-space:pre-wrap;"
    "overflow-wrap:break-word;max-width:50em}"
)
