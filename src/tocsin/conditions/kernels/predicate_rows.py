"""Predicates as rows: many are read.

Two rows are one predicate when their fields, tests, kinds, operands and texts are equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.constants import UNSURE
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
