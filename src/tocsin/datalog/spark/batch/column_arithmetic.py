"""Expressions of numbers over whole columns, in a worker, by the rows of language/functors.py.

    number   int64        unsigned   uint64        float   float64

A row that an expression has no value for is marked as failed, and what its value is then means nothing. As
everywhere, whatever needs a value that there is none of is taken to hold: such a row fails if all else holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.datalog.language import functors
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import Constant, Expression, Let, Test, Variable

Numbers = NDArray[Any]
Failed = Flags

DTYPES: dict[Type, Any] = {Type.NUMBER: np.int64, Type.UNSIGNED: np.uint64, Type.FLOAT: np.float64}


class Values(NamedTuple):
    """A column of numbers, and for which rows there is none."""

    numbers: Numbers
    failed: Failed


class Outcome(NamedTuple):
    """The rows that satisfy all tests, what is computed for them, and which of them fail."""

    rows: Longs
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
            holds &= functors.COMPARISONS[test.operator].holds(left.numbers, right.numbers) | missing
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
    row = functors.FUNCTORS[functor]
    failed = np.logical_or.reduce([operand.failed for operand in operands])
    numbers = [operand.numbers for operand in operands]
    if row.column is None:
        raise AssertionError(f"{functor} is not arithmetic")
    if row.undefined is not None:
        failed = failed | row.undefined(*numbers)
    result = row.column(*numbers)
    if kind is Type.FLOAT:
        result = result + 0.0
        failed = failed | np.isnan(result)
    return Values(result.astype(DTYPES[kind], copy=False), failed)
