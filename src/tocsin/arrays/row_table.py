"""Rows of integers numbered as they come, each once, and found by what they hold.

rows     [n * width]   one row behind the other
hashed   int32[2^k]    number of a row + 1, or 0 (hash_slots.py). At most two thirds are taken

No array grows here: whoever calls has made room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.hash_slots import behind, free_slot, home, slots_for
from tocsin.arrays.jit import bare_kernel, inner_kernel

_ODD = np.uint64(0x9E37_79B9_7F4A_7C15)
_HALF = np.uint64(32)


@inner_kernel
def hash_word(mixed: np.uint64, word: int) -> np.uint64:
    """The hash of a row that is one word longer; that of no words is 0."""
    mixed = (mixed ^ np.uint64(word)) * _ODD
    return mixed ^ (mixed >> _HALF)


@inner_kernel
def hash_row(rows: NDArray[Any] | tuple[int, ...], start: int, width: int) -> np.uint64:
    """A number that equal rows share, its lower bits well mixed."""
    mixed = np.uint64(0)
    for column in range(width):
        mixed = hash_word(mixed, rows[start + column])
    return mixed


@inner_kernel
def find_row(
    rows: NDArray[Any], width: int, wanted: NDArray[Any] | tuple[int, ...], start: int, hashed: Ints
) -> int:
    """The number of the row that stands at wanted[start], or -1 - the free place that it would have."""
    place = home(hashed, hash_row(wanted, start, width))
    while hashed[place] != 0:
        found = np.int64(hashed[place]) - 1
        column = 0
        while column < width and rows[found * width + column] == wanted[start + column]:
            column += 1
        if column == width:
            return found
        place = behind(hashed, place)
    return -1 - np.int64(place)


@bare_kernel
def find_rows(rows: NDArray[Any], width: int, wanted: NDArray[Any], numbers: Ints, hashed: Ints) -> None:
    """Put the number of each of the rows `wanted` into `numbers`, -1 for one that has none."""
    for i in range(numbers.size):
        numbers[i] = max(find_row(rows, width, wanted, i * width, hashed), -1)


@bare_kernel
def number_rows(
    rows: NDArray[Any], width: int, used: int, more: NDArray[Any], numbers: Ints, hashed: Ints
) -> int:
    """Put the number of each of the rows `more` into `numbers`; rows that are new get the next ones.

    How many rows there are then. A width that the compiler knows makes it much quicker.
    """
    if width == 1:
        return _number_rows(rows, 1, used, more, numbers, hashed)
    if width == 2:
        return _number_rows(rows, 2, used, more, numbers, hashed)
    return _number_rows(rows, width, used, more, numbers, hashed)


@inner_kernel
def _number_rows(
    rows: NDArray[Any], width: int, used: int, more: NDArray[Any], numbers: Ints, hashed: Ints
) -> int:
    for i in range(numbers.size):
        number = find_row(rows, width, more, i * width, hashed)
        if number < 0:
            hashed[-1 - number] = np.int32(used + 1)
            number = np.int64(used)
            for column in range(width):
                rows[used * width + column] = more[i * width + column]
            used += 1
        numbers[i] = np.int32(number)
    return used


@bare_kernel
def enter_rows(rows: Longs, width: int, count: int, skipped: Ints, hashed: Ints) -> None:
    """Enter the first `count` rows into an empty hash table, but those for which `skipped` is negative."""
    for number in range(count):
        if skipped[number] >= 0:
            hashed[free_slot(hashed, hash_row(rows, number * width, width))] = np.int32(number + 1)


@inner_kernel
def slot_of_row(rows: NDArray[Any], width: int, number: int, hashed: Ints) -> np.uint64:
    """Where in a hash table a row stands that was entered."""
    place = home(hashed, hash_row(rows, number * width, width))
    while hashed[place] != number + 1:
        place = behind(hashed, place)
    return place


@bare_kernel
def forget_row(rows: Longs, width: int, number: int, hashed: Ints) -> None:
    """Take a row out of a hash table. Those behind its place move up, so that no gap cuts them off."""
    gap = slot_of_row(rows, width, number, hashed)
    place = behind(hashed, gap)
    while hashed[place] != 0:
        other = np.int64(hashed[place]) - 1
        if home(hashed, place - hash_row(rows, other * width, width)) >= home(hashed, place - gap):
            hashed[gap] = hashed[place]
            gap = place
        place = behind(hashed, place)
    hashed[gap] = 0


def table_of_rows(rows: Longs, width: int) -> Ints:
    """The hash table of rows that all differ."""
    count = rows.size // width
    hashed = np.zeros(slots_for(count), np.int32)
    enter_rows(rows, width, count, np.zeros(count, np.int32), hashed)
    return hashed


def distinct_rows(*columns: NDArray[Any]) -> tuple[Ints, Longs]:
    """Number the different rows of some columns as they come: each row's number, each number's first row."""
    more = np.stack(columns, axis=1).astype(np.int64, copy=False)
    count, width = more.shape
    hashed = np.zeros(slots_for(count), np.int32)
    number = np.empty(count, np.int32)
    first = np.empty(
        number_rows(np.empty(more.size, np.int64), width, 0, more.ravel(), number, hashed), np.int64
    )
    first[number[::-1]] = np.arange(count - 1, -1, -1)
    return number, first
