"""Hashes of many texts at once, for statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.byte_hash import hash_span
from tocsin.arrays.jit import kernel


@kernel
def hash_texts_evenly(start: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A hash of each text data[start[i] : start[i + 1]], spread evenly over all numbers."""
    value = np.empty(start.size - 1, np.uint64)
    for i in range(value.size):
        value[i] = hash_span(data, start[i], start[i + 1])
    return value
