"""PostgreSQL's texts to JSON, and JSON to the values of events."""

from __future__ import annotations

import contextlib
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events import FieldPlan
from tocsin.spark.postgres.pgoutput import UNCHANGED
from tocsin.spark.postgres.postgres_values import RowWriter, array_elements, known_type, row_reader, row_text
from tocsin.watches.table_contents import content_of

EXAMPLES = [
    # type, as PostgreSQL writes it, as JSON, as a value
    ("int4", "-7", -7, -7),
    ("int8", "9223372036854775807", 2**63 - 1, 2**63 - 1),
    ("float8", "0.1", 0.1, 0.1),
    ("float8", "1e+300", 1e300, 1e300),
    ("float8", "NaN", "NaN", None),
    ("float8", "-Infinity", "-Infinity", -math.inf),
    ("numeric", "1.10", 1.1, Decimal("1.10")),
    ("numeric", "12345678901234567890.000000001", None, Decimal("12345678901234567890.000000001")),
    ("numeric", "7", 7, Decimal(7)),
    ("numeric", "NaN", "NaN", None),
    ("numeric", "-Infinity", "-Infinity", Decimal("-Infinity")),
    ("numeric", "1" + 500 * "0", None, Decimal("1e500")),
    ("_numeric", "{Infinity,2}", ["Infinity", 2], [Decimal("Infinity"), Decimal(2)]),
    ("bool", "t", True, True),
    ("bool", "f", False, False),
    ("text", 'a "b"\\\n', 'a "b"\\\n', 'a "b"\\\n'),
    ("bpchar", "ab   ", "ab", "ab"),
    ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("date", "2026-01-31", "2026-01-31", date(2026, 1, 31)),
    ("date", "infinity", "infinity", "infinity"),
    ("date", "0044-03-15 BC", "0044-03-15 BC", "0044-03-15 BC"),
    ("timestamp", "2026-01-31 12:00:00", "2026-01-31T12:00:00", datetime(2026, 1, 31, 12)),
    (
        "timestamptz",
        "2026-01-31 12:00:00.5+00",
        "2026-01-31T12:00:00.5Z",
        datetime(2026, 1, 31, 12, 0, 0, 500_000, UTC),
    ),
    ("timestamptz", "12026-01-31 12:00:00+00", None, "12026-01-31 12:00:00+00"),
    ("jsonb", '{"a": [1, 2.50, {"b": null}], "c": 1e2}', None, {"a": [1, 2.5, {"b": None}], "c": 100.0}),
    ("json", " 7 ", 7, 7),
    ("jsonb", "null", None, None),
    ("_int4", "{1,NULL,3}", [1, None, 3], [1, None, 3]),
    ("_text", '{a,"b,c","say \\"x\\"",NULL,"NULL"}', None, ["a", "b,c", 'say "x"', None, "NULL"]),
    ("_numeric", "{1.50,NaN}", [1.5, "NaN"], [Decimal("1.50"), None]),
    ("_timestamptz", '{"2026-01-31 12:00:00+00"}', None, [datetime(2026, 1, 31, 12, tzinfo=UTC)]),
    ("_float8", "[0:1]={{1,2},{3,4}}", [[1, 2], [3, 4]], [[1.0, 2.0], [3.0, 4.0]]),
    ("_jsonb", '{"{\\"a\\": 1.5}"}', [{"a": 1.5}], [{"a": 1.5}]),
    ("_int4", "{}", [], []),
    ("mood", "happy", "happy", "happy"),
    ("_mood", "{happy,sad}", ["happy", "sad"], ["happy", "sad"]),
    ("_box", "{(2,2),(1,1);(4,4),(3,3)}", None, ["(2,2),(1,1)", "(4,4),(3,3)"]),
    ("_odd_name", "not an array", "not an array", "not an array"),
    ("bytea", "\\xdeadbeef", "\\xdeadbeef", "\\xdeadbeef"),
]


@pytest.mark.parametrize(("kind", "text", "in_json", "value"), EXAMPLES)
def test_values_of_every_type(kind, text, in_json, value) -> None:
    writer = RowWriter(["a", "b"], [kind, "int4"])
    row = writer.text([text, None])
    if in_json is not None:
        assert json.loads(row) == {"a": in_json, "b": None}
    read = row_reader(writer.types).row(row)
    assert read == {"a": value, "b": None}
    assert type(read["a"]) is type(value)
    FieldPlan([("a",)]).batch([read, read])  # conditions know all of these
    again = row_reader(writer.types).row(row_text(read))
    assert content_of(again) == content_of(read)


def test_types_that_have_the_name_of_another() -> None:
    named = [("pg_catalog", "numeric"), ("public", "numeric"), ("public", "_json"), ("public", "mood")]
    assert [known_type(*each) for each in named] == ["numeric", "text", "_text", "mood"]


def test_what_was_not_told_is_left_out() -> None:
    writer = RowWriter(["a", "b"], ["text", "text"])
    assert writer.text([UNCHANGED, "x"]) == '{"b": "x"}'


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_any_text_under_any_name_comes_back(row) -> None:
    writer = RowWriter(list(row), ["text"] * len(row))
    assert row_reader(writer.types).row(writer.text(list(row.values()))) == row


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(documents)
def test_a_document_is_read_as_in_an_event(document) -> None:
    text = json.dumps(document)
    writer = RowWriter(["d", "n"], ["jsonb", "numeric"])
    read = row_reader(writer.types).row(writer.text([text, "1.5"]))
    assert read == {"d": json.loads(text), "n": Decimal("1.5")}
    assert json.dumps(read["d"]) == text


def test_a_document_with_a_number_beyond_all_decimals() -> None:
    writer = RowWriter(["d"], ["json"])
    read = row_reader(writer.types).row(writer.text(["[1e99999999999999999999, 1e-99999999999999999999]"]))
    assert read == {"d": [float("inf"), 0.0]}


def test_a_document_with_numbers_beyond_all_decimals() -> None:
    writer = RowWriter(["d"], ["json"])
    read = row_reader(writer.types).row(writer.text(["[1e99999999999999999999, 1e-99999999999999999999]"]))
    assert read == {"d": [float("inf"), 0.0]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"a": "\\ud800"}', "half a surrogate pair"), ("[" * 100_000 + "]" * 100_000, "nested too deeply")],
)
def test_documents_that_no_event_may_hold(text, reason) -> None:
    writer = RowWriter(["d"], ["json"])
    with pytest.raises(ValueError, match=reason):
        row_reader(writer.types).row(writer.text([text]))


def _array_text(elements: object) -> str:
    if isinstance(elements, list):
        return "{" + ",".join(map(_array_text, elements)) + "}"
    if elements is None:
        return "NULL"
    return '"' + str(elements).replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(
    st.recursive(st.none() | st.text(), lambda inner: st.lists(inner, max_size=4)).filter(
        lambda made: isinstance(made, list)
    )
)
def test_arrays_come_back(elements) -> None:
    assert array_elements(_array_text(elements)) == elements


@given(st.text(alphabet='{},"\\aN '))
def test_any_text_is_an_array_or_refused(text) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(array_elements(text), list)
