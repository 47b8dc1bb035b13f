"""Kept columns: kinds, settled types, and values as JSON."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tocsin.errors import InputError
from tocsin.events import JSON, converted, csv_column, json_text, json_texts, kinds_of, plain, settle
from tocsin.events.kept_columns import BOOLEAN, FLOAT, INTEGER, OTHER, SMALL, STRING, TYPED


def json_column(*texts: str | None) -> pa.Array:
    return pa.ExtensionArray.from_storage(JSON, pa.array(texts, pa.large_string()))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0", SMALL),
        ("-999999999999999", SMALL),
        ("9007199254740993", INTEGER),
        ("9223372036854775807", INTEGER),
        ("-9223372036854775808", INTEGER),
        ("9223372036854775808", OTHER),
        ("1" * 5_000, OTHER),
        ("1.0", FLOAT),
        ("-1e3", FLOAT),
        ("1e400", OTHER),
        ("Infinity", OTHER),
        ("true", BOOLEAN),
        ("false", BOOLEAN),
        ('"true"', STRING),
        ('""', STRING),
        ("{}", OTHER),
        ("[1]", OTHER),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert kinds_of(json_column(text, None)) == {kind}


@pytest.mark.parametrize(
    ("kinds", "data_type"),
    [
        ((), pa.string()),
        ((SMALL,), pa.int64()),
        ((SMALL, INTEGER), pa.int64()),
        ((FLOAT,), pa.float64()),
        ((SMALL, FLOAT), pa.float64()),
        ((INTEGER, FLOAT), None),
        ((BOOLEAN,), pa.bool_()),
        ((STRING,), pa.string()),
        ((STRING, SMALL), None),
        ((OTHER,), None),
    ],
)
def test_types_from_kinds(kinds: tuple[str, ...], data_type: pa.DataType | None) -> None:
    assert settle("x", kinds, []).type == data_type


@pytest.mark.parametrize(
    ("types", "data_type"),
    [
        ([pa.int32(), pa.int64()], pa.int64()),
        ([pa.int64(), pa.null()], pa.int64()),
        ([pa.null()], pa.string()),
        ([pa.large_string(), pa.string()], pa.string()),
        ([pa.int64(), pa.string()], None),
        ([pa.list_(pa.int64())], pa.list_(pa.int64())),
    ],
)
def test_types_from_types(types: list[pa.DataType], data_type: pa.DataType | None) -> None:
    assert settle("x", [TYPED], types).type == data_type


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("1", "-0", "9223372036854775807"), [1, 0, 2**63 - 1]),
        (("1", "0.1", "-1E-5"), [1.0, 0.1, -1e-5]),
        (("true", "false"), [True, False]),
        (('"a\\n\\u00e9"', '""'), ["a\né", ""]),
        (('"a"', "1"), ['"a"', "1"]),
        (("[1, 2]", '{"a": 1}'), ["[1, 2]", '{"a": 1}']),
    ],
)
def test_values_of_json_columns(texts: tuple[str, ...], values: list[Any]) -> None:
    column = json_column(*texts, None)
    settled = settle("x", kinds_of(column), [])
    found = converted(settled, column, len(column))
    assert found.to_pylist() == [*values, None]
    assert found.type == settled.field.type


def test_a_file_without_the_column_gives_nulls() -> None:
    assert converted(settle("x", [SMALL], []), None, 2).equals(pa.nulls(2, pa.int64()))


EXAMPLES: list[tuple[pa.Array, str, str]] = [
    (pa.array([2**64 - 1], pa.uint64()), "18446744073709551615", "18446744073709551615"),
    (pa.array([0.1]), "0.1", "0.1"),
    (pa.array([Decimal("1.50")]), "1.50", "1.50"),
    (pa.array([True]), "true", "true"),
    (pa.array(['a"é']), '"a\\"é"', 'a"é'),
    (pa.array([datetime(2026, 1, 31, 12, tzinfo=UTC)]), '"2026-01-31T12:00:00Z"', "2026-01-31T12:00:00Z"),
    (pa.array([datetime(2026, 1, 31, 12)]), '"2026-01-31T12:00:00Z"', "2026-01-31T12:00:00Z"),
    (pa.array([date(2026, 1, 31)]), '"2026-01-31"', "2026-01-31"),
    (pa.array([time(12, 30)]), '"12:30:00"', "12:30:00"),
    (pa.array([timedelta(seconds=1.5)]), "1.5", "1.5"),
    (pa.array([b"\xff"]), '"/w=="', "/w=="),
    (pa.array([[1, None]]), "[1, null]", "[1, null]"),
    (pa.array([{"a": Decimal("2.0"), "b": float("nan")}]), '{"a": 2.0, "b": null}', '{"a": 2.0, "b": null}'),
    (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), '{"k": 1}', '{"k": 1}'),
]


@pytest.mark.parametrize(("array", "text", "csv"), EXAMPLES, ids=[str(each[0].type) for each in EXAMPLES])
def test_values_of_tables_as_json_and_csv(array: pa.Array, text: str, csv: str) -> None:
    assert json_texts(array) == [text]
    json.loads(text)
    (found,) = csv_column(array).cast(pa.string()).to_pylist()
    assert found == csv
    assert json_texts(pa.nulls(1, array.type)) == [None]


def test_floats_that_json_lacks() -> None:
    texts = json_texts(pa.array([float("inf"), float("-inf"), float("nan")]))
    assert texts == ["1e999", "-1e999", None]
    assert json.loads("1e999") == float("inf")
    decimals = [Decimal("Infinity"), Decimal("-Infinity"), Decimal("NaN"), Decimal("1e500")]
    assert list(map(json_text, decimals)) == ["1e999", "-1e999", "null", "1E+500"]


def test_times_far_away() -> None:
    years = pa.array([-62135596800, 253402300799], pa.timestamp("s", "Asia/Kolkata"))
    assert json_texts(years) == ['"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"']
    for array in (pa.array([2**60], pa.timestamp("s")), pa.array([[2**60]], pa.list_(pa.timestamp("s")))):
        with pytest.raises(InputError, match="cannot be written as text"):
            json_texts(array)


def test_what_cannot_be_kept() -> None:
    broken = pa.StringArray.from_buffers(1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff"))
    with pytest.raises(InputError, match="'x'"):
        plain(broken, "x")
    deep: pa.DataType = pa.int64()
    for _ in range(60):
        deep = pa.list_(deep)
    with pytest.raises(InputError, match="nested"):
        plain(pa.nulls(1, deep), "x")


def test_dictionaries_are_resolved() -> None:
    assert plain(pa.array(["a", "b"]).dictionary_encode(), "x").equals(pa.array(["a", "b"]))


def test_maps_whose_keys_are_objects_are_pairs() -> None:
    keys = pa.struct([("a", pa.int64())])
    column = pa.array([[({"a": 1}, "x"), ({"a": 2}, None)], None, []], pa.map_(keys, pa.string()))
    assert json_texts(column) == ['[[{"a": 1}, "x"], [{"a": 2}, null]]', None, "[]"]
    assert json_texts(pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))) == ['{"a": 1}']
