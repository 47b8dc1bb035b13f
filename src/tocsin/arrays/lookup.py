"""From values to the literals they equal and their places among sorted bounds.

Every ordered kind but strings is a pair of int64 compared first by `high`, then by `low`:

    number      the nearest double, its bits put in order     the exact rest of an integer
    timestamp   seconds since 1970                            nanoseconds
    boolean     0 or 1                                        0
    address     upper 64 of 128 bits, shifted to signed       lower 64, shifted to signed

Strings compare byte by byte. Equality goes by hash and is confirmed by comparison; ranges by binary
search over the group's distinct bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.row_table import find_row
from tocsin.arrays.text_table import find_text


class Literals(NamedTuple):
    """The literals of = and in, by hash. Literal q owns row q of the postings; scalars come first.

    scalar         int64[3S]    literal q: its high, low and group, a row of row_table.py
    scalar_table   int32[2^k]   q + 1, or 0
    text_group     int32[T]     the group of literal S + t
    text_start     int64[T+1]   its bytes: text_bytes[text_start[t] : text_start[t+1]]
    text_bytes     uint8[...]
    text_table     int32[2^k]   t + 1, or 0: see text_table.py
    """

    scalar: Longs
    scalar_table: Ints
    text_group: Ints
    text_start: Longs
    text_bytes: Bytes
    text_table: Ints

    def groups(self) -> Ints:
        """The group of each literal."""
        return np.concatenate((self.scalar[2::3].astype(np.int32), self.text_group))


class Bounds(NamedTuple):
    """The distinct bounds of each group's ranges, ascending; n bounds make slots 0 .. 2n.

    scalar_start       int32[G+1]
    scalar_high/low    int64[...]
    text_start         int32[G+1]   a group's bounds among the texts
    text_offset        int64[...]   and their bytes: text_bytes[text_offset[i] : text_offset[i+1]]
    text_bytes         uint8[...]
    """

    scalar_start: Ints
    scalar_high: Longs
    scalar_low: Longs
    text_start: Ints
    text_offset: Longs
    text_bytes: Bytes


@kernel
def _compare(a: Bytes, a_start: int, a_end: int, b: Bytes, b_start: int, b_end: int) -> np.int64:
    """Negative, zero or positive, as a is less than, equal to or greater than b."""
    for i in range(min(a_end - a_start, b_end - b_start)):
        difference = np.int64(a[a_start + i]) - np.int64(b[b_start + i])
        if difference != 0:
            return difference
    return np.int64((a_end - a_start) - (b_end - b_start))


@kernel
def place_scalar(highs: Longs, lows: Longs, first: int, last: int, high: int, low: int) -> int:
    """The place of a scalar among the bounds first ... last of its group, of which there is one at least.

    The search takes as many steps whatever the value is, and no branch on it: guessing such a branch
    wrong would cost more than a step.
    """
    below = np.int64(first)  # bounds before this one are less than the value
    count = np.int64(last) - below
    while count > 1:
        half = count >> 1
        bound = highs[below + half - 1]
        less = (bound < high) | ((bound == high) & (lows[below + half - 1] < low))
        below += half * np.int64(less)
        count -= half
    bound = highs[below]
    less = (bound < high) | ((bound == high) & (lows[below] < low))
    equal = (bound == high) & (lows[below] == low)
    return 2 * (below - first + np.int64(less)) + np.int64(equal)


@inner_kernel
def place_scalars(
    highs: Longs,
    lows: Longs,
    first: int,
    last: int,
    distinct_highs: bool,
    high: Longs,
    low: Longs,
    size: int,
    place: Longs,
) -> None:
    """The same for the first `size` of some scalars, step by step for all of them.

    A step waits for the one before; steps of different values do not wait for each other. Where no two
    bounds have the same high, the lows are looked at in the end only.
    """
    for k in range(size):
        place[k] = first  # bounds before this one are less than the value
    count = np.int64(last) - np.int64(first)
    while count > 1:
        half = count >> 1
        if distinct_highs:
            for k in range(size):
                at = place[k]
                place[k] = at + half if highs[at + half - 1] < high[k] else at
        else:
            for k in range(size):
                at = place[k] + half - 1
                less = (highs[at] < high[k]) | ((highs[at] == high[k]) & (lows[at] < low[k]))
                place[k] += half * np.int64(less)
        count -= half
    for k in range(size):
        at = place[k]
        equal_high = highs[at] == high[k]
        less = (highs[at] < high[k]) | (equal_high & (lows[at] < low[k]))
        equal = equal_high & (lows[at] == low[k])
        place[k] = 2 * (at - first + np.int64(less)) + np.int64(equal)


@kernel
def scalar_posting(literals: Literals, group: int, high: int, low: int) -> int:
    """The literal that a scalar equals, or -1."""
    row = (np.int64(high), np.int64(low), np.int64(group))
    return max(find_row(literals.scalar, 3, row, 0, literals.scalar_table), -1)


@kernel
def scalar_slot(bounds: Bounds, group: int, high: int, low: int) -> int:
    """The place of a scalar among the bounds of its group, of which there is one at least."""
    first, last = bounds.scalar_start[group], bounds.scalar_start[group + 1]
    return place_scalar(bounds.scalar_high, bounds.scalar_low, first, last, high, low)


@kernel
def text_posting(literals: Literals, group: int, data: Bytes, start: int, end: int) -> int:
    """The literal that a text equals, or -1."""
    known = find_text(
        literals.text_table,
        literals.text_group,
        literals.text_start,
        literals.text_bytes,
        group,
        data,
        start,
        end,
    )
    return literals.scalar.size // 3 + known if known >= 0 else -1


@kernel
def text_slot(bounds: Bounds, group: int, data: Bytes, start: int, end: int) -> int:
    """The place of a text among the bounds of its group."""
    first = bounds.text_start[group]
    below = first
    upto = bounds.text_start[group + 1]
    equal = 0
    while below < upto:
        middle = (below + upto) >> 1
        order = _compare(
            bounds.text_bytes,
            bounds.text_offset[middle],
            bounds.text_offset[middle + 1],
            data,
            start,
            end,
        )
        if order < 0:
            below = middle + 1
        else:
            upto = middle
            if order == 0:
                equal = 1
    return 2 * (below - first) + equal
