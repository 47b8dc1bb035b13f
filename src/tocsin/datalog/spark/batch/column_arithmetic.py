"""Expressions of numbers over whole columns, in a worker: the same results as functors.py gives one by one.

    number   int64        unsigned   uint64        float   float64

A row that an expression has no value for is marked as failed, and what its value is then means nothing. As
everywhere, whatever needs a value that there is none of is taken to hold: such a row fails if all else holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.datalog.language import functors
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import Constant, Expression, Let, Test, Variable
from tocsin.errors import DerivationError

Numbers = NDArray[Any]
Failed = NDArray[np.bool_]

DTYPES: dict[Type, Any] = {Type.NUMBER: np.int64, Type.UNSIGNED: np.uint64, Type.FLOAT: np.float64}

_BITS = 64


class Values(NamedTuple):
    """A column of numbers, and for which rows there is none."""

    numbers: Numbers
    failed: Failed


class Outcome(NamedTuple):
    """The rows that satisfy all tests, what is computed for them, and which of them fail."""

    rows: NDArray[np.int64]
    computed: dict[Variable, Values]
    failed: Failed


def worked_out(
    columns: Mapping[Variable, Numbers], count: int, lets: Sequence[Let], tests: Sequence[Test]
) -> Outcome:
    """Work out lets, which come in an order in which they can be, and tests, over `count` rows."""
    none = np.zeros(count, np.bool_)
    known = {variable: Values(numbers, none) for variable, numbers in columns.items()}
    holds = np.ones(count, np.bool_)
    failed = none.copy()
    with np.errstate(all="ignore"):
        for let in lets:
            value = known[let.variable] = _value(let.expression, let.type, known, count)
            failed |= value.failed
        for test in tests:
            left = _value(test.left, test.type, known, count)
            right = _value(test.right, test.type, known, count)
            missing = left.failed | right.failed
            failed |= missing
            holds &= functors.COMPARISONS[test.operator](left.numbers, right.numbers) | missing
    rows = np.flatnonzero(holds)
    computed = {let.variable: Values(*(part[rows] for part in known[let.variable])) for let in lets}
    return Outcome(rows, computed, failed[rows])


def _value(expression: Expression, kind: Type, known: Mapping[Variable, Values], count: int) -> Values:
    """An expression by its parts, the innermost first; a functor of many operands is done two by two."""
    done: list[Values] = []
    waiting: list[tuple[Expression, Type] | tuple[str, Type, int]] = [(expression, kind)]
    while waiting:
        part = waiting.pop()
        if len(part) == 3:
            functor, operand_kind, width = part
            operands = done[-width:]
            del done[-width:]
            done.append(_applied(functor, operand_kind, operands))
            continue
        term, term_kind = part
        if isinstance(term, Variable):
            done.append(known[term])
        elif isinstance(term, Constant):
            number = np.array(term.value, DTYPES[term_kind])
            done.append(Values(np.broadcast_to(number, count), np.zeros(count, np.bool_)))
        else:
            first, *others = ((operand, term.type) for operand in term.operands)
            if not others:
                waiting.append((term.functor, term.type, 1))
            for other in reversed(others):
                waiting += [(term.functor, term.type, 2), other]
            waiting.append(first)
    return done[0]


def _applied(functor: str, kind: Type, operands: Sequence[Values]) -> Values:
    failed = np.logical_or.reduce([operand.failed for operand in operands])
    numbers = [operand.numbers for operand in operands]
    if kind is Type.FLOAT and functor == "^":
        powers = _one_by_one(functor, kind, numbers)
        return Values(powers.numbers, powers.failed | failed)
    if functor in ("/", "%", "^"):
        failed = failed | _has_none(functor, *numbers)
    result = (_ON_FLOATS if kind is Type.FLOAT else _ON_INTEGERS)[functor](*numbers)
    if kind is Type.FLOAT:
        result = result + 0.0
        failed = failed | np.isnan(result)
    return Values(result.astype(DTYPES[kind], copy=False), failed)


def _has_none(functor: str, left: Numbers, right: Numbers) -> Failed:
    """Where a division or a power has no value."""
    if functor != "^":
        return np.equal(right, 0)
    return np.equal(left, 0) & np.less(right, 0)


def _one_by_one(functor: str, kind: Type, numbers: Sequence[Numbers]) -> Values:
    """A functor whose last bits depend on the library that works it out: the one that all else uses."""
    results = np.zeros(numbers[0].size, DTYPES[kind])
    failed = np.zeros(numbers[0].size, np.bool_)
    for row, operands in enumerate(zip(*(column.tolist() for column in numbers), strict=True)):
        try:
            results[row] = functors.apply(functor, kind, operands)
        except DerivationError:
            failed[row] = True
    return Values(results, failed)


def _quotient(left: Numbers, right: Numbers) -> Numbers:
    """Truncated, where numpy rounds down. The least number by -1 wraps to itself, as its negation does."""
    if left.dtype == np.uint64:
        whole: Numbers = left // np.where(right == 0, np.uint64(1), right)
        return whole
    divisor = np.where((right == 0) | (right == -1), np.int64(1), right)
    quotient = left // divisor
    quotient += (quotient < 0) & (quotient * divisor != left)
    return np.where(right == -1, -left, quotient)


def _remainder(left: Numbers, right: Numbers) -> Numbers:
    rest: Numbers = left - right * _quotient(left, right)
    return rest


def _power(base: Numbers, exponent: Numbers) -> Numbers:
    """By squaring, which wraps as multiplying again and again does; a negative exponent gives a quotient."""
    left = exponent.view(np.uint64).copy()
    square = base.copy()
    result = np.ones(base.size, base.dtype)
    while left.any():
        result = np.where(left & np.uint64(1), result * square, result)
        square = square * square
        left >>= np.uint64(1)
    if base.dtype == np.uint64:
        return result
    sign = np.where(exponent & 1, base, 1)
    return np.where(exponent >= 0, result, np.where(np.abs(base) == 1, sign, 0))


def _shifted(shift: Callable[[Numbers, Numbers], Numbers]) -> Callable[[Numbers, Numbers], Numbers]:
    """A shift by the last six bits of how far."""
    return lambda value, by: shift(value, by & by.dtype.type(_BITS - 1))


def _zeros_shifted_in(value: Numbers, by: Numbers) -> Numbers:
    shifted = value.view(np.uint64) >> (by.view(np.uint64) & np.uint64(_BITS - 1))
    return shifted.view(value.dtype)


_ON_INTEGERS: dict[str, Callable[..., Numbers]] = {
    "neg": np.negative,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": _quotient,
    "%": _remainder,
    "^": _power,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "bnot": np.invert,
    "bshl": _shifted(np.left_shift),
    "bshr": _shifted(np.right_shift),
    "bshru": _zeros_shifted_in,
    "land": np.logical_and,
    "lor": np.logical_or,
    "lxor": np.logical_xor,
    "lnot": np.logical_not,
    "min": np.minimum,
    "max": np.maximum,
}
_ON_FLOATS: dict[str, Callable[..., Numbers]] = {
    "neg": np.negative,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": lambda left, right: left / np.where(right == 0, 1.0, right),
    "min": np.minimum,
    "max": np.maximum,
}
