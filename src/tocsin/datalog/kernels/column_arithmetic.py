"""One expression over many rows: step by step, each step for a block of rows."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.arrays.jit import kernel
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.arithmetic import (
    CONSTANT,
    FIRST_OPERATION,
    FIRST_UNARY,
    NUMBER,
    UNSIGNED,
    on_floats,
    on_numbers,
    on_unsigned,
)

_BLOCK = 1024


@kernel
def evaluate_rows(expression: Longs, depth: int, known: Longs, value: Longs, failed: Flags) -> None:
    """The values of an expression, of registers known[r]; what has none is marked as failed.

    `depth` is the room that the expression needs for its operands.
    """
    operands = np.empty(_BLOCK * depth, np.int64)
    for first in range(0, value.size, _BLOCK):
        rows = min(_BLOCK, value.size - first)
        top = 0
        at = 0
        while at < expression.size:
            code = expression[at]
            if code < FIRST_OPERATION:
                word = expression[at + 1]
                for row in range(rows):
                    operands[row * depth + top] = word if code == CONSTANT else known[word, first + row]
                top += 1
                at += 2
                continue
            functor, kind = (code - FIRST_OPERATION) // 3, (code - FIRST_OPERATION) % 3
            top -= functor < FIRST_UNARY
            at += 1
            for row in range(rows):
                place = row * depth + top - 1
                if kind == NUMBER:
                    failure = on_numbers(operands, place, functor)
                elif kind == UNSIGNED:
                    failure = on_unsigned(operands, place, functor)
                else:
                    failure = on_floats(operands, place, functor)
                failed[first + row] |= failure != layout.GOES_ON
        for row in range(rows):
            value[first + row] = operands[row * depth]
