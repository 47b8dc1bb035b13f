"""Tuples of a relation, found by their whole row; and what came to it and went in the last batch."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Flags, Longs
from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.row_table import find_row, forget_row, hash_row
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.memory_table import numbers, relation_record, words

_AHEAD = 8
"""So many rows before it is looked for, a row's place is fetched."""


@bare_kernel
def find_tuple(table: Longs, relation: int, row: Longs, start: int) -> int:
    """The number of the tuple with this row, or -1 - the free place of the hash table it would have."""
    record = relation_record(table, relation)
    base, arity = record[layout.R_BASE], record[layout.R_ARITY]
    rows, hashed = words(table, base + layout.ROWS), numbers(table, base + layout.HASHED)
    return find_row(rows, arity, row, start, hashed)


@bare_kernel
def fetch_tuple(table: Longs, relation: int, row: Longs, start: int) -> None:
    """Have the place on its way from memory where `find_tuple` will look first."""
    record = relation_record(table, relation)
    hashed = numbers(table, record[layout.R_BASE] + layout.HASHED)
    mixed = hash_row(row, start, record[layout.R_ARITY])
    prefetch(hashed, np.int64(mixed & np.uint64(hashed.size - 1)))


@bare_kernel
def add_tuple(table: Longs, relation: int, row: Longs, start: int, place: int) -> int:
    """Keep a row that `find_tuple` did not find, at the free place that it gave; there must be room."""
    record = relation_record(table, relation)
    base, arity = record[layout.R_BASE], record[layout.R_ARITY]
    rows = words(table, base + layout.ROWS)
    counts, states = numbers(table, base + layout.COUNTS), numbers(table, base + layout.STATES)
    number = record[layout.R_FREE] - 1
    if number >= 0:
        record[layout.R_FREE] = counts[number]
    else:
        number = record[layout.R_SIZE]
        record[layout.R_SIZE] = number + 1
    for column in range(arity):
        rows[number * arity + column] = row[start + column]
    counts[number] = 0
    states[number] = 0
    numbers(table, base + layout.HASHED)[place] = np.int32(number + 1)
    return number


@bare_kernel
def remove_tuple(table: Longs, relation: int, number: int) -> None:
    """Forget a tuple; its number is free for another. The state of a free number is negative."""
    record = relation_record(table, relation)
    base, arity = record[layout.R_BASE], record[layout.R_ARITY]
    forget_row(words(table, base + layout.ROWS), arity, number, numbers(table, base + layout.HASHED))
    numbers(table, base + layout.COUNTS)[number] = np.int32(record[layout.R_FREE])
    numbers(table, base + layout.STATES)[number] = -1
    record[layout.R_FREE] = number + 1


@bare_kernel
def touch_tuple(table: Longs, relation: int, number: int) -> None:
    """Have a tuple looked at, and remember whether it was present when the batch began."""
    record = relation_record(table, relation)
    base = record[layout.R_BASE]
    states = numbers(table, base + layout.STATES)
    if states[number] & layout.QUEUED == 0:
        numbers(table, base + layout.PENDING)[record[layout.R_PENDING]] = np.int32(number)
        record[layout.R_PENDING] += 1
        states[number] |= layout.QUEUED
    note_tuple(table, relation, number)


@bare_kernel
def note_tuple(table: Longs, relation: int, number: int) -> None:
    """Remember whether a tuple was present when the batch began."""
    record = relation_record(table, relation)
    base = record[layout.R_BASE]
    states = numbers(table, base + layout.STATES)
    state = states[number]
    if state & layout.NOTED == 0:
        numbers(table, base + layout.CHANGED)[record[layout.R_CHANGED]] = np.int32(number)
        record[layout.R_CHANGED] += 1
        state |= layout.NOTED
        if state & layout.PRESENT:
            state |= layout.BEFORE
        if record[layout.R_REPORTED]:
            words(table, layout.CONTROL)[layout.REPORTS] += 1
        states[number] = state


@bare_kernel
def report(table: Longs, relation: int, found: Longs) -> int:
    """Write the rows that came from the front of `found`, and those that went from its end, backwards.

    The result is how many came, times 2^32, plus how many went. There must be room for all rows that
    were noted: when there is not, the result is -1 - their number, and nothing is written.
    """
    record = relation_record(table, relation)
    base, arity, count = record[layout.R_BASE], record[layout.R_ARITY], record[layout.R_CHANGED]
    if count * arity > found.size:
        return -1 - count
    states, changed = numbers(table, base + layout.STATES), numbers(table, base + layout.CHANGED)
    rows = words(table, base + layout.ROWS)
    came, went = 0, 0
    for at in range(count):
        number = np.int64(changed[at])
        state = states[number] & (layout.PRESENT | layout.BEFORE)
        if state == layout.PRESENT:
            start = came * arity
            came += 1
        elif state == layout.BEFORE:
            went += 1
            start = found.size - went * arity
        else:
            continue
        for column in range(arity):
            found[start + column] = rows[number * arity + column]
    return (came << 32) + went


@bare_kernel
def find_tuples(table: Longs, relation: int, rows: Longs, is_there: Flags) -> None:
    """Say of each row, all in one array, whether it is present in a relation."""
    record = relation_record(table, relation)
    states, arity = numbers(table, record[layout.R_BASE] + layout.STATES), record[layout.R_ARITY]
    for i in range(is_there.size):
        fetch_tuple(table, relation, rows, min(i + _AHEAD, is_there.size - 1) * arity)
        number = find_tuple(table, relation, rows, i * arity)
        is_there[i] = number >= 0 and states[number] & layout.PRESENT != 0
