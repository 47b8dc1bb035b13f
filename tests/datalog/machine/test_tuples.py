"""Tuples as words: nothing is lost, nothing that does not fit is taken, and Arrow says the same as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.language import Type
from tocsin.datalog.machine import Symbols, TupleCode
from tocsin.datalog.machine.symbols import Unfit
from tocsin.datalog.machine.tuples import ARROW_TYPES
from tocsin.errors import InputError

VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.NUMBER: st.integers(-(2**63), 2**63 - 1),
    Type.UNSIGNED: st.integers(0, 2**64 - 1),
    Type.FLOAT: st.floats(allow_nan=False),
    Type.SYMBOL: st.text(max_size=5),
}


@st.composite
def typed_tuples(draw: st.DrawFn) -> tuple[list[Type], list[tuple[Any, ...]]]:
    types = draw(st.lists(st.sampled_from(list(Type)), max_size=4))
    return types, draw(st.lists(st.tuples(*(VALUES[kind] for kind in types)), max_size=8))


@given(typed_tuples())
def test_there_and_back(drawn: tuple[list[Type], list[tuple[Any, ...]]]) -> None:
    types, tuples = drawn
    code = TupleCode("r", types, Symbols())
    rows = code.rows(tuples)
    assert rows.shape == (len(tuples), len(types))
    assert code.decode_rows(rows) == tuples
    assert [code.decode(row) for row in rows.tolist()] == tuples
    assert code.decode_rows(code.in_order(rows)) == sorted(tuples)
    assert (code.rows(code.decode_rows(rows)) == rows).all()


@given(typed_tuples(), st.data())
def test_a_table_says_the_same(drawn: tuple[list[Type], list[tuple[Any, ...]]], data: st.DataObject) -> None:
    types, tuples = drawn
    code = TupleCode("r", types, Symbols(), [f"c{place}" for place in range(len(types))])
    rows = code.rows(tuples)
    table = code.table(rows)
    assert table.num_rows == len(tuples)
    assert [field.type for field in table.schema] == [ARROW_TYPES[kind] for kind in types]
    assert table.to_pylist() == [dict(zip(code.columns, each, strict=True)) for each in tuples]
    if types:
        shuffled = table.select(data.draw(st.permutations(code.columns)))
        cut = data.draw(st.integers(0, len(tuples)))
        chunked = pa.concat_tables([shuffled.slice(0, cut), shuffled.slice(cut)])
        assert (code.rows_of_table(chunked) == rows).all()


def test_equal_values_are_equal_words() -> None:
    code = TupleCode("r", [Type.FLOAT, Type.SYMBOL], Symbols())
    assert code.encode((-0.0, "a")) == code.encode((0, "a")) == code.encode((0.0, np.str_("a")))
    assert code.decode(code.encode((-0.0, "a"))) == (0.0, "a")
    assert str(code.decode(code.encode((-0.0, "a")))[0]) == "0.0"
    table = pa.table({"f": [-0.0], "s": ["a"]})
    assert code.rows_of_table(table).tolist() == [list(code.encode((0.0, "a")))]


def test_integers_of_other_libraries() -> None:
    code = TupleCode("r", [Type.NUMBER, Type.UNSIGNED, Type.FLOAT], Symbols())
    assert code.encode((np.int8(-3), np.uint64(2**64 - 1), np.int32(7))) == code.encode((-3, 2**64 - 1, 7.0))


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (Type.NUMBER, True, "an integer from -9223372036854775808 to 9223372036854775807, not True"),
        (Type.NUMBER, 2**63, "an integer from"),
        (Type.NUMBER, 1.0, "an integer from"),
        (Type.NUMBER, "1", "not '1'"),
        (Type.NUMBER, None, "not None"),
        (Type.UNSIGNED, -1, "an integer from 0 to 18446744073709551615, not -1"),
        (Type.UNSIGNED, 2**64, "an integer from 0"),
        (Type.FLOAT, float("nan"), "a float that is not NaN"),
        (Type.FLOAT, 10**400, "as large as this has none"),
        (Type.FLOAT, False, "a float, not False"),
        (Type.FLOAT, "1.0", "a float, not '1.0'"),
        (Type.SYMBOL, 1, "a string, not 1"),
        (Type.SYMBOL, ["a"], "a string, not"),
        (Type.SYMBOL, b"a", "a string, not b'a'"),
        (Type.SYMBOL, "\ud800", "a string without lone surrogates"),
    ],
)
def test_what_does_not_fit(kind: Type, value: object, said: str) -> None:
    symbols = Symbols()
    code = TupleCode("r", [Type.NUMBER, kind], symbols, ["x", "y"])
    with pytest.raises(InputError, match=r"r\.y takes ") as caught:
        code.encode((1, value))
    assert said in str(caught.value)
    assert len(symbols) == 0
    with pytest.raises(Unfit):
        symbols.word(value, kind)


def test_what_is_no_tuple_of_the_relation() -> None:
    code = TupleCode("arc", [Type.NUMBER] * 2, Symbols(), ["x", "y"])
    with pytest.raises(InputError, match=r"arc has 2 columns, and \(1,\) has 1 value"):
        code.encode((1,))
    with pytest.raises(InputError, match="arc: expected a tuple, not 5"):
        code.encode(5)
    with pytest.raises(InputError, match="arc: expected a tuple, not 'ab'"):
        code.encode("ab")
    with pytest.raises(InputError, match="tuple 1: arc has 2 columns"):
        code.rows([(1, 2), (1, 2, 3)])
    assert code.encode([1, 2]) == (1, 2)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": [1], "y": [1], "z": [1]}, "arc has 2 columns, and the table 3 columns"),
        ({"x": [1], "y": [None]}, "arc.y: row 0 has no value"),
        ({"x": [1, 2], "y": [1, None]}, "arc.y: row 1 has no value"),
        ({"x": [1.0], "y": [1]}, "arc.x is number, and the table's column double"),
        ({"x": ["1"], "y": [1]}, "arc.x is number, and the table's column string"),
        ({"x": [True], "y": [1]}, "arc.x is number, and the table's column bool"),
        ({"x": pa.array([0, 2**63], pa.uint64()), "y": [1, 1]}, f"arc.x: row 1 holds {2**63}: out of range"),
    ],
)
def test_tables_that_do_not_fit(columns: dict[str, Any], said: str) -> None:
    code = TupleCode("arc", [Type.NUMBER] * 2, Symbols(), ["x", "y"])
    with pytest.raises(InputError) as caught:
        code.rows_of_table(pa.table(columns))
    assert str(caught.value) == said


def test_tables_of_other_types() -> None:
    symbols = Symbols()
    code = TupleCode("r", [Type.UNSIGNED, Type.FLOAT, Type.SYMBOL], symbols, ["u", "f", "s"])
    texts = pa.array(["b", "a", "b"])
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        table = pa.table(
            [pa.array([1, 2, 3], pa.int8()), pa.array([1, 2, 3], pa.float32()), texts.cast(kind)],
            names=["s", "f", "other"],
        )
        rows = code.rows_of_table(table)
        assert code.decode_rows(rows) == [(1, 1.0, "b"), (2, 2.0, "a"), (3, 3.0, "b")]
    with pytest.raises(InputError, match=r"r\.u: row 1 holds -1: out of range"):
        code.rows_of_table(pa.table({"u": [1, -1], "f": [1, 1], "s": ["a", "a"]}))
    with pytest.raises(InputError, match=r"r\.f: row 1 is NaN"):
        code.rows_of_table(pa.table({"u": [1, 1], "f": [1, float("nan")], "s": ["a", "a"]}))
    missing = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    with pytest.raises(InputError, match=r"r\.s: row 1 has no value"):
        code.rows_of_table(pa.table({"u": [1, 1], "f": [1, 1], "s": missing}))
