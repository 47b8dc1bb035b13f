"""Rows of words found by their content: open addressing over the rows of a table.

hashed   int32[2^k]   number of a row + 1, or 0; a search goes on from the row's home place to the first 0
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel

_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)
_HALF = np.uint64(32)


@inner_kernel
def hash_word(mixed: np.uint64, word: int) -> np.uint64:
    """The hash of a row that is one word longer; that of no words is 0."""
    mixed = (mixed ^ np.uint64(word)) * _ODD
    return mixed ^ (mixed >> _HALF)


@inner_kernel
def hash_row(rows: Longs, start: int, width: int) -> np.uint64:
    """A number that equal rows share, its lower bits well mixed."""
    mixed = np.uint64(0)
    for column in range(width):
        mixed = hash_word(mixed, rows[start + column])
    return mixed


@bare_kernel
def enter_rows(rows: Longs, width: int, count: int, skipped: Ints, hashed: Ints) -> None:
    """Enter the first `count` rows into an empty hash table, but those for which `skipped` is negative."""
    mask = hashed.size - 1
    for number in range(count):
        if skipped[number] < 0:
            continue
        place = np.int64(hash_row(rows, number * width, width) & np.uint64(mask))
        while hashed[place] != 0:
            place = (place + 1) & mask
        hashed[place] = np.int32(number + 1)


@bare_kernel
def forget_row(rows: Longs, width: int, number: int, hashed: Ints) -> None:
    """Take a row out of a hash table. Those behind its place move up, so that no gap cuts them off."""
    mask = hashed.size - 1
    gap = np.int64(hash_row(rows, number * width, width) & np.uint64(mask))
    while hashed[gap] != number + 1:
        gap = (gap + 1) & mask
    place = (gap + 1) & mask
    while hashed[place] != 0:
        other = np.int64(hashed[place]) - 1
        home = np.int64(hash_row(rows, other * width, width) & np.uint64(mask))
        if ((place - home) & mask) >= ((place - gap) & mask):
            hashed[gap] = hashed[place]
            gap = place
        place = (place + 1) & mask
    hashed[gap] = 0
