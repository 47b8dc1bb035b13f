"""What came to a relation in the last batch, and what went: a net change, copied out in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels.layout import (
    BEFORE,
    CHANGED,
    PRESENT,
    R_ARITY,
    R_BASE,
    R_CHANGED,
    RELATION,
    RELATIONS,
    ROWS,
    STATES,
)
from tocsin.datalog.kernels.memory_table import numbers, words
from tocsin.datalog.kernels.tuple_table import fetch_tuple, find_tuple

_AHEAD = 8
"""So many rows before it is looked for, a row's place is fetched."""


@bare_kernel
def report(table: NDArray[np.int64], relation: int, found: NDArray[np.int64]) -> int:
    """Write the rows that came from the front of `found`, and those that went from its end, backwards.

    The result is how many came, times 2^32, plus how many went. There must be room for all rows that
    were noted: when there is not, the result is -1 - their number, and nothing is written.
    """
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base, arity, count = (
        relations[record + R_BASE],
        relations[record + R_ARITY],
        relations[record + R_CHANGED],
    )
    if count * arity > found.size:
        return -1 - count
    states, changed, rows = (
        numbers(table, base + STATES),
        numbers(table, base + CHANGED),
        words(table, base + ROWS),
    )
    came, went = 0, 0
    for at in range(count):
        number = np.int64(changed[at])
        state = states[number] & (PRESENT | BEFORE)
        if state == PRESENT:
            start = came * arity
            came += 1
        elif state == BEFORE:
            went += 1
            start = found.size - went * arity
        else:
            continue
        for column in range(arity):
            found[start + column] = rows[number * arity + column]
    return (came << 32) + went


@bare_kernel
def find_rows(
    table: NDArray[np.int64], relation: int, rows: NDArray[np.int64], is_there: NDArray[np.bool_]
) -> None:
    """Say of each row, all in one array, whether it is present in a relation."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    states, arity = numbers(table, relations[record + R_BASE] + STATES), relations[record + R_ARITY]
    for i in range(is_there.size):
        fetch_tuple(table, relation, rows, min(i + _AHEAD, is_there.size - 1) * arity)
        number = find_tuple(table, relation, rows, i * arity)
        is_there[i] = number >= 0 and states[number] & PRESENT != 0
