"""Arithmetic over columns: row by row what the program's functors give, failures included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.datalog.language import Type, Value, functors
from tocsin.datalog.language.syntax import NOWHERE
from tocsin.datalog.machine import Symbols, Variable
from tocsin.datalog.machine.column_arithmetic import worked_out
from tocsin.datalog.machine.normal_form import Call, Constant, Expression, Let, Source
from tocsin.datalog.machine.normal_form import Test as Comparing
from tocsin.datalog.machine.passes.text_work import TextWork, value_of
from tocsin.datalog.machine.symbols import typed_words
from tocsin.datalog.spark.batch.worker_batches import Work, compute, error_of
from tocsin.errors import DerivationError

X, Y, Z, W = (Variable(number) for number in range(4))
VALUES: dict[Type, list[Value]] = {
    Type.NUMBER: [0, 1, -1, 2, 3, -5, 7, 63, 64, 2**62, 2**63 - 1, -(2**63)],
    Type.UNSIGNED: [0, 1, 2, 3, 7, 63, 64, 2**63, 2**64 - 1],
    Type.FLOAT: [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e308, -1e308, 1e-310, float("inf"), float("-inf")],
}
FUNCTORS = {
    kind: sorted(
        name
        for name, row in functors.FUNCTORS.items()
        if kind in row.meaning and functors.is_arithmetic(name, kind)
    )
    for kind in VALUES
}
UNARY = ("neg", "bnot", "lnot")
COMPARED = ("=", "!=", "<", "<=", ">", ">=")


@st.composite
def expressions(draw: st.DrawFn, kind: Type, variables: tuple[Variable, ...], depth: int = 3) -> Expression:
    choice = draw(st.integers(0, 4 if depth else 1))
    if choice == 0:
        return Constant(draw(st.sampled_from(VALUES[kind])))
    if choice == 1:
        return draw(st.sampled_from(variables))
    functor = draw(st.sampled_from(FUNCTORS[kind]))
    most = 1 if functor in UNARY else 3 if functor in ("min", "max") else 2
    inner = expressions(kind, variables, depth - 1)
    count = draw(st.integers(2, most)) if most > 2 else most
    return Call(functor, kind, tuple(draw(inner) for _ in range(count)))


@st.composite
def rows(draw: st.DrawFn, kind: Type) -> list[tuple[Value, Value]]:
    values = st.sampled_from(VALUES[kind])
    return draw(st.lists(st.tuples(values, values), min_size=1, max_size=12))


@given(st.data(), st.sampled_from(sorted(VALUES, key=lambda kind: kind.value)))
@settings(max_examples=150, deadline=None)
def test_a_column_is_what_each_row_is(data: st.DataObject, kind: Type) -> None:
    given_rows = data.draw(rows(kind))
    expression = data.draw(expressions(kind, (X, Y)))
    columns = {
        variable: np.array([Symbols().word(row[place], kind) for row in given_rows], np.int64)
        for place, variable in enumerate((X, Y))
    }
    outcome = worked_out(columns, len(given_rows), [Let(Z, expression, kind)], [])
    assert outcome.rows.tolist() == list(range(len(given_rows)))
    words, failed = outcome.computed[Z]
    numbers = typed_words(words, kind)
    for place, (x, y) in enumerate(given_rows):
        try:
            value: Value | None = value_of(expression, {X: x, Y: y})
        except DerivationError:
            value = None
        assert (None if failed[place] else numbers[place].item()) == value
        assert value != 0.0 or kind is not Type.FLOAT or str(numbers[place]) == "0.0"
    assert outcome.failed.tolist() == failed.tolist()


@given(st.data(), st.sampled_from(sorted(VALUES, key=lambda kind: kind.value)))
@settings(max_examples=100, deadline=None)
def test_rows_that_fail_are_those_where_all_else_holds(data: st.DataObject, kind: Type) -> None:
    given_rows = data.draw(rows(kind))
    lets = (
        Let(Z, data.draw(expressions(kind, (X, Y))), kind),
        Let(W, data.draw(expressions(kind, (X, Z), 1)), kind),
    )
    operator = st.sampled_from(COMPARED)
    sides = expressions(kind, (X, Y, Z, W), 1)
    tests = tuple(
        Comparing(data.draw(operator), data.draw(sides), data.draw(sides), kind)
        for _ in range(data.draw(st.integers(0, 2)))
    )
    source = Source("the rule", NOWHERE)
    work = Work(((X, kind), (Y, kind)), lets, tests, source)
    (found,) = compute(work, [_batch(given_rows, kind)])
    wanted: list[tuple[Any, ...]] = []
    one_by_one = TextWork((X, Y), (*lets, *tests), (X, Y, Z, W), source)
    for row in given_rows:
        try:
            wanted += [(*image, None) for image in one_by_one(row)]
        except DerivationError as error:
            wanted.append((*row, str(error)))
    got: list[tuple[Any, ...]] = []
    for x, y, z, w, failure in zip(*(column.to_pylist() for column in found.columns), strict=True):
        values = [_read(value, kind) for value in (x, y, z, w)]
        got.append((*values, None) if failure is None else (*values[:2], str(error_of(failure))))
    assert got == wanted


def _batch(given_rows: list[tuple[Value, Value]], kind: Type) -> pa.RecordBatch:
    arrays = []
    for place in range(2):
        words = np.array([Symbols().word(row[place], kind) for row in given_rows], np.int64)
        arrays.append(pa.array(words.view(np.float64) if kind is Type.FLOAT else words))
    return pa.RecordBatch.from_arrays(arrays, names=["v0", "v1"])


def _read(value: Any, kind: Type) -> Any:
    return value + 2**64 if kind is Type.UNSIGNED and value is not None and value < 0 else value


def test_texts_pass_by_and_no_column_is_fine() -> None:
    source = Source("r", NOWHERE)
    texts = pa.RecordBatch.from_arrays([pa.array(["a", "b"]), pa.array([1, 0])], names=["v0", "v1"])
    work = Work(
        ((X, Type.SYMBOL), (Y, Type.NUMBER)),
        (Let(Z, Call("/", Type.NUMBER, (Constant(6), Y)), Type.NUMBER),),
        (),
        source,
    )
    (found,) = compute(work, [texts])
    assert found.column("v0").to_pylist() == ["a", "b"]
    assert found.column("v2").to_pylist() == [6, None]
    assert [each and error_of(each).reason for each in found.column("failure").to_pylist()] == [
        None,
        "division by zero",
    ]
    alone = Work((), (Let(Z, Call("+", Type.NUMBER, (Constant(2), Constant(3))), Type.NUMBER),), (), source)
    (found,) = compute(alone, [pa.RecordBatch.from_arrays([pa.array([0, 0, 0])], names=["row"])])
    assert found.column("v2").to_pylist() == [5, 5, 5]
