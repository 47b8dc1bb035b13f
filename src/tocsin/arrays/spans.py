"""Pieces of a text, side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel


@kernel
def gather_spans(
    data: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Starts and bytes of the pieces data[start[i] : end[i]], one after the other."""
    place = np.zeros(start.size + 1, np.int64)
    for i in range(start.size):
        place[i + 1] = place[i] + end[i] - start[i]
    gathered = np.empty(place[start.size], np.uint8)
    for i in range(start.size):
        for j in range(end[i] - start[i]):
            gathered[place[i] + j] = data[start[i] + j]
    return place, gathered
