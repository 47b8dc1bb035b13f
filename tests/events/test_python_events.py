"""Python events to cells."""

from __future__ import annotations

import random
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pools, strategies
from tests.cases import random_event
from tests.events.reading import naive, seen_batch

from tocsin.errors import EventError
from tocsin.events import FieldPlan, Instant, Path

NAN = float("nan")
NAMES = ["a", "b", "a.b", ""]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**66), 2**66),
    st.sampled_from(
        [0, 1, 2**53 + 1, NAN, -0.0, 1.0, 0.5, float("inf"), "", "x", Decimal("1.50"), Decimal(2)]
    ),
    st.text(max_size=3).filter(lambda text: text.isprintable()),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=12,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4), max_size=5)
FIELDS = st.lists(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8, unique=True
)


@settings(deadline=None)
@given(EVENTS, FIELDS)
def test_the_same_as_the_definition(events: list[dict[str, object]], fields: list[Path]) -> None:
    batch = FieldPlan(fields).batch(events)
    assert batch.length == len(events)
    assert seen_batch(batch) == naive(events, fields)


@settings(deadline=None)
@given(EVENTS, FIELDS)
def test_one_at_a_time_is_the_same_as_by_the_definition(
    events: list[dict[str, object]], fields: list[Path]
) -> None:
    plan = FieldPlan(fields)
    for event in events:
        assert seen_batch(plan.batch([event])) == naive([event], fields)


def check_alone_and_together(event: dict[str, object], other: dict[str, object], fields: list[Path]) -> None:
    """One event has a way of its own through the code: its cells are what they are beside another."""
    plan = FieldPlan(fields)
    together = seen_batch(plan.batch([event, other]))
    alone = {path: {0: rows[0]} for path, rows in together.items() if 0 in rows}
    assert seen_batch(plan.batch([event])) == alone


RULE_FIELDS: list[Path] = [*pools.FIELDS, ("user", "home")]


@settings(deadline=None)
@given(strategies.events(), strategies.events())
def test_alone_and_together(event: dict[str, object], other: dict[str, object]) -> None:
    check_alone_and_together(event, other, RULE_FIELDS)


def test_many_alone_and_together() -> None:
    rng = random.Random(20)
    for _ in range(400):
        check_alone_and_together(random_event(rng), random_event(rng), RULE_FIELDS)


@pytest.mark.parametrize(
    "value",
    [
        ["x", "y", "x"],
        ["x", None, "y"],
        ["x", 1, True, Decimal(1), datetime(1970, 1, 1), {}],
        [1, 2.5, NAN, -0.0, 2**70, 10**400],
        [NAN],
        [NAN, *range(200)],
        [True, 1],
        ["", ""],
        ("x", "y"),
        [["x", "y"], "z"],
        MappingProxyType({"b": "x"}),
        {"b": MappingProxyType({"c": "x"}), "d": "y"},
        Decimal("Infinity"),
    ],
)
def test_one_of_several_fields(value: object) -> None:
    """Columns of one event share arrays: each has its own part, whatever stands before and after."""
    event: dict[str, object] = {"s": "before", "n": 1, "a": value, "t": "after", "m": 2, "u": ["p", "q"]}
    fields: list[Path] = [(name,) for name in "snatmu"]
    check_alone_and_together(event, {}, [*fields, ("a", "b"), ("a", "b", "c"), ("a", "d")])
    check_alone_and_together(event, {}, fields)


def look(value: object, *path: str) -> tuple[bool, list[object]] | None:
    """What one event `{"a": value}` holds at `a` and onwards: None when missing."""
    field = ("a", *path)
    columns = seen_batch(FieldPlan([field]).batch([{"a": value}]))
    again = seen_batch(FieldPlan([field]).batch([{}, {"a": value}]))
    assert columns.get(field, {}).get(0) == again.get(field, {}).get(1)
    return columns[field][0] if field in columns else None


class Colour(StrEnum):
    """A string that is more than a string."""

    RED = "red"


class Level(IntEnum):
    """An integer that is more than an integer."""

    HIGH = 3


ONE = ("number", 1)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        (None, (), None),
        (NAN, (), None),
        ({}, (), (False, [])),
        ([], (), (True, [])),
        ([None, NAN, [None]], (), (True, [])),
        ([[], [[]]], (), (True, [])),
        ([{}], (), (False, [])),
        ([{"x": 1}, 1], (), (False, [ONE])),
        ([[1], {"x": 2}], ("x",), (False, [("number", 2)])),
        ([[[{"x": 1}]]], ("x",), (False, [ONE])),
        ([], ("x",), None),
        ([{}, 5, "x", None], ("x",), None),
        ([{"x": None}, {"x": NAN}], ("x",), None),
        ([{"x": []}], ("x",), (True, [])),
        ([{"x": []}, {"x": 1}], ("x",), (False, [ONE])),
        ([{"x": []}, {"x": {}}], ("x",), (False, [])),
        ([{"x": [1, 1]}, {"x": 1}], ("x",), (False, [ONE, ONE, ONE])),
        ({"x": {"y": 1}}, ("x", "y"), (False, [ONE])),
        ({"x.y": 1}, ("x", "y"), None),
        ({"x.y": 1}, ("x.y",), (False, [ONE])),
        (1, ("x",), None),
        (object(), ("x",), None),
    ],
)
def test_paths_and_lists(value: object, path: Path, expected: object) -> None:
    assert look(value, *path) == expected


DAY = 86_400


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (True, ("boolean", True)),
        (np.bool_(False), ("boolean", False)),
        (np.int8(-3), ("number", -3)),
        (np.uint64(2**64 - 1), ("number", 2**64 - 1)),
        (np.float32(0.5), ("number", 0.5)),
        (np.longdouble(0.5), ("number", 0.5)),
        (np.str_("x"), ("string", "x")),
        (Colour.RED, ("string", "red")),
        (Level.HIGH, ("number", 3)),
        (Decimal("1.10"), ("decimal", Decimal("1.1"))),
        (Decimal("-Infinity"), ("number", float("-inf"))),
        (datetime(1970, 1, 2), ("timestamp", Instant(DAY, 0))),
        (datetime(1970, 1, 2, tzinfo=UTC), ("timestamp", Instant(DAY, 0))),
        (datetime(1970, 1, 2, tzinfo=timezone(timedelta(hours=2))), ("timestamp", Instant(DAY - 7200, 0))),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999), ("timestamp", Instant(-1, 999_999_000))),
        (datetime.min, ("timestamp", Instant(-62_135_596_800, 0))),
        (datetime.max, ("timestamp", Instant(253_402_300_799, 999_999_000))),
        (date(1969, 12, 31), ("timestamp", Instant(-DAY, 0))),
        (pd.Timestamp(1, unit="ns"), ("timestamp", Instant(0, 1))),
        (pd.Timestamp("1970-01-02", tz="Asia/Tokyo"), ("timestamp", Instant(DAY - 9 * 3600, 0))),
        (np.datetime64(-1, "ns"), ("timestamp", Instant(-1, 999_999_999))),
        (np.datetime64("1970-02", "M"), ("timestamp", Instant(31 * DAY, 0))),
    ],
)
def test_scalars(value: object, cell: object) -> None:
    assert look(value) == (False, [cell])
    assert look([value, value]) == (False, [cell, cell])


@pytest.mark.parametrize("value", [pd.NaT, pd.NA, np.datetime64("NaT"), np.float64(NAN), Decimal("sNaN")])
def test_other_words_for_missing(value: object) -> None:
    assert look(value) is None
    assert look([value]) == (True, [])


@pytest.mark.parametrize("value", [(1, 2), {1, 2}, frozenset({1, 2}), np.array([1, 2]), np.array([[1], [2]])])
def test_lists_of_any_make(value: object) -> None:
    assert look(value) == (False, [ONE, ("number", 2)])


@pytest.mark.parametrize("value", [b"x", 1j, Fraction(1, 2), timedelta(1), object(), np.timedelta64(1, "s")])
@pytest.mark.parametrize(
    "wrap", [lambda value: value, lambda value: [value], lambda value: {"x": [1, value]}]
)
def test_a_type_that_no_condition_can_test(value: object, wrap: object) -> None:
    event = {"u": {"v": wrap(value)}}  # type: ignore[operator]
    fields = [("u", "v"), ("u", "v", "x")]
    with pytest.raises(EventError, match=r"event 1: field u\.v") as caught:
        FieldPlan(fields).batch([{}, event])
    assert type(value).__name__ in str(caught.value)
    assert caught.value.row == 1
    assert FieldPlan([("other",)]).batch([{}, event]).columns == {}


@pytest.mark.parametrize("event", [None, 5, "x", [("a", 1)]])
def test_an_event_that_is_no_object(event: object) -> None:
    with pytest.raises(EventError, match="must be an object") as caught:
        FieldPlan([("a",)]).batch([{}, event])  # type: ignore[list-item]
    assert caught.value.row == 1


@pytest.mark.parametrize("before", [[], [{"a": "fine"}]])
@pytest.mark.parametrize("value", ["x\ud800", ["x\ud800"], ["fine", "x\ud800"], [1, "x\ud800"]])
def test_half_a_surrogate_pair(before: list[dict[str, object]], value: object) -> None:
    with pytest.raises(EventError, match="field a has half a surrogate pair at 1") as caught:
        FieldPlan([("s",), ("a",)]).batch([*before, {"s": "fine", "a": value}])
    assert caught.value.row == len(before)


def test_any_mapping_is_an_object() -> None:
    event = MappingProxyType({"a": OrderedDict(b=1), 7: 8})
    assert seen_batch(FieldPlan([("a", "b")]).batch([event])) == {("a", "b"): {0: (False, [ONE])}}  # type: ignore[list-item]


def test_great_depth() -> None:
    nested: object = 1
    for _ in range(100_000):
        nested = [nested]
    assert look(nested) == (False, [ONE])
    path = ("a",) * 100_000
    event: object = 1
    for _ in path:
        event = {"a": event}
    assert seen_batch(FieldPlan([path, ("a", "b")]).batch([event])) == {path: {0: (False, [ONE])}}  # type: ignore[list-item]


def test_a_list_that_holds_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.events.python_events.DEEPEST_LIST", 2_000)
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(EventError, match="nested more than 2,000 deep"):
        FieldPlan([("a",)]).batch([{"a": endless}])


def test_a_batch_leaves_nothing_behind() -> None:
    plan = FieldPlan([("a",)])
    plan.batch([{"a": "x"}, {"a": 1}])
    assert seen_batch(plan.batch([{"a": 2}])) == {("a",): {0: (False, [("number", 2)])}}
    assert plan.batch([]).length == 0
