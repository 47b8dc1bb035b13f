"""Plain events, objects in them included, match by the quick way as they do by the way of batches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Rules
from tocsin.conditions.graph.compiled_index import compile_rules
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.matching.matcher import Matcher
from tocsin.conditions.meaning import matches
from tocsin.events.python_events import FieldPlan
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
]
MATCHER = Matcher(compile_rules(Rules.of([(str(number), rule) for number, rule in enumerate(RULES)])))
PLAN = FieldPlan(MATCHER.fields)

NUMBER = st.one_of(st.integers(0, 60), st.integers(-(2**70), 2**70), st.floats(allow_nan=False))
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
    ]
)
VALUE = st.one_of(st.none(), NUMBER, TEXT, st.booleans(), st.lists(TEXT, max_size=2), st.just({}))


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


def match_batch(matcher: Matcher, event: dict[str, Any]) -> list[int]:
    batch = FieldPlan(matcher.fields).batch([event])
    found: list[int] = matcher.match_one(batch, EventDocuments(batch)).tolist()
    return found


@given(EVENT)
def test_the_quick_way(event: dict[str, Any]) -> None:
    found = match_batch(MATCHER, event)
    assert found == [number for number, rule in enumerate(RULES) if matches(parse_condition(rule), event)]
    plain = MATCHER.match_plain(event, EventDocuments())
    assert plain is None or plain.tolist() == found


@pytest.mark.parametrize(
    ("event", "rules"),
    [
        ({"user": {"age": 31, "name": "Ada", "vip": True, "tags": ["a"]}}, [1, 2, 5, 7, 9, 10, 15]),
        ({"user": {"home": {"city": "Oslo", "zip": 150}}}, [1, 4, 6, 8]),
        ({"user": {}}, None),
        ({"price": 2, "unknown": {"user": [object()]}}, None),
    ],
)
def test_objects_are_plain(event: dict[str, Any], rules: list[int] | None) -> None:
    plain = MATCHER.match_plain(event, EventDocuments())
    assert plain is not None
    if rules is not None:
        assert plain.tolist() == rules


def test_what_is_not_plain() -> None:
    assert MATCHER.match_plain({"user": [{"age": 3}]}, EventDocuments()) is None
    assert MATCHER.match_plain({"user": 3}, EventDocuments()) is None
    assert MATCHER.match_plain({"user": {"name": "\ud800"}}, EventDocuments()) is None
    assert MATCHER.match_plain({"user": {"seen": "\ud800"}}, EventDocuments()) is None
    assert MATCHER.match_plain({"price": "\ud800"}, EventDocuments()) is None
    assert MATCHER.match_plain({"site": {"page": "x"}}, EventDocuments()) is None, (
        "site itself is asked about"
    )


@pytest.mark.parametrize("depth", [2, 8, 9, 20])
def test_objects_within_each_other(depth: int) -> None:
    path = ".".join(f"f{level}" for level in range(depth))
    matcher = Matcher(compile_rules(Rules.of([("deep", f"{path} = 1"), ("there", f"{path} is not null")])))
    event: Any = 1
    for level in reversed(range(depth)):
        event = {f"f{level}": event}
    plain = matcher.match_plain(event, EventDocuments())
    assert (plain is None) == (depth > 8)
    assert match_batch(matcher, event) == [0, 1]
    if plain is not None:
        assert plain.tolist() == [0, 1]
