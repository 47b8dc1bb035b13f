"""Whether one condition is surely good, asked in microseconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.kernels.predicate_parser import BOOLEAN_READING, TEXTS, read_predicate
from tocsin.conditions.kernels.skeleton import read_condition
from tocsin.text.kernels.query_parser import room_to_write


@kernel
def is_condition(data: NDArray[np.uint8]) -> bool:
    """True only when the text is a condition, read whole by the kernels alone, without an alias.

    At most one threshold for free text may stand in it.
    False says nothing: the grammar's parser may still accept the text, and knows what is wrong with it.
    """
    room = data.size + 1
    start = np.empty(room, np.int64)
    end = np.empty(room, np.int64)
    step = np.empty(room, np.int32)
    steps, found = read_condition(
        data, 0, data.size, np.empty(room, np.uint8), np.empty(room, np.int32), step, 0, start, end
    )
    if steps < 0:
        return False
    alias = np.empty(0, np.uint8)
    high = np.empty(room, np.int64)
    doubles = high.view(np.float64)
    low = np.empty(room, np.int64)
    text = np.empty(room, np.uint8)
    path = np.empty(room, np.uint8)
    spare = np.empty(room, np.uint8)
    writing = room_to_write(room, room)
    thresholds = 0
    for i in range(found):
        test, kind, _, operands, _, _ = read_predicate(
            data, start[i], end[i], alias, high, doubles, low, 0, text, 0, path, 0, spare, writing
        )
        if test == UNSURE:
            return False
        if kind == TEXTS and operands == 2 and low[1] != BOOLEAN_READING:
            thresholds += 1
    return thresholds <= 1
