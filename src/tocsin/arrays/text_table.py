"""A hash table over the texts of a column: which one equals a given text.

    table   int32[size]   size a power of two, at least twice the number of texts;
                          the number of a text, or -1; a text stands in the first free place
                          at or behind the one that its hash says, round the end

Texts are told apart by their bytes, not by their hashes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.byte_hash import hash_span, same_bytes
from tocsin.arrays.jit import kernel


@kernel
def _place_of(data: NDArray[np.uint8], begin: int, end: int, size: int) -> int:
    """Where in a table of this size to look first."""
    return np.int64(hash_span(data, begin, end) & np.uint64(size - 1))


@kernel
def table_of_names(start: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The table of the texts data[start[i] : start[i + 1]], which all differ."""
    size = 2
    while size < 2 * start.size:
        size *= 2
    table = np.full(size, -1, np.int32)
    for number in range(start.size - 1):
        place = _place_of(data, start[number], start[number + 1], size)
        while table[place] >= 0:
            place = (place + 1) & (size - 1)
        table[place] = number
    return table


@kernel
def find_name(
    table: NDArray[np.int32], start: NDArray[np.int64], data: NDArray[np.uint8], name: NDArray[np.uint8]
) -> int:
    """The number of the text that equals `name`, or -1."""
    place = _place_of(name, 0, name.size, table.size)
    while table[place] >= 0:
        number = table[place]
        begin = start[number]
        if start[number + 1] - begin == name.size and same_bytes(data, begin, name, 0, name.size):
            return number
        place = (place + 1) & (table.size - 1)
    return -1
