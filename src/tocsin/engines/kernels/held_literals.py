"""The literals that hold in each event: what every engine but the A-Tree begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.conditions.kernels.leaves import Cells, Leaves, OneEvent, Ranges
from tocsin.conditions.kernels.literal_bitmap import (
    Marks,
    clear,
    hold,
    hold_absences,
    hold_leaves,
    hold_ranges,
    take,
)
from tocsin.conditions.kernels.plane_links import Links


@kernel
def _count_literals(links: Links) -> int:
    return links.link_start.size - 3


@kernel
def literals_of_event(
    event: OneEvent,
    literals: Literals,
    bounds: Bounds,
    leaves: Leaves,
    ranges: Ranges,
    links: Links,
    marks: Marks,
) -> int:
    """How many literals hold: marks.held[:n], ascending. The links are those of literals alone."""
    marks.known[:] = 0
    hold_leaves(event, literals, bounds, leaves, ranges, links.link_start, links.link, marks)
    hold_absences(leaves.null_leaf, links, marks)
    found = take(marks.bit, marks.line, 0, _count_literals(links), 0, marks.held)
    clear(marks.bit, marks.line)
    return found


class RowCells(NamedTuple):
    """Cells event by event: cell[start[e] : start[e+1]] are those of event e, and group[...] their groups."""

    start: Longs
    cell: Ints
    group: Ints


@kernel
def cells_by_row(cells: Cells, rows: int) -> RowCells:
    """The cells of so many events."""
    start = np.zeros(rows + 1, np.int64)
    for i in range(cells.row.size):
        start[cells.row[i] + 1] += 1
    for row in range(rows):
        start[row + 1] += start[row]
    place = start[:rows].copy()
    cell = np.empty(cells.row.size, np.int32)
    group_of = np.empty(cells.row.size, np.int32)
    for group in range(cells.group_start.size - 1):
        for i in range(cells.group_start[group], cells.group_start[group + 1]):
            at = place[cells.row[i]]
            place[cells.row[i]] = at + 1
            cell[at] = i
            group_of[at] = group
    return RowCells(start, cell, group_of)


@kernel
def literals_of_rows(
    first: int,
    last: int,
    rows: RowCells,
    cells: Cells,
    leaves: Leaves,
    ranges: Ranges,
    links: Links,
    marks: Marks,
) -> Lists:
    """The literals that hold in each of the events first ... last, ascending."""
    bit, line, known = marks.bit, marks.line, marks.known
    link_start, link = links.link_start, links.link
    literals = _count_literals(links)
    start = np.zeros(last - first + 1, np.int64)
    item = np.empty(1024, np.int32)
    for row in range(first, last):
        known[:] = 0
        for i in range(rows.start[row], rows.start[row + 1]):
            cell = rows.cell[i]
            group = rows.group[i]
            known[group] = 1
            if cells.posting[cell] >= 0:
                q = np.int64(cells.posting[cell])
                hold(
                    leaves.posting_leaf,
                    leaves.posting_start[q],
                    leaves.posting_start[q + 1],
                    link_start,
                    link,
                    bit,
                    line,
                )
            if cells.found[cell] >= 0:
                f = np.int64(cells.found[cell])
                hold(
                    cells.found_leaf,
                    cells.found_start[f],
                    cells.found_start[f + 1],
                    link_start,
                    link,
                    bit,
                    line,
                )
            if cells.slot[cell] >= 0:
                hold_ranges(group, cells.slot[cell], ranges, link_start, link, bit, line)
        hold_absences(leaves.null_leaf, links, marks)
        found = take(bit, line, 0, literals, 0, marks.held)
        clear(bit, line)
        used = start[row - first]
        item = with_room(item, used, found)
        item[used : used + found] = marks.held[:found]
        start[row - first + 1] = used + found
    return Lists(start, item[: start[-1]])
