"""Cells of a group put in order by a small number that each has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import bare_kernel

RADIX_BITS = 8
RADIX = 1 << RADIX_BITS

_FEW = 20
"""Cells that are sorted by insertion: up to here that is quicker."""


@bare_kernel
def sort_cells(
    key: NDArray[np.int32],
    begin: int,
    end: int,
    cell: NDArray[np.int32],
    other: NDArray[np.int32],
    tally: NDArray[np.int64],
) -> int:
    """Put the cells of begin..end whose key is not negative into `cell`, ascending by key; how many."""
    size = 0
    least = np.int32(2147483647)
    largest = np.int32(0)
    for each in range(begin, end):
        if key[each] >= 0:
            cell[size] = each
            size += 1
            least = min(least, key[each])
            largest = max(largest, key[each])
    if size <= _FEW:
        for i in range(1, size):
            moved = cell[i]
            j = i
            while j > 0 and key[cell[j - 1]] > key[moved]:
                cell[j] = cell[j - 1]
                j -= 1
            cell[j] = moved
        return size
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
