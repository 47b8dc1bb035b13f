"""Numbers put in order by falling weight, in place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel


@bare_kernel
def sort_falling(
    number: NDArray[np.int32],
    first: int,
    end: int,
    weight: NDArray[np.float64],
    tie: NDArray[np.int32],
) -> None:
    """Sort number[first:end] by falling weight, those of one weight by rising tie, then by themselves.

    A heap with the number that comes last on top: quick also for a query of many thousand words.
    """
    count = end - first
    for at in range(count // 2 - 1, -1, -1):
        _sift_down(number, first, at, count, weight, tie)
    for size in range(count - 1, 0, -1):
        number[first], number[first + size] = number[first + size], number[first]
        _sift_down(number, first, 0, size, weight, tie)


@bare_kernel
def _sift_down(
    number: NDArray[np.int32],
    first: int,
    at: int,
    size: int,
    weight: NDArray[np.float64],
    tie: NDArray[np.int32],
) -> None:
    """Bring the number at a place of the heap to where nothing below it comes later."""
    moved = number[first + at]
    while 2 * at + 1 < size:
        later = 2 * at + 1
        if later + 1 < size and _comes_before(number[first + later], number[first + later + 1], weight, tie):
            later += 1
        if not _comes_before(moved, number[first + later], weight, tie):
            break
        number[first + at] = number[first + later]
        at = later
    number[first + at] = moved


@bare_kernel
def _comes_before(a: int, b: int, weight: NDArray[np.float64], tie: NDArray[np.int32]) -> bool:
    if weight[a] != weight[b]:
        return weight[a] > weight[b]
    return tie[a] < tie[b] or (tie[a] == tie[b] and a < b)
