"""Bytes hashed and compared eight at a time: what every table of texts stands on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import ALL, HALF, eight_bytes
from tocsin.arrays.jit import inner_kernel


@inner_kernel
def word_of(data: NDArray[np.uint8], at: int, end: int) -> np.uint64:
    """The next eight bytes before `end` as a word; when they are fewer, zeros fill it up."""
    if at + 8 <= data.size:
        word = eight_bytes(data, at)
        if at + 8 > end:
            word &= ALL >> np.uint64(8 * (at + 8 - end))
        return word
    word = np.uint64(0)
    for i in range(min(8, end - at)):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@inner_kernel
def hash_span(data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """A hash of data[start:end] whose lower and upper halves are both good."""
    value = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    for at in range(start, end, 8):
        value = (value ^ word_of(data, at, end)) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> HALF
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> HALF)


@inner_kernel
def same_bytes(a: NDArray[np.uint8], a_start: int, b: NDArray[np.uint8], b_start: int, size: int) -> bool:
    """Whether so many bytes are equal."""
    for i in range(0, size, 8):
        if word_of(a, a_start + i, a_start + size) != word_of(b, b_start + i, b_start + size):
            return False
    return True
