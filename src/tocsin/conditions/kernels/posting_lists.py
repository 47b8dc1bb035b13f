"""Equal literals find each other: rows (group, value, leaf) become postings."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.lookup import hash_text
from tocsin.arrays.text_table import same_bytes


@kernel
def empty_slots(things: int) -> Ints:
    """Slots for open addressing that so many things fill at most to a half."""
    size = 2
    while size < 2 * things:
        size *= 2
    return np.full(size, -1, np.int32)


@kernel
def number_texts(group: Ints, data: Bytes, start: Longs, size: Longs) -> tuple[Ints, Longs]:
    """Number the different (group, text) as they come: each row's number, each number's first row.

    The text of row i is data[start[i] : start[i] + size[i]].
    """
    slots = empty_slots(group.size)
    mask = np.int64(slots.size - 1)
    number = np.empty(group.size, np.int32)
    first = np.empty(group.size, np.int64)
    count = 0
    for row in range(group.size):
        begin = start[row]
        slot = np.int64(hash_text(group[row], data, begin, begin + size[row]) & np.uint64(mask))
        while slots[slot] >= 0:
            known = first[slots[slot]]
            if (
                group[known] == group[row]
                and size[known] == size[row]
                and same_bytes(data, start[known], data, begin, size[row])
            ):
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            first[count] = row
            count += 1
        number[row] = slots[slot]
    return number, first[:count].copy()


@kernel
def postings(number: Ints, count: int, leaf: Ints) -> tuple[Longs, Ints]:
    """The leaves of each number 0 ... count - 1, in the order of the rows: starts and leaves."""
    start = np.zeros(count + 1, np.int64)
    for row in range(number.size):
        start[number[row] + 1] += 1
    for i in range(count):
        start[i + 1] += start[i]
    filled = start[:count].copy()
    posted = np.empty(number.size, np.int32)
    for row in range(number.size):
        posted[filled[number[row]]] = leaf[row]
        filled[number[row]] += 1
    return start, posted
