"""Rows of tables: which are equal, and that they stay what they were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tocsin.errors import EventError
from tocsin.watches import kept_row
from tocsin.watches.table_contents import Contents, content_of

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2.0, "a": Decimal(1)}),
        ({"a": None}, {}),
        ({"a": float("nan"), "b": {"c": None}}, {"b": {}}),
        ({"a": [1, None, "x"]}, {"a": (1.0, "x")}),
        ({"a": NOON}, {"a": NOON.astimezone(timezone(timedelta(hours=3)))}),
        ({"a": np.int64(5), "b": np.array([1, 2])}, {"a": 5, "b": [1, 2]}),
        ({"a": {1, 2}}, {"a": frozenset([2.0, 1])}),
        ({"a": b"xy"}, {"a": b"xy"}),
    ],
)
def test_equal_rows(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert content_of(one) == content_of(other)
    assert hash(content_of(one)) == hash(content_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"b": 1}),
        ({"a": []}, {}),
        ({"a": {}}, {}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [[1], 2]}, {"a": [1, [2]]}),
        ({"a": ["b"]}, {"a": {"b": None}}),
        ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}),
        ({"a": "2026-01-31T12:00:00Z"}, {"a": NOON}),
        ({"a": 2**53}, {"a": 2**53 + 1}),
        ({"a": b"xy"}, {"a": b"yx"}),
    ],
)
def test_rows_that_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert content_of(one) != content_of(other)


def test_equal_rows_are_found_from_the_oldest_on() -> None:
    contents = Contents()
    for number in (3, 5, 9):
        contents.put(number, {"a": float(number % 2)})
    assert contents.find({"a": 1}) == 3
    contents.take(3)
    contents.put(1, {"a": True})
    assert (contents.find({"a": 1}), contents.find({"a": True}), len(contents)) == (5, 1, 3)
    contents.take(5)
    contents.take(9)
    assert contents.find({"a": 1}) is None
    assert contents.items() == [(1, {"a": True})]


def test_a_kept_row_does_not_change_with_the_original() -> None:
    row: dict[str, Any] = {"a": [1, {"b": [2]}], "c": {"d": {3}}, "e": np.array([1]), "f": (4, [5])}
    kept = kept_row(row)
    before = content_of(kept)
    assert before == content_of(row)
    row["a"][1]["b"].append(3)
    row["c"]["d"].add(4)
    row["e"][0] = 7
    row["f"][1].clear()
    assert content_of(kept) == before


def test_rows_of_any_depth() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = {"a": [deep]}
    kept = kept_row({"x": deep})
    assert content_of(kept) == content_of({"x": deep})
    assert hash(content_of(kept)) == hash(content_of({"x": deep}))
    while deep != 1:  # or the interpreter takes it apart by recursion
        deep = deep["a"].pop()


def test_what_is_no_row() -> None:
    for bad in (5, None, "text", [("a", 1)]):
        with pytest.raises(EventError, match="a row must be an object"):
            kept_row(bad)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(EventError, match="nested more than"):
        kept_row({"a": endless})
