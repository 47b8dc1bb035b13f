"""Whether one condition is surely good, asked in microseconds."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.kernels.predicate_parser import (
    BOOLEAN_READING,
    TEXTS,
    read_predicate,
    room_for_predicates,
)
from tocsin.conditions.kernels.skeleton import read_condition, room_for_condition


@kernel
def is_condition(data: Bytes) -> bool:
    """True only when the text is a condition, read whole by the kernels alone, without an alias.

    At most one threshold for free text may stand in it.
    False says nothing: the grammar's parser may still accept the text, and knows what is wrong with it.
    """
    stack = room_for_condition(data.size)
    step = np.empty(data.size + 1, np.int32)
    steps, found = read_condition(data, 0, data.size, stack, step, 0)
    if steps < 0:
        return False
    alias = np.empty(0, np.uint8)
    room = room_for_predicates(data.size, data.size)
    thresholds = 0
    for i in range(found):
        test, kind, _, operands, _, _ = read_predicate(
            data, stack.found_start[i], stack.found_end[i], alias, room, 0, 0, 0
        )
        if test == UNSURE:
            return False
        if kind == TEXTS and operands == 2 and room.operands.low[1] != BOOLEAN_READING:
            thresholds += 1
    return thresholds <= 1
