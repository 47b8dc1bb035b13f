"""The values of a batch, looked up for all groups of all fields by one call for each kind.

Values come in parts, one for each group and source, in any order; the cells that they become lie in
the order of groups and events (see leaves.py). `arrange` says which value goes to which cell, and the
lookups write there.

    parts, in the order they were collected     group 7: rows 0 2 3    group 4: rows 1 2    group 7: rows 1 2
    cell of each value                                   2 4 6                  0 1                  3 5
    cells                                       group 4: rows 1 2      group 7: rows 0 1 2 2 3
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.arrays.lookup import (
    Bounds,
    Literals,
    place_scalar,
    place_scalars,
    scalar_posting,
    text_posting,
    text_slot,
)

_TOGETHER = 32
"""Values that are searched for among the bounds at the same time."""

_REMEMBERED_BITS = 10
"""Values that are remembered, at most: a power of two."""

_TRIED = 64
"""Values of a part after which it is worth a look whether they repeat."""


class GroupTraits(NamedTuple):
    """What of each group's scalars need not be looked at. G groups.

    has_literals     bool[G]   whether a scalar literal is its own
    distinct_highs   bool[G]   whether no two of its bounds have the same high
    """

    has_literals: Flags
    distinct_highs: Flags


def traits_of(literals: Literals, bounds: Bounds) -> GroupTraits:
    """The traits of all groups."""
    start = bounds.scalar_start
    has_literals = np.zeros(len(start) - 1, np.bool_)
    has_literals[literals.scalar[2::3]] = True
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))
    repeated = (group[1:] == group[:-1]) & (bounds.scalar_high[1:] == bounds.scalar_high[:-1])
    distinct_highs = np.ones(len(start) - 1, np.bool_)
    distinct_highs[group[1:][repeated]] = False
    return GroupTraits(has_literals, distinct_highs)


class _Remembered(NamedTuple):
    """Values that were looked up, each at the place that its hash says, until another takes it. M places.

    part      int32[M]   whose value it is; -1 for none
    high      int64[M]   the value
    low       int64[M]
    posting   int32[M]   what was found
    slot      int32[M]
    """

    part: Ints
    high: Longs
    low: Longs
    posting: Ints
    slot: Ints


class Parts(NamedTuple):
    """Values that lie side by side, a part for each group and source, and the cells they are for.

    group   int32[n]     the group of each part
    start   int64[n+1]   its values: start[p] ... start[p+1]
    cell    int32[...]   the cell of each value
    """

    group: Ints
    start: Longs
    cell: Ints


@kernel
def arrange(group: Ints, start: Longs, row: Ints, groups: int) -> tuple[Longs, Ints, Ints]:
    """The start of each group's cells, the cell of each value, and the event of each cell.

    The rows of a part are ascending. Of equal rows in two parts of a group, those of the earlier part
    come first.
    """
    parts = group.size
    group_start = np.zeros(groups + 1, np.int64)
    part_start = np.zeros(groups + 1, np.int64)
    for part in range(parts):
        group_start[group[part] + 1] += start[part + 1] - start[part]
        part_start[group[part] + 1] += 1
    for i in range(groups):
        group_start[i + 1] += group_start[i]
        part_start[i + 1] += part_start[i]
    by_group = np.empty(parts, np.int64)
    filled = part_start[:groups].copy()
    for part in range(parts):
        by_group[filled[group[part]]] = part
        filled[group[part]] += 1
    cell = np.empty(row.size, np.int32)
    cell_row = np.empty(row.size, np.int32)
    unread = start[:parts].copy()
    for i in range(groups):
        first, last = part_start[i], part_start[i + 1]
        if last == first + 1:
            value = start[by_group[first]]
            for place in range(group_start[i], group_start[i + 1]):
                cell[value] = place
                cell_row[place] = row[value]
                value += 1
            continue
        for place in range(group_start[i], group_start[i + 1]):
            chosen = -1
            for at in range(first, last):
                part = by_group[at]
                if unread[part] < start[part + 1] and (chosen < 0 or row[unread[part]] < row[unread[chosen]]):
                    chosen = part
            value = unread[chosen]
            unread[chosen] += 1
            cell[value] = place
            cell_row[place] = row[value]
    return group_start, cell, cell_row


@kernel
def look_up_scalars(
    literals: Literals,
    bounds: Bounds,
    traits: GroupTraits,
    parts: Parts,
    high: Longs,
    low: Longs,
    posting: Ints,
    slot: Ints,
) -> None:
    """Write the posting and the slot of every value to its cell.

    For a group without literals no posting is written, and for one without bounds no slot, unless -1. Where
    values repeat, as those of hours and ages do, most of them are not searched for but remembered.
    """
    bound_start, bound_high, bound_low = bounds.scalar_start, bounds.scalar_high, bounds.scalar_low
    cell = parts.cell
    below = np.empty(_TOGETHER, np.int64)
    places = 1 << _REMEMBERED_BITS
    remembered = _Remembered(
        np.full(places, -1, np.int32),
        np.empty(places, np.int64),
        np.empty(places, np.int64),
        np.empty(places, np.int32),
        np.empty(places, np.int32),
    )
    for part in range(parts.group.size):
        group = parts.group[part]
        begin = _look_up_repeated(literals, bounds, traits, parts, part, high, low, remembered, posting, slot)
        end = parts.start[part + 1]
        if traits.has_literals[group]:
            for i in range(begin, end):
                posting[cell[i]] = scalar_posting(literals, group, high[i], low[i])
        first, last = bound_start[group], bound_start[group + 1]
        if first < last:
            for i in range(begin, end, _TOGETHER):
                some = min(_TOGETHER, end - i)
                place_scalars(
                    bound_high,
                    bound_low,
                    first,
                    last,
                    traits.distinct_highs[group],
                    high[i:],
                    low[i:],
                    some,
                    below,
                )
                for k in range(some):
                    slot[cell[i + k]] = below[k]


@bare_kernel
def _look_up_repeated(
    literals: Literals,
    bounds: Bounds,
    traits: GroupTraits,
    parts: Parts,
    part: int,
    high: Longs,
    low: Longs,
    remembered: _Remembered,
    posting: Ints,
    slot: Ints,
) -> int:
    """Write what is found for a part's values while half of them are remembered; where that ends."""
    group = parts.group[part]
    first, last = bounds.scalar_start[group], bounds.scalar_start[group + 1]
    begin, end = parts.start[part], parts.start[part + 1]
    cell = parts.cell
    shift = np.uint64(64 - _REMEMBERED_BITS)
    searched = np.int64(0)
    for i in range(begin, end):
        mixed = (np.uint64(high[i]) ^ np.uint64(low[i])) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64(mixed >> shift)
        if remembered.part[at] != part or remembered.high[at] != high[i] or remembered.low[at] != low[i]:
            searched += 1
            if searched > _TRIED and 2 * searched > i - begin:
                return i
            remembered.part[at] = part
            remembered.high[at] = high[i]
            remembered.low[at] = low[i]
            remembered.posting[at] = -1
            remembered.slot[at] = -1
            if traits.has_literals[group]:
                remembered.posting[at] = scalar_posting(literals, group, high[i], low[i])
            if first < last:
                remembered.slot[at] = place_scalar(
                    bounds.scalar_high, bounds.scalar_low, first, last, high[i], low[i]
                )
        posting[cell[i]] = remembered.posting[at]
        slot[cell[i]] = remembered.slot[at]
    return end


@kernel
def look_up_texts(
    literals: Literals,
    bounds: Bounds,
    parts: Parts,
    code: Ints,
    text_start: Longs,
    offset: Longs,
    data: Bytes,
    posting: Ints,
    slot: Ints,
) -> None:
    """The same for texts: text i is data[offset[i] : offset[i + 1]], looked up once however often it occurs.

    The texts of part p are text_start[p] ... text_start[p + 1], and code says for each of its values
    which of these it is.
    """
    text_count = offset.size - 1
    postings = np.empty(text_count, np.int32)
    slots = np.full(text_count, -1, np.int32)
    cell = parts.cell
    for part in range(parts.group.size):
        group = parts.group[part]
        first = text_start[part]
        ranged = bounds.text_start[group + 1] > bounds.text_start[group]
        for i in range(first, text_start[part + 1]):
            postings[i] = text_posting(literals, group, data, offset[i], offset[i + 1])
            if ranged:
                slots[i] = text_slot(bounds, group, data, offset[i], offset[i + 1])
        for i in range(parts.start[part], parts.start[part + 1]):
            posting[cell[i]] = postings[first + code[i]]
            slot[cell[i]] = slots[first + code[i]]
