"""The hash table of texts: bytes hashed and compared eight at a time, and which text equals a given one.

    table   int32[2^k]   number of a text + 1, or 0 (hash_slots.py); at most half full

A text is one of a group, as a word is one of a field. Texts are told apart by their bytes, not their hashes.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import ALL, HALF, eight_bytes
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.hash_slots import behind, free_slot, home, slots_for
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


@inner_kernel
def _hash_text(group: int, data: Bytes, start: int, end: int) -> np.uint64:
    value = (hash_span(data, start, end) + np.uint64(group)) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> HALF)


@kernel
def table_of_texts(groups: Ints, start: Longs, data: Bytes) -> Ints:
    """The table of texts data[start[i] : start[i + 1]]; no two of a group are equal."""
    table = np.zeros(slots_for(groups.size), np.int32)
    for number in range(groups.size):
        value = _hash_text(groups[number], data, start[number], start[number + 1])
        table[free_slot(table, value)] = number + 1
    return table


@kernel
def find_text(
    table: Ints, groups: Ints, starts: Longs, texts: Bytes, group: int, data: Bytes, start: int, end: int
) -> int:
    """The number of the text of a group that data[start:end] equals, or -1."""
    place = home(table, _hash_text(group, data, start, end))
    while table[place] != 0:
        known = np.int64(table[place]) - 1
        begin = starts[known]
        if (
            groups[known] == group
            and starts[known + 1] - begin == end - start
            and same_bytes(texts, begin, data, start, end - start)
        ):
            return known
        place = behind(table, place)
    return -1
