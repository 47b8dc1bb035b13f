"""Cells as a loop finds them, event by event, and then in order of field and kind.

    found      user "a", age 7, user "b", user "a", age 8     each with its event
    ordered    user  0 "a"  1 "b"  2 "a"      age  0 7  2 8
    texts      user  0 1 0  of "a" "b"                        each different text of a field once

A stream that is too short counts on, and what it counted is no more than how long it should have been.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.byte_copy import move_word
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.hash_slots import behind, home, slots_for
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.text_table import hash_span, same_bytes

NUMBER = 0
WRITTEN_INTEGER = 1
WRITTEN_FLOAT = 2
STRING = 3
BOOLEAN = 4
LISTED = 5
OBJECT = 6
KEPT = 7
KINDS = 8
_AHEAD = 12
NOTHING = -1
"""The key of a cell that counts no more."""


class CellStream(NamedTuple):
    """What was found, in order.

    key     int32[n]   KINDS times the field, and the kind
    row     int32[n]   the event
    place   int64[n]   of what has a text, where that begins; of a number, the bits of the nearest double;
                       of a Boolean, 0 or 1
    low     int64[n]   of what has a text, where that ends; of a number, what is left

    A NUMBER is exact; what is WRITTEN is to be read from its text. LISTED and OBJECT only say that there is
    one. What is KEPT is the text of a value as it stands there.
    """

    key: Ints
    row: Ints
    place: Longs
    low: Longs


def new_stream(size: int) -> CellStream:
    """An empty one."""
    return CellStream(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


@inner_kernel
def add_cell(stream: CellStream, count: int, key: int, row: int, place: int, low: int) -> int:
    """One more; how many there are."""
    if count < stream.key.size:
        stream.key[count] = key
        stream.row[count] = row
        stream.place[count] = place
        stream.low[count] = low
    return count + 1


@kernel
def written_numbers(stream: CellStream, count: int) -> Longs:
    """The places of numbers that are to be read from their texts."""
    places = np.empty(0, np.int64)
    for _ in range(2):  # counted first: as a rule there are none
        found = 0
        for i in range(count):
            kind = stream.key[i] & (KINDS - 1)
            if kind == WRITTEN_INTEGER or kind == WRITTEN_FLOAT:
                if found < places.size:
                    places[found] = i
                found += 1
        if found == places.size:
            break
        places = np.empty(found, np.int64)
    return places


class OrderedCells(NamedTuple):
    """The cells of key k are start[k] : start[k + 1]."""

    start: Longs
    row: Ints
    place: Longs
    low: Longs


@kernel
def ordered(stream: CellStream, count: int, fields: int) -> OrderedCells:
    """The cells by key, those of a key in the order they were found."""
    start = np.zeros(fields * KINDS + 2, np.int64)
    for i in range(count):
        start[stream.key[i] + 2] += 1  # what counts no more is counted in front
    start[1] = 0
    for key in range(2, start.size):
        start[key] += start[key - 1]
    used = start[start.size - 1]
    row = np.empty(used, np.int32)
    place = np.empty(used, np.int64)
    low = np.empty(used, np.int64)
    for i in range(count):
        key = stream.key[i]
        if key != NOTHING:
            to = start[key + 1]
            start[key + 1] = to + 1
            row[to] = stream.row[i]
            place[to] = stream.place[i]
            low[to] = stream.low[i]
    return OrderedCells(start[:-1], row, place, low)


class FieldTexts(NamedTuple):
    """The different texts of each field, one field's after the other's.

    code    int32[n]    of each text, which of its field's it is
    first   int64[F+1]  field f has the texts first[f] : first[f + 1]
    start   int64[...]  text i is data[start[i] : start[i + 1]]
    data    uint8[...]
    """

    code: Ints
    first: Longs
    start: Longs
    data: Bytes


@kernel
def distinct_by_field(cells: OrderedCells, fields: int, data: Bytes) -> FieldTexts:
    """The texts of STRING cells; eight bytes can be read behind each."""
    most = 0
    total = 0
    for field in range(fields):
        key = field * KINDS + STRING
        size = cells.start[key + 1] - cells.start[key]
        most = max(most, size)
        total += size
    slot = np.empty(slots_for(most), np.int32)
    code = np.empty(total, np.int32)
    found = np.empty(total, np.int64)
    first = np.zeros(fields + 1, np.int64)
    start = np.zeros(total + 1, np.int64)
    count = 0
    done = 0
    for field in range(fields):
        key = field * KINDS + STRING
        begin, upto = cells.start[key], cells.start[key + 1]
        slots = slot[: slots_for(upto - begin)]
        slots[:] = 0
        for i in range(begin, upto):
            prefetch(data, cells.place[min(i + _AHEAD, upto - 1)])
            place, size = cells.place[i], cells.low[i] - cells.place[i]
            at = home(slots, hash_span(data, place, place + size))
            while slots[at] != 0:
                known = np.int64(slots[at]) - 1 + first[field]
                if start[known + 1] - start[known] == size and same_bytes(
                    data, found[known], data, place, size
                ):
                    break
                at = behind(slots, at)
            if slots[at] == 0:
                found[count] = place
                start[count + 1] = start[count] + size
                count += 1
                slots[at] = count - first[field]
            code[done] = slots[at] - 1
            done += 1
        first[field + 1] = count
    return FieldTexts(code, first, start[: count + 1].copy(), gathered(data, found, start, count))


@kernel
def gathered(data: Bytes, place: Longs, start: Longs, count: int) -> Bytes:
    """The first pieces, from these places, put side by side; eight bytes can be read behind each."""
    texts = np.empty(start[count] + 8, np.uint8)
    for i in range(count):
        at = place[i]
        for to in range(start[i], start[i + 1], 8):
            move_word(texts, to, data, at)
            at += 8
    return texts[: start[count]]


@kernel
def texts_of_rows(rows: int, row: Ints, place: Longs, end: Longs, data: Bytes) -> tuple[Longs, Bytes]:
    """Starts and bytes of one text for each row, empty where there is none; `row` is ascending."""
    at = np.zeros(rows, np.int64)
    start = np.zeros(rows + 1, np.int64)
    for i in range(row.size):
        at[row[i]] = place[i]
        start[row[i] + 1] = end[i] - place[i]
    for i in range(rows):
        start[i + 1] += start[i]
    return start, gathered(data, at, start, rows)
