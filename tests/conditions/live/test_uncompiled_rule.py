"""A rule that is asked by itself says what the meaning of its condition says."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from tests.cases import Event, make_condition, make_event
from tests.strategies import conditions, events

from tocsin.conditions.language import Condition, parse_condition, print_condition
from tocsin.conditions.live.uncompiled_rule import FreshRule
from tocsin.conditions.matching.event_reader import is_plain
from tocsin.conditions.meaning import matches


def plain_part(event: Event) -> dict[str, object]:
    return {name: value for name, value in event.items() if is_plain(value)}


@settings(max_examples=300)
@given(condition=conditions(), event=events())
def test_any_condition(condition: Condition, event: Event) -> None:
    rule = FreshRule(print_condition(condition))
    plain = plain_part(event)
    if rule.is_plain:
        assert rule.matches(plain) == matches(condition, plain)


def test_many_conditions() -> None:
    """Enough of them that every connective stands above every other, and that some match."""
    source = random.Random(11)
    matched = 0
    for _ in range(1_500):
        condition = make_condition(source)
        rule = FreshRule(print_condition(condition))
        plain = plain_part(make_event(source))
        if rule.is_plain:
            expected = matches(condition, plain)
            matched += expected
            assert rule.matches(plain) == expected, print_condition(condition)
    assert matched > 50


@pytest.mark.parametrize(
    "when",
    [
        "a",
        "not a",
        "a = 1",
        "A = 1",
        "a != 1",
        "a is null",
        "a IS NOT NULL",
        "a is null and b = 1",
        "a NOT in (1, 2)",
        "a between 0 and 2",
        "a like '1%' or b = 1",
        '"a" = 1',
        "a.b = 1",
        "a . b = 1",
        "a -- a comment\n = 1",
        "cidr (a, '10.0.0.0/8')",
        "true",
        "false or a = 1",
        "true and a = 1",
        "not (a = 1 and b = 1)",
        "not (a = 1 or b = 1)",
        "a = 1 xor b = 1",
        "(a = 1 or b = 1) xnor (a = 2 and b = 2)",
        "a = 1 and (b = 1 or not (a = 2 xor b is null))",
        "(a = 1 and b = 1 and true) or (b = 2 and not a = 1)",
    ],
)
def test_stated_conditions(when: str) -> None:
    rule = FreshRule(when)
    condition = parse_condition(when)
    values: tuple[object, ...] = (None, 0, 1, 2, True, "1", "10.1.2.3", [], [1, 2], ["1"])
    assert rule.is_plain == all(len(each.field) == 1 for each in condition.predicates())
    for event in ({"a": a, "b": b} for a in values for b in values):
        present = {name: value for name, value in event.items() if value is not None}
        assert rule.matches(event) == rule.matches(present) == matches(condition, event), event
