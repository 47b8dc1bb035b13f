"""Arrow tables to cells: the same as their rows, and the odd layouts one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events.arrow_tables import NAMES, random_table
from tests.events.reading import Seen, seen_batch

from tocsin.errors import EventError, InputError
from tocsin.events import MANY_COLUMNS, FieldPlan, Instant, Path, arrow_tables, batch_of_table, wide_tables

FIELDS: list[Path] = [
    *[(name,) for name in NAMES],
    *[(first, second) for first in NAMES for second in NAMES],
    *[(first, "a", third) for first in NAMES for third in NAMES],
    ("a", "b", "a", "a"),
    ("absent",),
]


@contextmanager
def columns_together(fewest: int) -> Iterator[None]:
    """So many columns are read by one call."""
    with (
        patch.object(arrow_tables, "MANY_COLUMNS", fewest),
        patch.object(wide_tables, "MANY_COLUMNS", fewest),
    ):
        yield


@pytest.mark.filterwarnings("ignore:Encountered key")
@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_the_same_as_the_rows(seed: int, together: bool) -> None:
    table = random_table(random.Random(seed))
    with columns_together(1 if together else MANY_COLUMNS):
        batch = batch_of_table(table, FIELDS)
    rows = table.to_pylist(maps_as_pydicts="lossy")
    assert batch.length == len(rows)
    assert seen_batch(batch) == seen_batch(FieldPlan(FIELDS).batch(rows)), table.schema


KINDS_TOGETHER: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    **{
        kind: st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())
    },
    **{
        kind: st.integers(0, 2**kind.bit_width - 1)
        for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): st.text(max_size=12),
    pa.large_string(): st.text(max_size=12) | st.sampled_from(["", "same", "same thing", "\0"]),
}


@st.composite
def wide_tables_of_all_kinds(draw: st.DrawFn) -> pa.Table:
    """A column of each kind that is read together, and lists of it: in pieces, and cut from longer ones."""
    rows = draw(st.integers(0, 20))
    columns = {}
    for number, (kind, values) in enumerate(KINDS_TOGETHER.items()):
        listed = st.none() | st.lists(st.none() | values, max_size=3)
        for nested, value in (
            (kind, st.none() | values),
            (pa.list_(kind), listed),
            (pa.large_list(kind), listed),
        ):
            if nested is kind or number == draw(st.integers(0, len(KINDS_TOGETHER) - 1)) or number % 5 == 0:
                made = draw(st.lists(value, min_size=rows, max_size=rows))
                columns[f"{nested}"] = pa.array(made, nested)
    table = pa.table(columns)
    if draw(st.booleans()):
        pieces = [
            table.slice(0, rows // 3),
            table.slice(rows // 3, rows // 2),
            table.slice(rows // 3 + rows // 2),
        ]
        table = pa.concat_tables(pieces)
    first = draw(st.integers(0, rows))
    return table.slice(first, draw(st.integers(0, rows - first)))


@settings(max_examples=150, deadline=None)
@given(wide_tables_of_all_kinds())
def test_many_columns_are_read_as_one_by_one(table: pa.Table) -> None:
    fields = [(name,) for name in table.column_names]
    read = []
    for many in (1, 10_000):
        with columns_together(many):
            read.append(seen_batch(batch_of_table(table, fields)))
    assert read[0] == read[1]
    with columns_together(1):
        for batch in table.to_batches():
            assert seen_batch(batch_of_table(batch, fields)) == seen_batch(
                FieldPlan(fields).batch(batch.to_pylist())
            )


def test_what_null_lists_hide_is_not_read_with_many() -> None:
    child = pa.array([1, 2, 3, 4])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3, 4]), child, mask=pa.array([False, True, False]))
    table = pa.table({f"x{number}": lists for number in range(MANY_COLUMNS)})
    for column in seen_batch(batch_of_table(table, [(name,) for name in table.column_names])).values():
        assert column == {0: numbers(1, 2), 2: numbers(4)}


def test_a_bad_text_among_many_columns() -> None:
    names = [f"x{number}" for number in range(MANY_COLUMNS)]
    columns = {name: pa.array(["good", "bad"]) for name in names}
    columns["x7"] = pa.array([b"good", b"\xff"]).view(pa.string())
    with pytest.raises(EventError, match="the text of field x7 is not valid UTF-8") as caught:
        batch_of_table(pa.table(columns), [(name,) for name in names])
    assert caught.value.row == 1
    unreadable: dict[int, str] = {}
    batch_of_table(pa.table(columns), [(name,) for name in names], unreadable)
    assert list(unreadable) == [1]


def look(array: pa.Array, *path: str) -> Seen:
    field = ("x", *path)
    return seen_batch(batch_of_table(pa.table({"x": array}), [field])).get(field, {})


def numbers(*values: object) -> tuple[bool, list[object]]:
    return (False, [("number", value) for value in values])


def test_a_null_list_over_a_filled_range() -> None:
    child = pa.array([1, 2, 3, 4])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3, 4]), child, mask=pa.array([False, True, False]))
    assert look(lists) == {0: numbers(1, 2), 2: numbers(4)}
    fixed = pa.FixedSizeListArray.from_arrays(child, 2, mask=pa.array([True, False]))
    assert look(fixed) == {1: numbers(3, 4)}
    assert look(fixed[1:]) == {0: numbers(3, 4)}


def test_a_null_struct_over_filled_members() -> None:
    members = pa.array([1, 2])
    structs = pa.StructArray.from_arrays([members], names=["y"], mask=pa.array([True, False]))
    assert look(structs, "y") == {1: numbers(2)}
    assert look(structs) == {1: (False, [])}


def test_lists_of_views_out_of_order() -> None:
    views = pa.ListViewArray.from_arrays(pa.array([2, 0, 1]), pa.array([1, 2, 0]), pa.array([1, 2, 3]))
    assert look(views) == {0: numbers(3), 1: numbers(1, 2), 2: (True, [])}


def test_lists_of_length_nought() -> None:
    assert look(pa.array([[], None], pa.list_(pa.int8(), 0))) == {0: (True, [])}


def test_the_last_of_equal_keys() -> None:
    kind = pa.map_(pa.string(), pa.int64())
    maps = pa.array([[("k", 1), ("j", 2), ("k", 3)], None, [("k", 4), ("k", None)], [("k", 5)], []], kind)
    assert look(maps, "k") == {0: numbers(3), 3: numbers(5)}
    assert look(maps[1:4], "k") == {2: numbers(5)}
    assert look(maps) == {row: (False, []) for row in (0, 2, 3, 4)}
    in_list = pa.array([[[("k", 1)], [("k", 2), ("k", 3)]]], pa.list_(kind))
    assert look(in_list, "k") == {0: numbers(1, 3)}


def test_a_null_map_over_a_filled_range() -> None:
    offsets, keys, items = pa.array([0, 1, 2], pa.int32()), pa.array(["k", "k"]), pa.array([1, 2])
    maps = pa.MapArray.from_arrays(offsets, keys, items, mask=pa.array([True, False]))
    assert look(maps, "k") == {1: numbers(2)}


def test_a_map_with_other_keys() -> None:
    maps = pa.array([[(1, 2)]], pa.map_(pa.int64(), pa.int64()))
    with pytest.raises(InputError, match="x is a map with keys of type int64"):
        look(maps, "k")
    assert look(maps) == {0: (False, [])}


@pytest.mark.parametrize(
    "array",
    [
        pa.array([b"x"]),
        pa.array([b"xy"], pa.binary(2)),
        pa.array([time(12)]),
        pa.array([timedelta(1)]),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([[b"x"]]),
        pa.array([None], pa.binary()),
    ],
    ids=lambda array: str(array.type),
)
def test_types_that_no_condition_can_test(array: pa.Array) -> None:
    with pytest.raises(InputError, match=r"field x has the type .*, which no condition can test"):
        look(array)
    assert look(array, "y") == {}
    assert batch_of_table(pa.table({"x": array}), [("y",)]).columns == {}


def test_equal_column_names() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["x", "x", "y"])
    with pytest.raises(InputError, match="2 columns named x"):
        batch_of_table(table, [("x",)])
    assert list(batch_of_table(table, [("y",)]).columns) == [("y",)]
    members = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["y", "y"])
    with pytest.raises(InputError, match="x has 2 members named y"):
        look(members, "y")


def test_a_name_with_a_dot_is_one_key() -> None:
    table = pa.table({"a.b": [1], "a": [{"b": 2}]})
    assert set(batch_of_table(table, [("a.b",)]).columns) == {("a.b",)}
    assert seen_batch(batch_of_table(table, [("a", "b")])) == {("a", "b"): {0: numbers(2)}}


def test_text_that_is_not_utf_8() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")]
    )
    with pytest.raises(EventError, match="event 1: the text of field x is not valid UTF-8"):
        look(bad)


def test_times_keep_their_nanoseconds() -> None:
    ticks = pa.array([-1, 10**18 + 1], pa.int64())
    expected = [Instant(-1, 999_999_999), Instant(10**9, 1)]
    assert look(ticks.cast(pa.timestamp("ns", "Asia/Tokyo"))) == {
        row: (False, [("timestamp", instant)]) for row, instant in enumerate(expected)
    }
    assert look(pa.array([2**62], pa.timestamp("s"))) == {0: (False, [("timestamp", Instant(2**62, 0))])}


def test_decimals_of_every_width_and_in_wrappings() -> None:
    ten = (False, [("decimal", Decimal("1.1"))])
    narrow = pa.array([Decimal("1.10"), None], pa.decimal32(5, 2))
    assert look(narrow) == {0: ten}
    assert look(pa.RunEndEncodedArray.from_arrays([2], narrow[:1])) == {0: ten, 1: ten}
    assert look(pa.array(["x", None, "x"]).dictionary_encode()[1:]) == {1: (False, [("string", "x")])}
    assert look(pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, 0], pa.int8()))) == {
        0: (False, [("boolean", True)]),
        1: (False, [("boolean", False)]),
    }


def test_a_record_batch_and_an_empty_table() -> None:
    batch = pa.RecordBatch.from_pydict({"x": [1, None]})
    assert seen_batch(batch_of_table(batch, [("x",)])) == {("x",): {0: numbers(1)}}
    empty = pa.table({"x": pa.array([], pa.string()), "y": pa.chunked_array([], pa.list_(pa.int8()))})
    assert batch_of_table(empty, [("x",), ("y",), ("x", "z")]) == (0, {})
