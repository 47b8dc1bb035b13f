"""Keys, times and other single values of events, whatever their columns are."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.events import JSON, FieldPlan, batch_of_table
from tocsin.spark.stream.alert_values import (
    NO_TEXT,
    NOT_UTF_8,
    keys_of,
    mended,
    times_of,
    values_at,
)
from tocsin.syntax import parse_timestamp
from tocsin.tables import parsed


def json_column(values: list[Any]) -> pa.Array:
    texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    return pa.ExtensionArray.from_storage(JSON, pa.array(texts, pa.large_string()))


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner))


@settings(max_examples=40)
@given(st.lists(VALUES, max_size=8))
def test_a_key_is_a_string_as_it_is_and_else_json(values: list[Any]) -> None:
    keys, reasons = keys_of(json_column(values), ("k",), len(values))
    for row, value in enumerate(values):
        if value is None:
            assert "is missing" in reasons[row]
        elif isinstance(value, str):
            assert keys[row].as_py() == value
        else:
            assert keys[row].as_py() == json.dumps(value, ensure_ascii=False)
    assert len(reasons) == values.count(None)


@settings(max_examples=40)
@given(st.lists(st.none() | VALUES, max_size=8))
def test_a_nested_key(values: list[Any]) -> None:
    column = json_column([{"id": value, "other": 1} for value in values])
    keys, reasons = keys_of(column, ("user", "id"), len(values))
    for row, value in enumerate(values):
        if isinstance(value, str):
            assert keys[row].as_py() == value
        assert (row in reasons) == (value is None)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, 2**62]), ["1", str(2**62)]),
        (pa.array(["a", "1"]), ["a", "1"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([Decimal("1.50"), Decimal("-2.00")]), ["1.50", "-2.00"]),
        (pa.array([1.5, 2.0]), ["1.5", "2.0"]),
        (pa.array([datetime(2026, 1, 2, 3, tzinfo=UTC)] * 2), ["2026-01-02T03:00:00Z"] * 2),
        (pa.array([date(2026, 1, 2)] * 2), ["2026-01-02"] * 2),
        (pa.array([b"\x00\xff"] * 2), ["AP8="] * 2),
    ],
)
def test_keys_of_typed_columns(column: pa.Array, expected: list[str]) -> None:
    keys, reasons = keys_of(column, ("k",), len(column))
    assert keys.to_pylist() == expected
    assert reasons == {}


def test_keys_of_a_column_that_is_not_there() -> None:
    keys, reasons = keys_of(None, ("user", "id"), 2)
    assert keys.to_pylist() == [None, None]
    assert reasons == dict.fromkeys([0, 1], "the field user.id, which is to be the key, is missing")


def test_integers_of_any_size_and_odd_floats_keep_their_digits() -> None:
    digits = "9" * 5_000
    column = pa.ExtensionArray.from_storage(JSON, pa.array([digits, "1e400"], pa.large_string()))
    assert keys_of(column, ("k",), 2)[0].to_pylist() == [digits, "1e400"]
    assert values_at(column, ("k",), 2) == [digits, "1e400"]
    inner = pa.array([f'{{"v": {digits}}}', '{"v": 1e99999999999999999999}'], pa.large_string())
    column = pa.ExtensionArray.from_storage(JSON, inner)
    assert values_at(column, ("k", "v"), 2) == [digits, "1e999"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e99999999999999999999", math.inf),
        ("-1e99999999999999999999", -math.inf),
        ("1e-99999999999999999999", 0.0),
        ("1e400", math.inf),
        ("0.1", 0.1),
    ],
)
def test_numbers_of_any_exponent_are_read(text: str, value: object) -> None:
    assert parsed(text) == value


TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda at: at.isoformat() + "Z")
NO_TIMES: st.SearchStrategy[Any] = (
    SCALARS | st.just([]) | st.just({}) | st.lists(TIMES, min_size=2, max_size=2) | st.just("2026-01-01")
)


@given(st.lists(TIMES | NO_TIMES, max_size=20))
def test_times_are_texts_that_are_rfc_3339(values: list[Any]) -> None:
    cells = FieldPlan([("at",)]).batch([{"at": value, "other": 1} for value in values])
    micros, reasons = times_of(cells.columns.get(("at",)), ("at",), len(values))
    for row, value in enumerate(values):
        nanos = parse_timestamp(value) if isinstance(value, str) else None
        if nanos is None:
            assert ("is missing" if value is None else "holds no timestamp") in reasons[row]
        else:
            assert row not in reasons
            assert micros[row] == nanos // 1_000


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
        pa.array([datetime(2026, 1, 2, 3, 4, 5, 6), None], pa.timestamp("ns")),
        pa.array([datetime(2026, 1, 2, 3, 4, 5, 6), None], pa.timestamp("us", tz="Asia/Tokyo")),
    ],
)
def test_times_of_typed_columns(column: pa.Array) -> None:
    cells = batch_of_table(pa.table({"at": column}), [("at",)])
    micros, reasons = times_of(cells.columns[("at",)], ("at",), 2)
    instant = column.cast(pa.timestamp("us", tz="UTC") if column.type.tz else pa.timestamp("us"))
    assert micros[0] == instant.cast(pa.int64())[0].as_py()
    assert list(reasons) == [1]


def test_a_date_is_its_first_instant() -> None:
    cells = batch_of_table(pa.table({"at": pa.array([date(1970, 1, 2)])}), [("at",)])
    assert times_of(cells.columns[("at",)], ("at",), 1)[0].tolist() == [86_400_000_000]


def test_times_that_spark_cannot_hold_are_no_times() -> None:
    values = ["0000-06-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]
    cells = FieldPlan([("at",)]).batch([{"at": value} for value in values])
    micros, reasons = times_of(cells.columns[("at",)], ("at",), 2)
    assert list(reasons) == [0]
    assert micros[1] == 253_402_300_799_999_999


def test_texts_that_are_no_utf_8_are_found_row_by_row() -> None:
    raw = pa.array([b"good", b"\xff", None, b"\xc3\xa4"], pa.binary())
    texts = pa.StringArray.from_buffers(
        4, raw.buffers()[1], raw.buffers()[2], raw.buffers()[0], raw.null_count
    )
    column, bad = mended(texts)
    assert bad == {1: NOT_UTF_8}
    assert column.to_pylist() == ["good", None, None, "ä"]
    nested = pa.StructArray.from_arrays([texts], ["t"])
    assert mended(nested)[1] == {1: NOT_UTF_8}


FAR = 4_000_000  # days since 1970: in the year 12921


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, FAR, None, 2], pa.int32()).cast(pa.date32()),
        pa.array([1, FAR * 86_400, None, 2]).cast(pa.timestamp("s", "UTC")),
        pa.array([None, -FAR * 86_400, None, 2]).cast(pa.timestamp("s")),
        pa.StructArray.from_arrays([pa.array([1, FAR, None, 2], pa.int32()).cast(pa.date32())], ["day"]),
    ],
)
def test_times_that_nobody_can_write_are_found_row_by_row(column: pa.Array) -> None:
    good, bad = mended(column)
    assert bad == {1: NO_TEXT}
    assert good.is_valid().to_pylist()[1] is False
    assert len(values_at(good, ("at",), 4)) == 4
    assert mended(column.take(pa.array([0, 2, 3])))[1] == {}
