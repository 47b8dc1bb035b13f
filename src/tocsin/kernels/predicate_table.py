"""The distinct predicates of a rule set, each once, as arrays.

Two predicates are one leaf when their fields, tests, kinds, operands and texts are equal: found by
hash, confirmed by comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.predicates import Form, Room, read_predicate, room_for_predicates
from tocsin.kernels.values import UNSURE

LEAVES = 0
OPERANDS = 1
TEXT = 2
FIELDS = 3
PATH = 4


class PredicateTable(NamedTuple):
    """Predicates in canonical form; predicate l is leaf l. Arrays have room to spare.

    size             int64[5]     leaves, operands, bytes of text, fields, bytes of path in use
    field            int32[L]
    test             uint8[L]     EQ ... CIDR of kernels.predicates
    kind             uint8[L]     a Kind, or NULLS
    operand_start    int64[L+1]   operands of leaf l: operand_start[l] ... operand_start[l+1]
    operand_high     int64[O]     a key, two for each range of a cidr; for a string 0 and how many of
    operand_low      int64[O]         the leaf's bytes it takes, from left to right
    text_start       int64[L+1]   bytes of leaf l: text[text_start[l] : text_start[l+1]]
    text             uint8[...]       its strings; or, where keys do not tell numbers apart, its
                                      numbers as written
    hash             uint64[L]
    slot             int32[2^k]   open addressing: leaf, or -1; at most half full
    path_start       int64[F+1]   names of field f, with 255 between them:
    path             uint8[...]       path[path_start[f] : path_start[f+1]]
    path_slot        int32[2^k]   open addressing: field, or -1; at most half full
    """

    size: NDArray[np.int64]
    field: NDArray[np.int32]
    test: NDArray[np.uint8]
    kind: NDArray[np.uint8]
    operand_start: NDArray[np.int64]
    operand_high: NDArray[np.int64]
    operand_low: NDArray[np.int64]
    text_start: NDArray[np.int64]
    text: NDArray[np.uint8]
    hash: NDArray[np.uint64]
    slot: NDArray[np.int32]
    path_start: NDArray[np.int64]
    path: NDArray[np.uint8]
    path_slot: NDArray[np.int32]


@kernel
def _hash_bytes(value: np.uint64, data: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    for i in range(start, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@kernel
def _same(a: NDArray[np.uint8], a_start: int, b: NDArray[np.uint8], size: int) -> bool:
    for i in range(size):
        if a[a_start + i] != b[i]:
            return False
    return True


@kernel
def _field_number(
    size: NDArray[np.int64],
    path_start: NDArray[np.int64],
    path: NDArray[np.uint8],
    slots: NDArray[np.int32],
    wanted: NDArray[np.uint8],
    length: int,
) -> int:
    """The number of the field wanted[:length]."""
    mask = np.int64(slots.size - 1)
    slot = np.int64(_hash_bytes(np.uint64(14695981039346656037), wanted, 0, length) & np.uint64(mask))
    while slots[slot] >= 0:
        known = slots[slot]
        begin = path_start[known]
        if path_start[known + 1] - begin == length and _same(path, begin, wanted, length):
            return known
        slot = (slot + 1) & mask
    field = size[FIELDS]
    begin = size[PATH]
    for i in range(length):
        path[begin + i] = wanted[i]
    path_start[field + 1] = begin + length
    slots[slot] = field
    size[FIELDS] = field + 1
    size[PATH] = begin + length
    return field


@kernel
def _hash_form(field: int, form: Form, room: Room) -> np.uint64:
    value = np.uint64(field) * np.uint64(0x9E3779B97F4A7C15)
    value ^= np.uint64(form.test * 256 + form.kind)
    for i in range(form.count):
        value = (value ^ np.uint64(room.operands.high[i])) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
        value = (value ^ np.uint64(room.operands.low[i])) * np.uint64(0xC4CEB9FE1A85EC53)
        value ^= value >> np.uint64(29)
    return _hash_bytes(value, room.operands.text, 0, form.text)


@kernel
def _is_leaf(table: PredicateTable, leaf: int, field: int, form: Form, room: Room) -> bool:
    """Whether a leaf is the predicate in the room."""
    if table.field[leaf] != field or table.test[leaf] != form.test or table.kind[leaf] != form.kind:
        return False
    first = table.operand_start[leaf]
    if table.operand_start[leaf + 1] - first != form.count:
        return False
    for i in range(form.count):
        if (
            table.operand_high[first + i] != room.operands.high[i]
            or table.operand_low[first + i] != room.operands.low[i]
        ):
            return False
    begin = table.text_start[leaf]
    if table.text_start[leaf + 1] - begin != form.text:
        return False
    return _same(table.text, begin, room.operands.text, form.text)


@kernel
def intern_predicate(table: PredicateTable, form: Form, room: Room) -> int:
    """The leaf of the predicate in the room, for which the table has room, too."""
    field = _field_number(table.size, table.path_start, table.path, table.path_slot, room.path, form.path)
    value = _hash_form(field, form, room)
    mask = np.int64(table.slot.size - 1)
    slot = np.int64(value & np.uint64(mask))
    while table.slot[slot] >= 0:
        known = table.slot[slot]
        if table.hash[known] == value and _is_leaf(table, known, field, form, room):
            return known
        slot = (slot + 1) & mask
    leaf = table.size[LEAVES]
    first = table.size[OPERANDS]
    begin = table.size[TEXT]
    for i in range(form.count):
        table.operand_high[first + i] = room.operands.high[i]
        table.operand_low[first + i] = room.operands.low[i]
    for i in range(form.text):
        table.text[begin + i] = room.operands.text[i]
    table.field[leaf] = field
    table.test[leaf] = form.test
    table.kind[leaf] = form.kind
    table.operand_start[leaf + 1] = first + form.count
    table.text_start[leaf + 1] = begin + form.text
    table.hash[leaf] = value
    table.slot[slot] = leaf
    table.size[LEAVES] = leaf + 1
    table.size[OPERANDS] = first + form.count
    table.size[TEXT] = begin + form.text
    return leaf


@kernel
def read_predicates(
    table: PredicateTable,
    data: NDArray[np.uint8],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    alias: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Read the predicates data[start[i] : end[i]], for which the table has room.

    For each the reference to it, 2 * (leaf + 1) and one more for the negation, or UNSURE; and for
    each leaf that is new the first predicate that is it.
    """
    longest = 0
    for i in range(start.size):
        longest = max(longest, end[i] - start[i])
    room = room_for_predicates(longest)
    ref = np.full(start.size, UNSURE, np.int32)
    known = table.size[LEAVES]
    first = np.empty(start.size, np.int64)
    for i in range(start.size):
        form = read_predicate(data, start[i], end[i], alias, room)
        if form.test != UNSURE:
            leaves = table.size[LEAVES]
            leaf = intern_predicate(table, form, room)
            ref[i] = 2 * (leaf + 1) + form.negated
            if leaf == leaves:
                first[leaf - known] = i
    return ref, first[: table.size[LEAVES] - known].copy()


@kernel
def place_in_slots(hashes: NDArray[np.uint64], slot: NDArray[np.int32]) -> None:
    """Fill empty slots with the numbers 0, 1, ... of different things that have these hashes."""
    mask = np.int64(slot.size - 1)
    for number in range(hashes.size):
        at = np.int64(hashes[number] & np.uint64(mask))
        while slot[at] >= 0:
            at = (at + 1) & mask
        slot[at] = number


@kernel
def hash_paths(path_start: NDArray[np.int64], path: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hashes of fields, as they are looked up."""
    hashes = np.empty(path_start.size - 1, np.uint64)
    for field in range(hashes.size):
        hashes[field] = _hash_bytes(
            np.uint64(14695981039346656037), path, path_start[field], path_start[field + 1]
        )
    return hashes
