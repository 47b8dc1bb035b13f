"""The hash table of texts: bytes hashed and compared eight at a time, and which text equals a given one.

    table   int32[size]   size a power of two, at least twice the number of texts;
                          the number of a text, or -1; a text stands in the first free place
                          at or behind the one that its hash says, round the end

Texts are told apart by their bytes, not by their hashes.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import ALL, HALF, eight_bytes
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel


@inner_kernel
def word_of(data: Bytes, at: int, end: int) -> np.uint64:
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
def hash_span(data: Bytes, start: int, end: int) -> np.uint64:
    """A hash of data[start:end] whose lower and upper halves are both good."""
    value = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    for at in range(start, end, 8):
        value = (value ^ word_of(data, at, end)) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> HALF
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> HALF)


@inner_kernel
def same_bytes(a: Bytes, a_start: int, b: Bytes, b_start: int, size: int) -> bool:
    """Whether so many bytes are equal."""
    for i in range(0, size, 8):
        if word_of(a, a_start + i, a_start + size) != word_of(b, b_start + i, b_start + size):
            return False
    return True


@kernel
def hash_texts_evenly(start: Longs, data: Bytes) -> Words:
    """A hash of each text data[start[i] : start[i + 1]], spread evenly over all numbers."""
    value = np.empty(start.size - 1, np.uint64)
    for i in range(value.size):
        value[i] = hash_span(data, start[i], start[i + 1])
    return value


@kernel
def _place_of(data: Bytes, begin: int, end: int, size: int) -> int:
    """Where in a table of this size to look first."""
    return np.int64(hash_span(data, begin, end) & np.uint64(size - 1))


@kernel
def table_of_names(start: Longs, data: Bytes) -> Ints:
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
def find_name(table: Ints, start: Longs, data: Bytes, name: Bytes) -> int:
    """The number of the text that equals `name`, or -1."""
    place = _place_of(name, 0, name.size, table.size)
    while table[place] >= 0:
        number = table[place]
        begin = start[number]
        if start[number + 1] - begin == name.size and same_bytes(data, begin, name, 0, name.size):
            return number
        place = (place + 1) & (table.size - 1)
    return -1
