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

from tocsin.kernels.jit import inlined, kernel


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


@inlined
def _hash_scalar(group: int, high: int, low: int) -> np.uint64:
    value = np.uint64(high) * np.uint64(0x9E3779B97F4A7C15)
    value ^= value >> np.uint64(32)
    value = (value + np.uint64(low)) * np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(29)
    value = (value + np.uint64(group)) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(32))


@inlined
def _hash_text(group: int, data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    value = np.uint64(group + 1) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@inlined
def _same(a: NDArray[np.uint8], a_start: int, b: NDArray[np.uint8], b_start: int, size: int) -> bool:
    for i in range(size):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@inlined
def _compare(
    a: NDArray[np.uint8], a_start: int, a_end: int, b: NDArray[np.uint8], b_start: int, b_end: int
) -> int:
    """Negative, zero or positive, as a is less than, equal to or greater than b."""
    for i in range(min(a_end - a_start, b_end - b_start)):
        difference = np.int64(a[a_start + i]) - np.int64(b[b_start + i])
        if difference != 0:
            return difference
    return (a_end - a_start) - (b_end - b_start)


@kernel
def hash_scalars(
    group: NDArray[np.int32], high: NDArray[np.int64], low: NDArray[np.int64], table: NDArray[np.int32]
) -> None:
    """Fill a table of -1, at least twice as long as there are literals; literals are distinct."""
    mask = table.size - 1
    for literal in range(group.size):
        slot = np.int64(_hash_scalar(group[literal], high[literal], low[literal]) & np.uint64(mask))
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
        value = _hash_text(group[literal], data, start[literal], start[literal + 1])
        slot = np.int64(value & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = literal


@kernel
def look_up_scalars(
    literals: Literals,
    bounds: Bounds,
    segment_group: NDArray[np.int32],
    segment_start: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    posting: NDArray[np.int32],
    slot: NDArray[np.int32],
) -> None:
    """Posting and slot (or -1) of every value; segment s holds values of one group."""
    mask = literals.scalar_table.size - 1
    for segment in range(segment_group.size):
        group = segment_group[segment]
        first = bounds.scalar_start[group]
        count = bounds.scalar_start[group + 1] - first
        for i in range(segment_start[segment], segment_start[segment + 1]):
            posting[i] = -1
            place = np.int64(_hash_scalar(group, high[i], low[i]) & np.uint64(mask))
            while literals.scalar_table[place] >= 0:
                known = literals.scalar_table[place]
                if (
                    literals.scalar_high[known] == high[i]
                    and literals.scalar_low[known] == low[i]
                    and literals.scalar_group[known] == group
                ):
                    posting[i] = known
                    break
                place = (place + 1) & mask
            slot[i] = -1
            if count > 0:
                below = 0  # bounds known to be less than the value
                upto = count
                while below < upto:
                    middle = (below + upto) >> 1
                    bound_high = bounds.scalar_high[first + middle]
                    if bound_high < high[i] or (
                        bound_high == high[i] and bounds.scalar_low[first + middle] < low[i]
                    ):
                        below = middle + 1
                    else:
                        upto = middle
                equal = (
                    below < count
                    and bounds.scalar_high[first + below] == high[i]
                    and bounds.scalar_low[first + below] == low[i]
                )
                slot[i] = 2 * below + (1 if equal else 0)


@kernel
def look_up_texts(
    literals: Literals,
    bounds: Bounds,
    segment_group: NDArray[np.int32],
    segment_start: NDArray[np.int64],
    offset: NDArray[np.int64],
    data: NDArray[np.uint8],
    posting: NDArray[np.int32],
    slot: NDArray[np.int32],
) -> None:
    """The same for texts: text i is data[offset[i] : offset[i + 1]]."""
    mask = literals.text_table.size - 1
    scalars = literals.scalar_group.size
    for segment in range(segment_group.size):
        group = segment_group[segment]
        first = bounds.text_start[group]
        count = bounds.text_start[group + 1] - first
        for i in range(segment_start[segment], segment_start[segment + 1]):
            start = offset[i]
            end = offset[i + 1]
            posting[i] = -1
            place = np.int64(_hash_text(group, data, start, end) & np.uint64(mask))
            while literals.text_table[place] >= 0:
                known = literals.text_table[place]
                begin = literals.text_start[known]
                if (
                    literals.text_group[known] == group
                    and literals.text_start[known + 1] - begin == end - start
                    and _same(literals.text_bytes, begin, data, start, end - start)
                ):
                    posting[i] = scalars + known
                    break
                place = (place + 1) & mask
            slot[i] = -1
            if count > 0:
                below = 0
                upto = count
                equal = 0
                while below < upto:
                    middle = (below + upto) >> 1
                    bound = first + middle
                    order = _compare(
                        bounds.text_bytes,
                        bounds.text_offset[bound],
                        bounds.text_offset[bound + 1],
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
                slot[i] = 2 * below + equal
