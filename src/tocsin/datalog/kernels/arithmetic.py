"""Arithmetic on words: what a rule computes and compares.

An expression is in postfix order: CONSTANT word, REGISTER number, or an operation on the last one or two
operands, FIRST_OPERATION + 3 * functor + kind. A comparison gives 1 or 0. Numbers and unsigned wrap at 64
bits; a float is its bits, never -0.0 and never NaN: what would be NaN fails, as does a division by zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.memory_table import words

CONSTANT, REGISTER, FIRST_OPERATION = range(3)

NUMBER, UNSIGNED, FLOAT = range(3)

ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, POWER, LEAST, GREATEST, BIT_AND, BIT_OR, BIT_XOR = range(11)
SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_ZEROS, BOTH, EITHER, ONE_OF = range(11, 17)
EQUAL, DIFFERENT, LESS, AT_MOST, GREATER, AT_LEAST, NEGATE, BIT_NOT, NOT = range(17, 26)
FIRST_UNARY = NEGATE


@bare_kernel
def evaluate(table: Longs, start: int, end: int) -> int:
    """Work out an expression; its value is OPERANDS[0]. Returns why there is none, or GOES_ON."""
    expressions, registers = words(table, layout.EXPRESSIONS), words(table, layout.REGISTERS)
    operands = words(table, layout.OPERANDS)
    top = 0
    while start < end:
        code = expressions[start]
        if code == CONSTANT:
            operands[top] = expressions[start + 1]
            top += 1
            start += 2
        elif code == REGISTER:
            operands[top] = registers[expressions[start + 1]]
            top += 1
            start += 2
        else:
            functor, kind = (code - FIRST_OPERATION) // 3, (code - FIRST_OPERATION) % 3
            if functor < FIRST_UNARY:
                top -= 1
            if kind == NUMBER:
                failure = on_numbers(operands, top - 1, functor)
            elif kind == UNSIGNED:
                failure = on_unsigned(operands, top - 1, functor)
            else:
                failure = on_floats(operands, top - 1, functor)
            if failure != layout.GOES_ON:
                return failure
            start += 1
    return layout.GOES_ON


@inner_kernel
def _compares(a: Any, b: Any, functor: int) -> bool:
    """Whether a comparison holds between two values of the same type."""
    return (
        (functor == EQUAL and a == b)
        or (functor == DIFFERENT and a != b)
        or (functor == LESS and a < b)
        or (functor == AT_MOST and a <= b)
        or (functor == GREATER and a > b)
        or (functor == AT_LEAST and a >= b)
    )


@bare_kernel
def on_numbers(operands: Longs, at: int, functor: int) -> int:
    """Replace operands[at] by what the functor makes of it, and of the next one if it takes two."""
    a, b = operands[at], operands[at + 1]
    result = np.int64(0)
    if EQUAL <= functor <= AT_LEAST:
        result = np.int64(_compares(a, b, functor))
    elif functor == DIVIDE or functor == REMAINDER:
        if b == 0:
            return layout.DIVISION_BY_ZERO
        if b == -1:
            result = -a if functor == DIVIDE else np.int64(0)
        else:
            quotient = a // b
            if quotient < 0 and quotient * b != a:
                quotient += 1
            result = quotient if functor == DIVIDE else a - quotient * b
    elif functor == POWER and b < 0:
        if a == 0:
            return layout.DIVISION_BY_ZERO
        result = np.int64(1) if a == 1 or (a == -1 and b & 1 == 0) else np.int64(-1 if a == -1 else 0)
    elif functor == LEAST:
        result = min(a, b)
    elif functor == GREATEST:
        result = max(a, b)
    elif functor == SHIFT_RIGHT:
        result = a >> (b & 63)
    else:
        result = _on_bits(a, b, functor)
    operands[at] = result
    return layout.GOES_ON


@bare_kernel
def on_unsigned(operands: Longs, at: int, functor: int) -> int:
    """The same of unsigned."""
    a, b = np.uint64(operands[at]), np.uint64(operands[at + 1])
    result = np.int64(0)
    if EQUAL <= functor <= AT_LEAST:
        result = np.int64(_compares(a, b, functor))
    elif functor == DIVIDE or functor == REMAINDER:
        if b == 0:
            return layout.DIVISION_BY_ZERO
        result = np.int64(a // b) if functor == DIVIDE else np.int64(a % b)
    elif functor == LEAST:
        result = np.int64(min(a, b))
    elif functor == GREATEST:
        result = np.int64(max(a, b))
    elif functor == SHIFT_RIGHT:
        result = np.int64(a >> (b & np.uint64(63)))
    else:
        result = _on_bits(operands[at], operands[at + 1], functor)
    operands[at] = result
    return layout.GOES_ON


@bare_kernel
def _on_bits(a: int, b: int, functor: int) -> int:
    """Operations that do the same to the bits of a number and of an unsigned."""
    if functor == ADD:
        return a + b
    if functor == SUBTRACT:
        return a - b
    if functor == MULTIPLY:
        return a * b
    if functor == POWER:
        return _power(a, np.uint64(b))
    if functor == BIT_AND:
        return a & b
    if functor == BIT_OR:
        return a | b
    if functor == BIT_XOR:
        return a ^ b
    if functor == SHIFT_LEFT:
        return a << (b & 63)
    if functor == SHIFT_RIGHT_ZEROS:
        return np.int64(np.uint64(a) >> np.uint64(b & 63))
    if functor == BOTH:
        return np.int64(a != 0 and b != 0)
    if functor == EITHER:
        return np.int64(a != 0 or b != 0)
    if functor == ONE_OF:
        return np.int64((a != 0) != (b != 0))
    if functor == NEGATE:
        return -a
    if functor == BIT_NOT:
        return ~a
    return np.int64(a == 0)


@bare_kernel
def _power(base: int, exponent: np.uint64) -> int:
    result = np.int64(1)
    while exponent:
        if exponent & np.uint64(1):
            result *= base
        base *= base
        exponent >>= np.uint64(1)
    return result


@bare_kernel
def on_floats(operands: Longs, at: int, functor: int) -> int:
    """The same of floats."""
    a, b = np.int64(operands[at]).view(np.float64), np.int64(operands[at + 1]).view(np.float64)
    if EQUAL <= functor <= AT_LEAST:
        operands[at] = np.int64(_compares(a, b, functor))
        return layout.GOES_ON
    result = -a
    if functor == ADD:
        result = a + b
    elif functor == SUBTRACT:
        result = a - b
    elif functor == MULTIPLY:
        result = a * b
    elif functor == DIVIDE:
        if b == 0:
            return layout.DIVISION_BY_ZERO
        result = a / b
    elif functor == POWER:
        if a == 0 and b < 0:
            return layout.DIVISION_BY_ZERO
        result = a**b
    elif functor == LEAST:
        result = min(a, b)
    elif functor == GREATEST:
        result = max(a, b)
    if result != result:
        return layout.NOT_A_NUMBER
    operands[at] = np.float64(result + 0.0).view(np.int64)
    return layout.GOES_ON
