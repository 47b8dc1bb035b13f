"""Rows numbered as they come, each once, and found by what they hold.

rows     [n * width]   one row behind the other
hashed   int32[2^k]    as arrays/row_table.py has it: number + 1, or 0. At most two thirds are taken

No array grows here: whoever calls has made room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.arrays.row_table import hash_row


@inner_kernel
def find_row(rows: NDArray[Any], width: int, wanted: NDArray[Any], start: int, hashed: Ints) -> int:
    """The number of the row that stands at wanted[start], or -1 - the free place that it would have."""
    mask = hashed.size - 1
    place = np.int64(hash_row(wanted, start, width) & np.uint64(mask))
    while hashed[place] != 0:
        found = np.int64(hashed[place]) - 1
        column = 0
        while column < width and rows[found * width + column] == wanted[start + column]:
            column += 1
        if column == width:
            return found
        place = (place + 1) & mask
    return -1 - place


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
