"""What the evaluator finds in an event at a path."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
import pytest

from tocsin.conditions.meaning import Event, Instant, lookup
from tocsin.errors import EventError

NAN = float("nan")


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({"a": {"b": 1}}, 1),
        ({"a": {"b": {"c": 1}}}, {"c": 1}),
        ({"a": {"b": {}}}, {}),
        ({"a": {"b": None}}, None),
        ({"a": {}}, None),
        ({"a": 1}, None),
        ({"a": "text"}, None),
        ({"a": None}, None),
        ({"a.b": 1}, None),
        ({"a": {"b": [1, None, [2, NAN]]}}, [1, 2]),
        ({"a": [{"b": 1}, {"b": 2}]}, [1, 2]),
        ({"a": [{"b": 1}]}, [1]),
        ({"a": [{"b": 1}, 7, None, {"c": 2}, {"b": None}, {"b": NAN}]}, [1]),
        ({"a": [{"b": [1, 2]}, {"b": 3}]}, [1, 2, 3]),
        ({"a": [[{"b": 1}], [[{"b": 2}]]]}, [1, 2]),
        ({"a": [{"b": []}]}, []),
        ({"a": [{"b": [None]}]}, []),
        ({"a": [{"b": []}, {"b": 1}]}, [1]),
        ({"a": [{"b": {"c": 1}}]}, [{"c": 1}]),
        ({"a": []}, None),
        ({"a": [{"c": 1}]}, None),
        ({"a": [{"b": None}]}, None),
        ({"a": [1, 2]}, None),
    ],
)
def test_lookup(event: Event, found: object) -> None:
    assert lookup(event, ("a", "b")) == found


def test_lookup_through_two_lists() -> None:
    event = {"a": [{"b": [{"c": 1}, {"c": [2]}]}, {"b": {"c": 3}}, {"b": []}]}
    assert lookup(event, ("a", "b", "c")) == [1, 2, 3]
    assert lookup({"a": [{"b": []}]}, ("a", "b", "c")) is None


def test_values_are_made_plain() -> None:
    assert lookup({"x": date(1970, 1, 2)}, ("x",)) == Instant(86_400 * 10**9)
    assert str(Instant(1)) == "1970-01-01T00:00:00.000000001Z"
    found = lookup({"x": [np.int8(1), np.float32(1), np.bool_(1), np.str_("a")]}, ("x",))
    assert isinstance(found, list)
    assert [type(value) for value in found] == [int, float, bool, str]


@pytest.mark.parametrize(
    "odd", [b"a", time(12), timedelta(1), np.timedelta64(1, "ns"), 1j, object(), "\ud800", np.bytes_(b"a")]
)
def test_what_no_event_can_hold(odd: object) -> None:
    for event in ({"x": odd}, {"x": [1, odd]}):
        with pytest.raises(EventError):
            lookup(event, ("x",))
        assert lookup(event, ("y",)) is None  # a field that is not asked about does no harm


def test_nothing_recurses() -> None:
    depth = 100_000
    event: dict[str, Any] = {"x": 1}
    listed: list[Any] = [1]
    for _ in range(depth):
        event, listed = {"x": event}, [listed]
    assert lookup(event, ("x",) * (depth + 1)) == 1
    assert lookup({"x": listed}, ("x",)) == [1]
