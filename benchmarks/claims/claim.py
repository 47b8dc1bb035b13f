"""What a claim of a paper is, the generated tables that it is decided by, and the table of all claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tocsin_lab.experiments.table_texts import shown

YES, IN_PART, NO, UNKNOWN = "yes", "in part", "no", "not measured"

_BLOCK = re.compile(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
_SCALE = re.compile(r"--scale (\S+)")


class Grid(NamedTuple):
    """A table of a document."""

    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        return [row[self.columns.index(name)] for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """A column's numbers; cells without one are left out."""
        return [number(cell) for cell in self.column(name) if is_number(cell)]

    def text(self, name: str, *first: str) -> str:
        """The cell of a column in the row that begins with these cells."""
        (row,) = [row for row in self.rows if row[: len(first)] == list(first)]
        return row[self.columns.index(name)]

    def number(self, name: str, *first: str) -> float:
        return number(self.text(name, *first))


class Block(NamedTuple):
    """What one experiment wrote: its notes, and its tables in their order."""

    note: str
    grids: list[Grid]

    @property
    def texts(self) -> Grid:
        """The table of what the paper's text says of a figure."""
        (found,) = [grid for grid in self.grids if grid.columns[0] == "panel"]
        return found

    @property
    def scale(self) -> float | None:
        """The factor of the paper's sizes that it was run at; None where no paper has a size."""
        scale = _SCALE.search(self.note)
        return float(scale[1]) if scale else None


Found = tuple[str, str]
"""What was measured, and whether the claim holds."""


Look = Callable[[Block], Found]
Size = Callable[[Block], str]


class Claim(NamedTuple):
    """A sentence of a paper; without an experiment, `look` is never asked and `says` is all there is."""

    paper: str
    where: str
    says: str
    experiment: str
    size: Size
    look: Look


class Claims:
    """The claims of one paper, in the order in which they are made."""

    def __init__(self, paper: str) -> None:
        self.paper = paper
        self.made: list[Claim] = []

    def __call__(
        self, where: str, experiment: str, size: Size, says: str | None = None
    ) -> Callable[[Look], Look]:
        """A claim that a function looks at. What the paper says is its docstring, unless it is given."""

        def note(look: Look) -> Look:
            said = says or (look.__doc__ or "").rstrip(".")
            self.made.append(Claim(self.paper, where, said, experiment, size, look))
            return look

        return note

    def unmeasured(self, where: str, says: str, why: str) -> None:
        """A claim that nothing here measures."""
        self(where, "", lambda _: "", says)(lambda _: (why, UNKNOWN))


def noted(pattern: str) -> Size:
    """How large an experiment was, by its own notes."""

    def size(block: Block) -> str:
        found = re.search(pattern, block.note)
        if found is None:
            raise ValueError(f"no note says {pattern}: {block.note}")
        return found[1]

    return size


def spanned(unit: str) -> Size:
    """From the first to the last row of its first table."""
    return lambda block: f"{block.grids[0].rows[0][0]} to {block.grids[0].rows[-1][0]} {unit}"


def blocks_of(texts: Sequence[str]) -> dict[str, Block]:
    """What documents have between marks, by name."""
    found = {}
    for name, body in (each for text in texts for each in _BLOCK.findall(text)):
        tables = re.findall(r"(?:^\|.*\n)+", body, re.MULTILINE)
        found[name] = Block(body.split("\n\n")[0], [_grid(table) for table in tables])
    return found


def _grid(table: str) -> Grid:
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
    return Grid(head, rows)


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?[\d.,]+(E\+\d+)?\*?", cell) is not None


def number(cell: str) -> float:
    return float(cell.replace(",", "").rstrip("*"))


def claims_table(claims: Sequence[Claim], blocks: Mapping[str, Block]) -> str:
    """The table, as it stands in the document."""
    lines = ["| paper | where | claim | measured here | at what size | holds |", "|" + " --- |" * 6]
    for each in claims:
        block = blocks[each.experiment] if each.experiment else Block("", [])
        measured, holds = each.look(block)
        at = f"{each.size(block)}{of_the_papers_size(block)} (`{each.experiment}`)" if each.experiment else ""
        lines.append(f"| {each.paper} | {each.where} | {each.says} | {measured} | {at} | {holds} |")
    return "\n".join(lines)


def of_the_papers_size(block: Block) -> str:
    if block.scale is None:
        return ""
    return ", the paper's size" if block.scale == 1 else f", {block.scale:g} times the paper's size"


def times(numbers: Sequence[float]) -> str:
    return ", ".join(shown(each) for each in numbers) + " times"


def percent_less(ours: float, theirs: float) -> float:
    return 100 * (1 - ours / theirs)
