"""Why a rule could not match: what is said, and that it is never said of a rule that can."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Event, make_event, make_rule_set
from tests.strategies import events, rule_sets

from tocsin.conditions.language import Condition, parse_condition
from tocsin.conditions.meaning import Truth, condition_truth
from tocsin.events import FieldPlan
from tocsin.history.overview import value_summaries as seen_module
from tocsin.history.overview.satisfiability import Satisfiability
from tocsin.history.overview.value_summaries import FieldSummary, add_events

EVENTS: list[Event] = [
    {
        "age": age,
        "state": state,
        "flag": True,
        "at": "2026-01-01T00:00:00Z",
        "user": {"zip": "1"},
        "tags": [],
        "big": 10**400,
    }
    for age, state in [(30, "CA"), (31, "NY"), (32, "WA"), (33, "OR")]
]


def asked(given_events: list[Event], conditions: list[Condition]) -> Satisfiability:
    """What the events held in all fields of the conditions, by way of JSON as between processes."""
    fields = sorted({predicate.field for each in conditions for predicate in each.predicates()})
    merged = {path: FieldSummary() for path in fields}
    for first in range(0, len(given_events), 3):
        noted = {path: FieldSummary() for path in fields}
        add_events(noted, FieldPlan(fields).batch(given_events[first : first + 3]))
        for path, seen in noted.items():
            merged[path].add(FieldSummary.from_json(seen.to_json()))
    return Satisfiability(len(given_events), {path: each for path, each in merged.items() if each.present})


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("age > 200", "age > 200 never holds: the values go from 30 to 33"),
        ("age = 3", "age = 3 never holds: there are 4 other values, such as 30, 31, 32"),
        ("state = 'ca'", "state = 'ca' never holds: there is 'CA'"),
        ("flag = false", "flag = false never holds: there is only true"),
        ("nowhere = 1", "no event has the field nowhere"),
        ("user.name = 'x' and age > 0", "no event has the field user.name"),
        ("age = '30'", "age is never a string: it holds numbers"),
        ("contains(age, 'x')", "age is never a string: it holds numbers"),
        ("user = 1", "user is never a number: it holds objects or empty lists"),
        ("cidr(user.zip, '10.0.0.0/8')", "user.zip is never an IP address: there is only '1'"),
        ("not cidr(user.zip, '10.0.0.0/8')", "user.zip is never an IP address: there is only '1'"),
        ("user.zip > timestamp '2026-01-01T00:00:00Z'", "user.zip is never a timestamp: there is only '1'"),
        ("state is null", "every event has the field state"),
        ("not (state is not null)", "every event has the field state"),
        ("not age > 0", "age > 0 holds wherever it is known"),
        ("at < timestamp '2020-01-01T00:00:00Z'", "there is only '2026-01-01T00:00:00Z'"),
        ("false", "the condition says false"),
        ("age > 0 xor nowhere = 1", "no event has the field nowhere"),
        ("(a = 1 or b = 2) and (c = 3 or age = 30)", "no event has the field a; no event has the field b"),
        ("a = 1 or b = 2 or c = 3 or d = 4 or e = 5", "no event has the field c; and 2 more"),
        ("tags = 'x'", "tags = 'x' never holds: tags holds objects or empty lists"),
    ],
)
def test_what_is_said(when: str, why: str) -> None:
    condition = parse_condition(when)
    said = asked(EVENTS, [condition]).why_never(condition)
    assert said is not None
    assert why in said


@pytest.mark.parametrize(
    "when",
    [
        "age = 30 and age = 31",
        "big = 1",
        "big < 0",
        "contains(state, 'nothing')",
        "nowhere is null and nowhere is null",
        "tags = 'x' or not tags = 'x'",
        "true",
    ],
)
def test_nothing_is_said_of_what_cannot_be_ruled_out(when: str) -> None:
    condition = parse_condition(when)
    assert asked(EVENTS, [condition]).why_never(condition) is None


@pytest.mark.parametrize("most", [1_000, 1])
def test_a_timestamp_out_of_range(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime as dt

    monkeypatch.setattr(seen_module, "MOST_VALUES", most)
    given_events: list[Event] = [{"at": dt.datetime(2026, 1, day), "n": day} for day in (3, 1, 2)]
    late = parse_condition("at > timestamp '2026-02-01T00:00:00Z' or n between 4 and 9 or n in (0, 7)")
    possible = asked(given_events, [late])
    assert possible.why_never(late) is not None
    for when in (
        "at > timestamp '2026-01-02T00:00:00Z'",
        "n between 2 and 9",
        "n in (0, 2)",
        "n <= 1",
        "n >= 3",
    ):
        assert possible.why_never(parse_condition(when)) is None


def check(rules: list[tuple[str, Condition]], given_events: list[Event]) -> None:
    conditions = [condition for _, condition in rules]
    possible = asked(given_events, conditions)
    for condition in conditions:
        can = possible.can(condition)
        truths = {condition_truth(condition, event) for event in given_events}
        assert can.hold or Truth.TRUE not in truths
        assert can.fail or Truth.FALSE not in truths
        assert (possible.why_never(condition) is None) == can.hold


@settings(max_examples=60)
@given(rule_sets(), st.lists(events(), min_size=1, max_size=6), st.sampled_from([1_000, 2]))
def test_what_happens_was_possible(rules: Any, given_events: list[Event], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_module, "MOST_VALUES", most)
        check(rules, given_events)


def test_much_is_ruled_out() -> None:
    never = ruled_out = 0
    for seed in range(20):
        rng = random.Random(seed)
        rules = make_rule_set(rng, 30)
        given_events = [make_event(rng) for _ in range(5)]
        check(rules, given_events)
        possible = asked(given_events, [condition for _, condition in rules])
        for _, condition in rules:
            if not any(condition_truth(condition, event) is Truth.TRUE for event in given_events):
                never += 1
                ruled_out += not possible.can(condition).hold
    assert never > 100
    assert ruled_out > never / 4
