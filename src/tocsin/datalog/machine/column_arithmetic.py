"""Expressions of numbers over whole columns of words (symbols.py): what Spark's workers compute.

A row that an expression has no value for is marked as failed, and what its value is then means nothing. As
everywhere, whatever needs a value that there is none of is taken to hold: such a row fails if all else holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.datalog.kernels.column_arithmetic import evaluate_rows
from tocsin.datalog.machine.normal_form import Expression, Let, Test, Variable
from tocsin.datalog.machine.partial_expressions import variables_in
from tocsin.datalog.machine.plans import written_expression, written_test
from tocsin.datalog.machine.symbols import Symbols


class Values(NamedTuple):
    """A column of words, and for which rows there is none."""

    words: Longs
    failed: Flags


class Outcome(NamedTuple):
    """The rows that satisfy all tests, what is computed for them, and which of them fail."""

    rows: Longs
    computed: dict[Variable, Values]
    failed: Flags


def worked_out(
    columns: Mapping[Variable, Longs], count: int, lets: Sequence[Let], tests: Sequence[Test]
) -> Outcome:
    """Work out lets, which come in an order in which they can be, and tests, over `count` rows."""
    word_of = Symbols().word
    registers = 1 + max((each.number for each in (*columns, *(let.variable for let in lets))), default=-1)
    known, missing = np.empty((registers, count), np.int64), np.zeros((registers, count), np.bool_)
    for variable, words in columns.items():
        known[variable.number] = words

    def value_of(written: list[int], *parts: Expression) -> Values:
        is_missing = np.asarray(missing[list(variables_in(*parts))].any(axis=0))
        value = Values(np.empty(count, np.int64), is_missing)
        evaluate_rows(np.array(written, np.int64), len(written) + 1, known, *value)
        return value

    holds, failed = np.ones(count, np.bool_), np.zeros(count, np.bool_)
    for let in lets:
        value = value_of(written_expression(let.expression, let.type, word_of), let.expression)
        known[let.variable.number], missing[let.variable.number] = value
        failed |= value.failed
    for test in tests:
        truth = value_of(written_test(test, word_of), test.left, test.right)
        failed |= truth.failed
        holds &= truth.failed | (truth.words != 0)
    rows = np.flatnonzero(holds)
    numbers = ((let.variable, let.variable.number) for let in lets)
    computed = {variable: Values(known[number, rows], missing[number, rows]) for variable, number in numbers}
    return Outcome(rows, computed, failed[rows])
