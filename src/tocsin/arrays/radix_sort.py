"""Rows put in order by a number that each has, in linear time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel

_BITS = np.uint64(11)
_DIGITS = 1 << 11


@kernel
def order_by(key: NDArray[np.uint64]) -> NDArray[np.int32]:
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
