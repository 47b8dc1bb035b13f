"""Tuples of a relation, found by their whole row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import prefetch
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.arrays.row_table import forget_row, hash_row
from tocsin.datalog.kernels.layout import (
    BEFORE,
    CHANGED,
    CONTROL,
    COUNTS,
    HASHED,
    NOTED,
    PENDING,
    PRESENT,
    QUEUED,
    R_ARITY,
    R_BASE,
    R_CHANGED,
    R_FREE,
    R_PENDING,
    R_REPORTED,
    R_SIZE,
    RELATION,
    RELATIONS,
    REPORTS,
    ROWS,
    STATES,
)
from tocsin.datalog.kernels.memory_table import numbers, words


@inner_kernel
def same_words(
    left: NDArray[np.int64], left_start: int, right: NDArray[np.int64], right_start: int, width: int
) -> bool:
    """Whether two rows are the same."""
    for column in range(width):
        if left[left_start + column] != right[right_start + column]:
            return False
    return True


@bare_kernel
def find_tuple(table: NDArray[np.int64], relation: int, row: NDArray[np.int64], start: int) -> int:
    """The number of the tuple with this row, or -1 - the free place of the hash table it would have."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base, arity = relations[record + R_BASE], relations[record + R_ARITY]
    rows, hashed = words(table, base + ROWS), numbers(table, base + HASHED)
    mask = hashed.size - 1
    place = np.int64(hash_row(row, start, arity) & np.uint64(mask))
    while hashed[place] != 0:
        found = np.int64(hashed[place]) - 1
        if same_words(rows, found * arity, row, start, arity):
            return found
        place = (place + 1) & mask
    return -1 - place


@bare_kernel
def fetch_tuple(table: NDArray[np.int64], relation: int, row: NDArray[np.int64], start: int) -> None:
    """Have the place on its way from memory where `find_tuple` will look first."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    hashed = numbers(table, relations[record + R_BASE] + HASHED)
    mixed = hash_row(row, start, relations[record + R_ARITY])
    prefetch(hashed, np.int64(mixed & np.uint64(hashed.size - 1)))


@bare_kernel
def add_tuple(table: NDArray[np.int64], relation: int, row: NDArray[np.int64], start: int, place: int) -> int:
    """Keep a row that `find_tuple` did not find, at the free place that it gave; there must be room."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base, arity = relations[record + R_BASE], relations[record + R_ARITY]
    rows, counts, states = (
        words(table, base + ROWS),
        numbers(table, base + COUNTS),
        numbers(table, base + STATES),
    )
    number = relations[record + R_FREE] - 1
    if number >= 0:
        relations[record + R_FREE] = counts[number]
    else:
        number = relations[record + R_SIZE]
        relations[record + R_SIZE] = number + 1
    for column in range(arity):
        rows[number * arity + column] = row[start + column]
    counts[number] = 0
    states[number] = 0
    numbers(table, base + HASHED)[place] = np.int32(number + 1)
    return number


@bare_kernel
def remove_tuple(table: NDArray[np.int64], relation: int, number: int) -> None:
    """Forget a tuple; its number is free for another. The state of a free number is negative."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base, arity = relations[record + R_BASE], relations[record + R_ARITY]
    forget_row(words(table, base + ROWS), arity, number, numbers(table, base + HASHED))
    numbers(table, base + COUNTS)[number] = np.int32(relations[record + R_FREE])
    numbers(table, base + STATES)[number] = -1
    relations[record + R_FREE] = number + 1


@bare_kernel
def touch_tuple(table: NDArray[np.int64], relation: int, number: int) -> None:
    """Have a tuple looked at, and remember whether it was present when the batch began."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base = relations[record + R_BASE]
    states = numbers(table, base + STATES)
    if states[number] & QUEUED == 0:
        numbers(table, base + PENDING)[relations[record + R_PENDING]] = np.int32(number)
        relations[record + R_PENDING] += 1
        states[number] |= QUEUED
    note_tuple(table, relation, number)


@bare_kernel
def note_tuple(table: NDArray[np.int64], relation: int, number: int) -> None:
    """Remember whether a tuple was present when the batch began."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base = relations[record + R_BASE]
    states = numbers(table, base + STATES)
    state = states[number]
    if state & NOTED == 0:
        numbers(table, base + CHANGED)[relations[record + R_CHANGED]] = np.int32(number)
        relations[record + R_CHANGED] += 1
        state |= NOTED
        if state & PRESENT:
            state |= BEFORE
        if relations[record + R_REPORTED]:
            words(table, CONTROL)[REPORTS] += 1
        states[number] = state
