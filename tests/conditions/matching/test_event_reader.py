"""Single events of any values match as their rules mean, and as the same event does in a batch."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from tocsin.conditions.graph import compile_rules
from tocsin.conditions.language import parse_condition
from tocsin.conditions.matching import Matcher
from tocsin.conditions.meaning import matches
from tocsin.errors import EventError
from tocsin.events import FieldPlan
from tocsin.rules import Rules
from tocsin.text import EventDocuments

RULES = [
    "user is null",
    "user is not null",
    "user.age > 30",
    "not (user.age > 30)",
    "user.age is null",
    "user.name = 'Ada' or user.name in ('Bob', 'Eve')",
    "user.home.city = 'Oslo' and user.home.zip >= 100",
    "user.home is null",
    "user.home.zip is not null",
    "user.vip = true",
    "user.tags = 'a' and not (user.tags = 'b')",
    "site = 'x'",
    "not (site = 'x')",
    "site.page = 'x'",
    "price < 2.5",
    "user.name like 'A%' or user.name ilike '%B'",
    "not (user.tags matches '^[ab]$')",
    "user.seen > timestamp '2026-01-01T00:00:00Z'",
    "cidr(user.address, '10.0.0.0/8') and not (user.address = 'x')",
    "price in (0.1, 2.5, 9007199254740993) or price >= 9223372036854775807",
    "price = timestamp '2026-01-01T00:00:00Z' or price < timestamp '2025-12-31T13:30:00.000000001Z'",
    "contains(user.name, 'café & oslo') or contains(user.tags, 'a & !b')",
    "not contains(user.seen, 'a')",
]
MATCHER = Matcher(compile_rules(Rules.of([(str(number), rule) for number, rule in enumerate(RULES)])))

NUMBER = st.one_of(
    st.integers(0, 60),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2**1100, -0.0, np.int64(31), np.float64(2.5), 2.5]),
    st.floats(),
    st.decimals(),
)
ZONES: Any = st.sampled_from(
    [None, UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-3, minutes=-30))]
)
INSTANT = st.one_of(
    st.datetimes(datetime(2025, 12, 31), datetime(2026, 1, 2), timezones=ZONES),
    st.dates(date(2025, 12, 30), date(2026, 1, 2)),
    st.sampled_from([np.datetime64("2026-01-01T00:00:00.000000001"), np.datetime64("NaT")]),
)
TEXT = st.sampled_from(
    [
        "",
        "Ada",
        "Bob",
        "x",
        "Oslo",
        "a",
        "b",
        "é",
        "2026-02-01T00:00:00Z",
        "2025",
        "10.1.2.3",
        "::1",
        "a Café in Oslo, and a b",
    ]
)
SCALAR = st.one_of(st.none(), NUMBER, INSTANT, TEXT, st.booleans())
LIST = st.lists(SCALAR | st.just({}) | st.lists(SCALAR, max_size=2), max_size=3)
VALUE = st.one_of(SCALAR, SCALAR, st.lists(TEXT, max_size=2), st.just({}), LIST, LIST.map(tuple))


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Dictionaries with some of these fields, and one that no rule names."""
    return st.fixed_dictionaries({}, optional={**fields, "other": VALUE})


HOME = objects(city=st.one_of(TEXT, VALUE), zip=st.one_of(NUMBER, VALUE))
USER = objects(
    age=VALUE, name=VALUE, vip=VALUE, tags=VALUE, seen=VALUE, address=VALUE, home=st.one_of(HOME, VALUE)
)
EVENT = objects(
    user=st.one_of(USER, VALUE, st.lists(USER, max_size=2)),
    site=st.one_of(VALUE, objects(page=VALUE)),
    price=VALUE,
)


def found_of(matcher: Matcher, event: dict[str, Any]) -> list[int]:
    found: list[int] = matcher.match_event(event, EventDocuments()).tolist()
    return found


def in_batch(matcher: Matcher, event: dict[str, Any]) -> list[int]:
    found: list[int] = matcher.match_batch(FieldPlan(matcher.fields).batch([event])).rule.tolist()
    return found


@settings(max_examples=examples(300), deadline=None)
@given(EVENT)
def test_any_event(event: dict[str, Any]) -> None:
    expected = [number for number, rule in enumerate(RULES) if matches(parse_condition(rule), event)]
    assert found_of(MATCHER, event) == expected
    assert in_batch(MATCHER, event) == expected


@pytest.mark.parametrize(
    ("event", "rules"),
    [
        ({"user": {"age": 31, "name": "Ada", "vip": True, "tags": ["a"]}}, [1, 2, 5, 7, 9, 10, 15, 21]),
        ({"user": {"home": {"city": "Oslo", "zip": 150}}}, [1, 4, 6, 8]),
        ({"user": [{"age": 3}, {"age": Decimal(31)}]}, [1, 2, 7]),
        ({"user": 3, "unknown": object()}, [1, 4, 7]),
    ],
)
def test_stated_events(event: dict[str, Any], rules: list[int]) -> None:
    assert found_of(MATCHER, event) == rules


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"user": {"name": "\ud800"}}, "the text of field user.name has half a surrogate pair at 0"),
        ({"user": {"seen": ["x", "\ud800"]}}, "the text of field user.seen has half a surrogate pair at 0"),
        ({"user": [{"tags": [1, "a\ud800"]}]}, "the text of field user.tags has half a surrogate pair at 1"),
        ({"price": b"x"}, "field price holds a value of type bytes, which no condition can test"),
        ([("price", 1)], "an event must be an object, not list"),
    ],
)
def test_what_cannot_be_read(event: Any, said: str) -> None:
    with pytest.raises(EventError) as single:
        found_of(MATCHER, event)
    with pytest.raises(EventError) as batch:
        in_batch(MATCHER, event)
    assert (single.value.reason, single.value.row) == (batch.value.reason, batch.value.row) == (said, 0)


@pytest.mark.parametrize("depth", [2, 9, 20_000])
def test_objects_within_each_other(depth: int) -> None:
    path = ".".join(f"f{level}" for level in range(min(depth, 20)))
    rules = [("deep", f"{path} = 1"), ("there", f"{path} is not null")]
    matcher = Matcher(compile_rules(Rules.of(rules)))
    event: Any = 1
    for level in reversed(range(depth)):
        event = {f"f{level}": event}
    assert found_of(matcher, event) == in_batch(matcher, event) == ([0, 1] if depth <= 20 else [1])
