"""The leaves of each literal, list behind list."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel


@kernel
def postings(number: Ints, count: int, leaf: Ints) -> tuple[Longs, Ints]:
    """The leaves of each number 0 ... count - 1, in the order of the rows: starts and leaves."""
    start = np.zeros(count + 1, np.int64)
    for row in range(number.size):
        start[number[row] + 1] += 1
    for i in range(count):
        start[i + 1] += start[i]
    filled = start[:count].copy()
    posted = np.empty(number.size, np.int32)
    for row in range(number.size):
        posted[filled[number[row]]] = leaf[row]
        filled[number[row]] += 1
    return start, posted
