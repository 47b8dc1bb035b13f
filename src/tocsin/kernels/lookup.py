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
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel


class Literals(NamedTuple):
    """The literals of = and in, by hash. Literal q owns row q of the postings; scalars come first.

    scalar_group   int32[S]     the group of literal q
    scalar_high    int64[S]
    scalar_low     int64[S]
    scalar_table   int32[2^k]   open addressing: literal, or -1
    text_group     int32[T]     the group of literal S + t
    text_start     int64[T+1]   its bytes: text_bytes[text_start[t] : text_start[t+1]]
    text_bytes     uint8[...]
    text_table     int32[2^k]   open addressing: t, or -1
    """

    scalar_group: NDArray[np.int32]
    scalar_high: NDArray[np.int64]
    scalar_low: NDArray[np.int64]
    scalar_table: NDArray[np.int32]
    text_group: NDArray[np.int32]
    text_start: NDArray[np.int64]
    text_bytes: NDArray[np.uint8]
    text_table: NDArray[np.int32]


class Bounds(NamedTuple):
    """The distinct bounds of each group's ranges, ascending; n bounds make slots 0 .. 2n.

    scalar_start       int32[G+1]
    scalar_high/low    int64[...]
    text_start         int32[G+1]   a group's bounds among the texts
    text_offset        int64[...]   and their bytes: text_bytes[text_offset[i] : text_offset[i+1]]
    text_bytes         uint8[...]
    """

    scalar_start: NDArray[np.int32]
    scalar_high: NDArray[np.int64]
    scalar_low: NDArray[np.int64]
    text_start: NDArray[np.int32]
    text_offset: NDArray[np.int64]
    text_bytes: NDArray[np.uint8]


class Segments(NamedTuple):
    """Values that lie side by side, a segment for each group, and the cells they are for.

    group   int32[n]     the group of each segment
    start   int64[n+1]   its values
    place   int64[n]     its first cell
    """

    group: NDArray[np.int32]
    start: NDArray[np.int64]
    place: NDArray[np.int64]


@kernel
def hash_scalar(group: int, high: int, low: int) -> np.uint64:
    """Where to look for a scalar of a group."""
    value = np.uint64(high) * np.uint64(0x9E3779B97F4A7C15)
    value ^= value >> np.uint64(32)
    value = (value + np.uint64(low)) * np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(29)
    value = (value + np.uint64(group)) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(32))


@kernel
def hash_text(group: int, data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """Where to look for a text of a group."""
    value = np.uint64(group + 1) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@kernel
def same_bytes(a: NDArray[np.uint8], a_start: int, b: NDArray[np.uint8], b_start: int, size: int) -> bool:
    """Whether so many bytes are equal."""
    for i in range(size):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@kernel
def _compare(
    a: NDArray[np.uint8], a_start: int, a_end: int, b: NDArray[np.uint8], b_start: int, b_end: int
) -> np.int64:
    """Negative, zero or positive, as a is less than, equal to or greater than b."""
    for i in range(min(a_end - a_start, b_end - b_start)):
        difference = np.int64(a[a_start + i]) - np.int64(b[b_start + i])
        if difference != 0:
            return difference
    return np.int64((a_end - a_start) - (b_end - b_start))


@kernel
def hash_scalars(
    group: NDArray[np.int32], high: NDArray[np.int64], low: NDArray[np.int64], table: NDArray[np.int32]
) -> None:
    """Fill a table of -1, at least twice as long as there are literals; literals are distinct."""
    mask = table.size - 1
    for literal in range(group.size):
        slot = np.int64(hash_scalar(group[literal], high[literal], low[literal]) & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = literal


@kernel
def hash_texts(
    group: NDArray[np.int32],
    start: NDArray[np.int64],
    data: NDArray[np.uint8],
    table: NDArray[np.int32],
) -> None:
    """The same for texts."""
    mask = table.size - 1
    for literal in range(group.size):
        value = hash_text(group[literal], data, start[literal], start[literal + 1])
        slot = np.int64(value & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = literal


@kernel
def scalar_posting(literals: Literals, group: int, high: int, low: int) -> int:
    """The literal that a scalar equals, or -1."""
    mask = literals.scalar_table.size - 1
    place = np.int64(hash_scalar(group, high, low) & np.uint64(mask))
    while literals.scalar_table[place] >= 0:
        known = literals.scalar_table[place]
        if (
            literals.scalar_high[known] == high
            and literals.scalar_low[known] == low
            and literals.scalar_group[known] == group
        ):
            return known
        place = (place + 1) & mask
    return -1


@kernel
def scalar_slot(bounds: Bounds, group: int, high: int, low: int) -> int:
    """The place of a scalar among the bounds of its group."""
    first = bounds.scalar_start[group]
    last = bounds.scalar_start[group + 1]
    below = first  # bounds before this one are less than the value
    upto = last
    while below < upto:
        middle = (below + upto) >> 1
        bound = bounds.scalar_high[middle]
        if bound < high or (bound == high and bounds.scalar_low[middle] < low):
            below = middle + 1
        else:
            upto = middle
    equal = below < last and bounds.scalar_high[below] == high and bounds.scalar_low[below] == low
    return 2 * (below - first) + (1 if equal else 0)


@kernel
def look_up_scalars(
    literals: Literals,
    bounds: Bounds,
    segments: Segments,
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    posting: NDArray[np.int32],
    slot: NDArray[np.int32],
) -> None:
    """Write the posting and the slot (or -1) of every value to its cell."""
    for segment in range(segments.group.size):
        group = segments.group[segment]
        ranged = bounds.scalar_start[group + 1] > bounds.scalar_start[group]
        cell = segments.place[segment]
        for i in range(segments.start[segment], segments.start[segment + 1]):
            posting[cell] = scalar_posting(literals, group, high[i], low[i])
            if ranged:
                slot[cell] = scalar_slot(bounds, group, high[i], low[i])
            cell += 1


@kernel
def text_posting(literals: Literals, group: int, data: NDArray[np.uint8], start: int, end: int) -> int:
    """The literal that a text equals, or -1."""
    mask = literals.text_table.size - 1
    place = np.int64(hash_text(group, data, start, end) & np.uint64(mask))
    while literals.text_table[place] >= 0:
        known = literals.text_table[place]
        begin = literals.text_start[known]
        if (
            literals.text_group[known] == group
            and literals.text_start[known + 1] - begin == end - start
            and same_bytes(literals.text_bytes, begin, data, start, end - start)
        ):
            return literals.scalar_group.size + known
        place = (place + 1) & mask
    return -1


@kernel
def text_slot(bounds: Bounds, group: int, data: NDArray[np.uint8], start: int, end: int) -> int:
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


@kernel
def look_up_texts(
    literals: Literals,
    bounds: Bounds,
    segments: Segments,
    offset: NDArray[np.int64],
    data: NDArray[np.uint8],
    code_start: NDArray[np.int64],
    code: NDArray[np.int32],
    posting: NDArray[np.int32],
    slot: NDArray[np.int32],
) -> None:
    """The same for texts: text i is data[offset[i] : offset[i + 1]], looked up once however often
    it occurs. code[code_start[s] : code_start[s + 1]] are the texts of segment s's cells.
    """
    for segment in range(segments.group.size):
        group = segments.group[segment]
        first = segments.start[segment]
        count = segments.start[segment + 1] - first
        ranged = bounds.text_start[group + 1] > bounds.text_start[group]
        postings = np.empty(count, np.int32)
        slots = np.full(count, -1, np.int32)
        for i in range(count):
            start = offset[first + i]
            end = offset[first + i + 1]
            postings[i] = text_posting(literals, group, data, start, end)
            if ranged:
                slots[i] = text_slot(bounds, group, data, start, end)
        cell = segments.place[segment]
        for i in range(code_start[segment], code_start[segment + 1]):
            posting[cell] = postings[code[i]]
            slot[cell] = slots[code[i]]
            cell += 1
