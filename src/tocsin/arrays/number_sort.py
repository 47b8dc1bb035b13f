"""Numbers put in order digit by digit, in memory that is lent.

A bitmap of all numbers there could be would do, too. It is no quicker when many of them are there, and far
slower when few are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel, kernel

_FEW = 24
"""Numbers that are sorted by insertion."""

_WIDEST = 13
"""Bits of a digit, at most: more digits than that write to too many places at once."""


def no_tally() -> NDArray[np.int64]:
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
def _move(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    shift: int,
    mask: int,
    tally: NDArray[np.int64],
) -> None:
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
def sort_numbers(
    number: NDArray[np.int32], other: NDArray[np.int32], bits: int, tally: NDArray[np.int64]
) -> None:
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
