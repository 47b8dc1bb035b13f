"""Predicates as rows: many are read, and equal ones find each other.

Two rows are one predicate when their fields, tests, kinds, operands and texts are equal: found by
hash, confirmed by comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.text_table import hash_span, same_bytes
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.kernels.posting_lists import empty_slots
from tocsin.conditions.kernels.predicate_parser import read_predicate, room_for_predicates

REFUSED = 255
"""The test of a row that is none: whoever reads predicates was not sure of it."""


class PredicateRows(NamedTuple):
    """Predicates in canonical form, in any order, perhaps repeated.

    test            uint8[n]     EQ ... TM_CONTAINS of predicate_parser.py, or REFUSED
    kind            uint8[n]     a Kind, or NULLS, or TEXTS
    negated         uint8[n]     1 when it was written in its negated form
    operand_start   int64[n+1]   operands of row i: operand_start[i] ... operand_start[i+1]
    operand_high    int64[...]   a key, two for each range of a cidr; for a string 0 and how many of
    operand_low     int64[...]       the row's bytes it takes, from left to right; behind a text query
                                     the double's key of its threshold, or 0 and BOOLEAN_READING
    text_start      int64[n+1]   bytes of row i: text[text_start[i] : text_start[i+1]]
    text            uint8[...]       its strings; or, where keys do not tell numbers apart, its
                                     numbers as written
    path_start      int64[n+1]   its field: path[path_start[i] : path_start[i+1]],
    path            uint8[...]       names with BETWEEN_NAMES between them
    """

    test: Bytes
    kind: Bytes
    negated: Bytes
    operand_start: Longs
    operand_high: Longs
    operand_low: Longs
    text_start: Longs
    text: Bytes
    path_start: Longs
    path: Bytes


@kernel
def read_predicates(data: Bytes, start: Longs, end: Longs, alias: Bytes) -> PredicateRows:
    """Read the predicates data[start[i] : end[i]]; a first name that is the alias is left out."""
    count = start.size
    total = 0
    longest = 0
    for i in range(count):
        total += end[i] - start[i]
        longest = max(longest, end[i] - start[i])
    test = np.full(count, REFUSED, np.uint8)
    kind = np.zeros(count, np.uint8)
    negated = np.zeros(count, np.uint8)
    operand_start = np.zeros(count + 1, np.int64)
    text_start = np.zeros(count + 1, np.int64)
    path_start = np.zeros(count + 1, np.int64)
    room = room_for_predicates(total, longest)
    place = 0
    used = 0
    path_used = 0
    for i in range(count):
        found, kind_of_row, is_negated, place, used, path_used = read_predicate(
            data, start[i], end[i], alias, room, place, used, path_used
        )
        if found != UNSURE:
            test[i] = found
            kind[i] = kind_of_row
            negated[i] = is_negated
        operand_start[i + 1] = place
        text_start[i + 1] = used
        path_start[i + 1] = path_used
    high, low = room.operands.high[:place].copy(), room.operands.low[:place].copy()
    text, path = room.operands.text[:used].copy(), room.path[:path_used].copy()
    return PredicateRows(test, kind, negated, operand_start, high, low, text_start, text, path_start, path)


@kernel
def number_rows(rows: PredicateRows, field: Ints) -> tuple[Ints, Longs]:
    """Number the different predicates as they come: each row's number, each number's first row.

    `field` says which path each row has. A refused row has the number UNSURE.
    """
    test, kind, text_start, text = rows.test, rows.kind, rows.text_start, rows.text
    operand_start, high, low = rows.operand_start, rows.operand_high, rows.operand_low
    slot = empty_slots(test.size)
    mask = np.uint64(slot.size - 1)
    number = np.full(test.size, UNSURE, np.int32)
    hashes = np.empty(test.size, np.uint64)
    first = np.empty(test.size, np.int64)
    count = 0
    for row in range(test.size):
        if test[row] == REFUSED:
            continue
        begin = operand_start[row]
        width = operand_start[row + 1] - begin
        text_begin = text_start[row]
        length = text_start[row + 1] - text_begin
        value = hash_span(text, text_begin, text_begin + length)
        value ^= np.uint64(field[row]) * np.uint64(0x9E3779B97F4A7C15)
        value += np.uint64(test[row]) + np.uint64(256) * np.uint64(kind[row])
        for i in range(begin, begin + width):
            value = (value ^ np.uint64(high[i])) * np.uint64(0xFF51AFD7ED558CCD)
            value ^= value >> np.uint64(32)
            value = (value ^ np.uint64(low[i])) * np.uint64(0xC4CEB9FE1A85EC53)
            value ^= value >> np.uint64(32)
        at = np.int64(value & mask)
        while slot[at] >= 0:
            known = first[slot[at]]
            if (
                hashes[slot[at]] == value
                and field[known] == field[row]
                and test[known] == test[row]
                and kind[known] == kind[row]
                and operand_start[known + 1] - operand_start[known] == width
                and text_start[known + 1] - text_start[known] == length
            ):
                same = True
                other = operand_start[known]
                for i in range(width):
                    if high[other + i] != high[begin + i] or low[other + i] != low[begin + i]:
                        same = False
                if same and same_bytes(text, text_start[known], text, text_begin, length):
                    break
            at = np.int64(np.uint64(at + 1) & mask)
        if slot[at] < 0:
            slot[at] = count
            hashes[count] = value
            first[count] = row
            count += 1
        number[row] = slot[at]
    return number, first[:count].copy()
