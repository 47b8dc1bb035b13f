"""Numbers, and rows by a number that each has, put in order digit by digit, in linear time.

`sort_numbers` works in memory that is lent. A bitmap of all numbers there could be would do, too: it is no
quicker when many of them are there, and far slower when few are.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, kernel

_FEW = 24
"""Numbers that are sorted by insertion."""

_WIDEST = 13
"""Bits of a digit, at most: more digits than that write to too many places at once."""


def no_tally() -> Longs:
    """Room for counting digits, one for each thread; what it holds does not matter."""
    return np.empty(1 << _WIDEST, np.int64)


@kernel
def bits_of(largest: int) -> int:
    """How many bits the numbers 0 .. largest need."""
    bits = 0
    while largest >> bits > 0:
        bits += 1
    return bits


@bare_kernel
def _move(source: Ints, target: Ints, shift: int, mask: int, tally: Longs) -> None:
    """Copy the numbers in the order of one digit, those of equal digits as they stand."""
    for digit in range(mask + 1):
        tally[digit] = 0
    for i in range(source.size):
        tally[(source[i] >> shift) & mask] += 1
    before = 0
    for digit in range(mask + 1):
        here = tally[digit]
        tally[digit] = before
        before += here
    for i in range(source.size):
        number = source[i]
        digit = (number >> shift) & mask
        target[tally[digit]] = number
        tally[digit] += 1


@kernel
def sort_numbers(number: Ints, other: Ints, bits: int, tally: Longs) -> None:
    """Sort numbers of so many bits, none negative; `other` is as long and is overwritten.

    There are two or four digits, never three, so that they end where they began.
    """
    count = number.size
    if count <= _FEW:
        for i in range(1, count):
            moved = number[i]
            j = i
            while j > 0 and number[j - 1] > moved:
                number[j] = number[j - 1]
                j -= 1
            number[j] = moved
        return
    width = max(bits + 1, 2) >> 1
    if width > _WIDEST or count >> width == 0:
        width = max(bits + 3, 4) >> 2
    mask = (1 << width) - 1
    shift = 0
    while shift < bits:
        _move(number, other, shift, mask, tally)
        _move(other, number, shift + width, mask, tally)
        shift += 2 * width


_BITS = np.uint64(11)
_DIGITS = 1 << 11


@kernel
def order_by(key: Words) -> Ints:
    """The rows by ascending key, those of equal keys as they stood: digit by digit, the lowest first."""
    count = key.size
    largest = np.uint64(0)
    for i in range(count):
        largest = max(largest, key[i])
    order = np.arange(count).astype(np.int32)
    moved = np.empty(count, np.int32)
    ordered = key.copy()
    other = np.empty(count, np.uint64)
    place = np.empty(_DIGITS, np.int64)
    mask = np.uint64(_DIGITS - 1)
    shift = np.uint64(0)
    while shift < np.uint64(64) and largest >> shift > np.uint64(0):
        place[:] = 0
        for i in range(count):
            place[(ordered[i] >> shift) & mask] += 1
        before = 0
        for digit in range(_DIGITS):
            here = place[digit]
            place[digit] = before
            before += here
        for i in range(count):
            digit = (ordered[i] >> shift) & mask
            to = place[digit]
            place[digit] = to + 1
            other[to] = ordered[i]
            moved[to] = order[i]
        ordered, other = other, ordered
        order, moved = moved, order
        shift += _BITS
    return order
