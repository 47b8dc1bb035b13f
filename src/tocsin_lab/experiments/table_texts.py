"""Tables for a terminal, for a pipe and for a document."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from tocsin_lab.experiments.outcome import Cell, Table

_AROUND_A_COLUMN = 3
_NUMBER = re.compile(r"\d[\d.,+ ]*")


def shown(cell: Cell) -> str:
    """Whole numbers whole, others with three digits that count."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"


def print_table(table: Table) -> None:
    """On standard output: coloured on a terminal, elsewhere in plain columns of any width."""
    if sys.stdout.isatty():
        _print_rich(table)
    else:
        print(plain(table), end="\n\n")


def print_notes(notes: Sequence[str]) -> None:
    """What holds for all tables, below them."""
    for note in notes:
        print(note)
    print(flush=True)


def plain(table: Table) -> str:
    """Columns two blanks apart."""
    rows = [[column.heading for column in table.columns], *_texts(table)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = _right(table)
    lines = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]
    ruled = [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
    return "\n".join([table.title, "", *ruled, *(f"  {note}" for note in table.notes)])


def markdown(table: Table) -> str:
    """For a document: the title, the table, its notes."""
    marks = ["---:" if is_right else "---" for is_right in _right(table)]
    rows = [[column.heading for column in table.columns], marks, *_texts(table)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n\n".join([f"**{table.title}**", "\n".join(lines), *table.notes])


def _print_rich(table: Table) -> None:
    """Columns of words are made to fit the terminal. A number, name or word is never cut, even if that
    makes lines longer than the terminal is wide.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(title=Text(table.title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    texts = _texts(table)
    least = _least_widths(table)
    for column, is_right, width in zip(table.columns, _right(table), least, strict=True):
        made.add_column(
            Text(f"{column.title}\n{column.unit}" if column.unit else column.title),
            justify="right" if is_right else "left",
            min_width=width,
        )
    for row in texts:
        made.add_row(*map(Text, row))
    console = Console(width=max(Console().width, sum(least) + _AROUND_A_COLUMN * len(least)))
    console.print(made, crop=False)
    for note in table.notes:
        console.print(f"  {note}", highlight=False, markup=False)
    if table.notes:
        console.print()


def _least_widths(table: Table) -> list[int]:
    """Of each column: its names or numbers as they are, or its longest word."""
    texts = _texts(table)
    widths = []
    for place, (column, is_right) in enumerate(zip(table.columns, _right(table), strict=True)):
        whole = is_right or place == 0
        cells = [row[place] for row in texts]
        words = cells if whole else [word for cell in cells for word in cell.split()]
        widths.append(max(map(len, [*words, *column.title.split(), column.unit])))
    return widths


def _texts(table: Table) -> list[list[str]]:
    return [[shown(cell) for cell in row] for row in table.rows]


def _right(table: Table) -> Sequence[bool]:
    """Which columns stand to the right: those with a number in them."""
    texts = _texts(table)
    return [any(_NUMBER.fullmatch(row[place]) for row in texts) for place in range(len(table.columns))]
