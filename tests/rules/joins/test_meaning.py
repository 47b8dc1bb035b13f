"""What a comparison of two fields means, by kind of value and for lists."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.strategies import conditions, events

from tocsin.conditions.language import Condition, Predicate, Test
from tocsin.conditions.meaning import Event, Truth, condition_truth
from tocsin.rules import Comparison, JoinedCondition, joined_truth
from tocsin.rules.joins.meaning import comparison_truth
from tocsin.rules.joins.parser import parse_joined

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TRUE, FALSE, UNKNOWN = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("left", "right", "equal", "less"),
    [
        (1, 1.0, TRUE, FALSE),
        (1, Decimal("1.00"), TRUE, FALSE),
        (0.1, Decimal("0.1"), FALSE, FALSE),
        (2**70, float(2**70), TRUE, FALSE),
        (2**70, 2**70 + 1, FALSE, TRUE),
        (1, True, UNKNOWN, UNKNOWN),
        (False, True, FALSE, TRUE),
        ("1", 1, UNKNOWN, UNKNOWN),
        ("Z", "a", FALSE, TRUE),
        ("é", "z", FALSE, FALSE),
        (None, 1, UNKNOWN, UNKNOWN),
        (float("nan"), float("nan"), UNKNOWN, UNKNOWN),
        ("2026-01-31T12:00:00Z", NOON, TRUE, FALSE),
        (NOON, "2026-01-31T14:00:00+01:00", FALSE, TRUE),
        ("2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", FALSE, TRUE),
        ("noon", NOON, UNKNOWN, UNKNOWN),
        (NOON, 5, UNKNOWN, UNKNOWN),
        ({"a": 1}, {"a": 1}, UNKNOWN, UNKNOWN),
        ([1, 2], 2, TRUE, TRUE),
        ([1, 2], [2, 3], TRUE, TRUE),
        ([3, "x"], [1, "y"], FALSE, TRUE),
        ([], 1, FALSE, FALSE),
        ([], [], FALSE, FALSE),
        ([], None, UNKNOWN, UNKNOWN),
        ([None, float("nan")], 1, FALSE, FALSE),
        ([True, {"a": 1}], [1], UNKNOWN, UNKNOWN),
    ],
)
def test_two_values(left: Any, right: Any, equal: Truth, less: Truth) -> None:
    rows = {"a": {"x": left}, "b": {"y": right}}
    assert comparison_truth(Comparison(("a", "x"), Test.EQ, ("b", "y")), rows) is equal
    assert comparison_truth(Comparison(("b", "y"), Test.EQ, ("a", "x")), rows) is equal
    assert comparison_truth(Comparison(("a", "x"), Test.LT, ("b", "y")), rows) is less
    assert comparison_truth(Comparison(("b", "y"), Test.GT, ("a", "x")), rows) is less
    assert joined_truth(parse_joined("a.x != b.y", ("a", "b")), rows) is Truth(-equal)
    assert joined_truth(parse_joined("not (a.x = b.y or a.x < b.y)", ("a", "b")), rows) is Truth(
        -max(equal, less)
    )


def test_nested_fields_and_lists_of_objects() -> None:
    rows: dict[str, Event] = {"a": {"p": [{"q": 1}, {"q": 2}]}, "b": {"r": {"s": 2}}}
    assert joined_truth(parse_joined("a.p.q = b.r.s", ("a", "b")), rows) is TRUE
    assert joined_truth(parse_joined("a.p = b.r.s", ("a", "b")), rows) is UNKNOWN


@given(conditions(), events())
def test_a_condition_on_one_alias_means_what_it_means_without(condition: Condition, event: Event) -> None:
    steps = tuple(
        Predicate(("a", *step.field), step.test, step.operands) if isinstance(step, Predicate) else step
        for step in condition.steps
    )
    assert joined_truth(JoinedCondition(steps), {"a": event}) is condition_truth(condition, event)
