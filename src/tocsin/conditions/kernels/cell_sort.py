"""Cells of a group put in order by a small number that each has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.leaves import Span

RADIX_BITS = 11
RADIX = 1 << RADIX_BITS

_FEW = 20
"""Cells that are sorted by insertion: up to here that is quicker."""


class Runs(NamedTuple):
    """Room for the cells of a group and block, key by key.

    cell   int32[c]   the cells that have a key, by key; not used for keys that are collected at once
    key    int32[c]   the key of each run, ascending
    end    int32[c]   where it ends among the cells
    """

    cell: Ints
    key: Ints
    end: Ints


class Sorter(NamedTuple):
    """Room for the cells of one group and block, made for a batch.

    by_posting   Runs           cells that equal a literal, by literal
    by_found     Runs           cells for which something was found, by what
    by_slot      int32[c]       cells with a place among the bounds, ascending by place
    other        int32[c]       for sorting
    tally        int64[RADIX]   for sorting
    hits         uint8[L]       how many of the group's values satisfy a leaf: 0, 1, or 2 for more;
                                all zero between groups
    drafts       uint64[DRAFTS] planes in the making, side by side (point_, slot_ and range_leaves.py)
    """

    by_posting: Runs
    by_found: Runs
    by_slot: Ints
    other: Ints
    tally: Longs
    hits: Bytes
    drafts: Words


@inner_kernel
def spread_of(key: Ints, span: Span) -> tuple[np.int32, np.int32]:
    """The least and the largest key of a span among those that are not negative; the largest is -1
    when all are."""
    least = np.int32(2147483647)
    largest = np.int32(-1)
    for each in range(span.begin, span.end):
        value = key[each]
        largest = max(largest, value)
        least = min(least, value if value >= 0 else np.int32(2147483647))
    return least, largest


@bare_kernel
def sort_cells(key: Ints, span: Span, least: np.int32, largest: np.int32, cell: Ints, sorter: Sorter) -> int:
    """Put the cells of a span whose key is not negative into `cell`, ascending by key; how many.

    `least` and `largest` are those of the keys (spread_of). There is room for all cells, and what stands
    behind those that have a key is written over.
    """
    begin, end, other, tally = span.begin, span.end, sorter.other, sorter.tally
    if largest < 0:
        return 0
    if end - begin <= _FEW:
        return _insert(key, begin, end, cell)
    if largest - least < RADIX - 1:
        return _count(key, begin, end, least, largest - least + 2, cell, tally)
    size = 0
    for each in range(begin, end):
        if key[each] >= 0:
            cell[size] = each
            size += 1
    shift = 0
    while (largest - least) >> shift > 0:
        tally[:] = 0
        for i in range(size):
            tally[((key[cell[i]] - least) >> shift) & (RADIX - 1)] += 1
        total = 0
        for digit in range(RADIX):
            here = tally[digit]
            tally[digit] = total
            total += here
        for i in range(size):
            digit = ((key[cell[i]] - least) >> shift) & (RADIX - 1)
            other[tally[digit]] = cell[i]
            tally[digit] += 1
        for i in range(size):
            cell[i] = other[i]
        shift += RADIX_BITS
    return size


@inner_kernel
def _insert(key: Ints, begin: int, end: int, cell: Ints) -> int:
    """Few cells, each moved to its place."""
    size = 0
    for each in range(begin, end):
        if key[each] < 0:
            continue
        j = size
        while j > 0 and key[cell[j - 1]] > key[each]:
            cell[j] = cell[j - 1]
            j -= 1
        cell[j] = each
        size += 1
    return size


@inner_kernel
def _count(key: Ints, begin: int, end: int, least: np.int32, digits: int, cell: Ints, tally: Longs) -> int:
    """Keys that are near each other, put in order at once: digit 0 is a negative key, 1 is `least`, ...

    Cells without a key go behind all others, since to ask of each whether it has one would be a branch
    that nobody can guess.
    """
    below = np.int64(least) - 1
    nothing = np.int64(0)
    for digit in range(digits):
        tally[digit] = 0
    for each in range(begin, end):
        tally[max(np.int64(key[each]) - below, nothing)] += 1
    size = np.int64(end - begin) - tally[0]
    tally[0] = size
    total = np.int64(0)
    for digit in range(1, digits):
        here = tally[digit]
        tally[digit] = total
        total += here
    for each in range(begin, end):
        digit = max(np.int64(key[each]) - below, nothing)
        cell[tally[digit]] = each
        tally[digit] += 1
    return size
