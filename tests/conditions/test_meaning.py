"""The specification's truth tables, written out.

Each table is a list of (condition, event, truth). T, F and U are true, false and unknown.
"""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.cases import random_condition, random_event
from tests.strategies import conditions, events, predicates

from tocsin.conditions.language import (
    Condition,
    Connective,
    Literal,
    Operator,
    Predicate,
    Test,
    parse_condition,
)
from tocsin.conditions.meaning import (
    Event,
    Truth,
    condition_truth,
    matches,
    predicate_truth,
    step_truths,
)
from tocsin.events import Kind

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
NAN, INF = float("nan"), float("inf")
Table = list[tuple[str, Event, Truth]]


def truth(text: str, event: Event) -> Truth:
    return condition_truth(parse_condition(text), event)


def check(table: Table) -> None:
    wrong = [(text, event, expected) for text, event, expected in table if truth(text, event) is not expected]
    assert not wrong


# ---- Truth: Kleene

OPERAND = {T: "t", F: "f", U: "u"}
"""Fields of the event below that are true, false and missing."""
AND = {(T, T): T, (T, F): F, (T, U): U, (F, F): F, (F, U): F, (U, U): U}
OR = {(T, T): T, (T, F): T, (T, U): T, (F, F): F, (F, U): U, (U, U): U}
XOR = {(T, T): F, (T, F): T, (T, U): U, (F, F): F, (F, U): U, (U, U): U}
XNOR = {(T, T): T, (T, F): F, (T, U): U, (F, F): T, (F, U): U, (U, U): U}


@pytest.mark.parametrize(("word", "table"), [("and", AND), ("or", OR), ("xor", XOR), ("xnor", XNOR)])
def test_connectives(word: str, table: dict[tuple[Truth, Truth], Truth]) -> None:
    event = {"t": True, "f": False}
    for (left, right), expected in table.items():
        assert truth(f"{OPERAND[left]} {word} {OPERAND[right]}", event) is expected
        assert truth(f"{OPERAND[right]} {word} {OPERAND[left]}", event) is expected


def test_not_and_constants() -> None:
    check(
        [
            ("not t", {"t": True}, F),
            ("not t", {"t": False}, T),
            ("not t", {}, U),
            ("not not t", {}, U),
            ("true", {}, T),
            ("false", {}, F),
            ("not false", {}, T),
            ("true or u", {}, T),
            ("true and u", {}, U),
            ("t and f and u", {"t": True, "f": False}, F),
            ("u or f or t", {"t": True, "f": False}, T),
            ("t xor t xor t", {"t": True}, T),
            ("t xnor f xor t", {"t": True, "f": False}, T),
        ]
    )


def test_no_complement_law_holds() -> None:
    check(
        [
            ("x = 1 or not x = 1", {}, U),
            ("x = 1 and not x = 1", {}, U),
            ("x = 1 xor x = 1", {}, U),
            ("x = 1 xnor x = 1", {}, U),
            ("x < 5 or x >= 5", {}, U),
        ]
    )


def test_only_true_matches() -> None:
    condition = parse_condition("x = 1")
    assert [matches(condition, event) for event in ({"x": 1}, {"x": 2}, {})] == [True, False, False]


def test_a_truth_is_not_a_bool() -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(U)


def test_step_truths_are_those_of_every_part() -> None:
    condition = parse_condition("a = 1 and not (b = 2 or c is null)")
    assert step_truths(condition, {"a": 1, "b": 3}) == [T, F, T, T, F, F]


# ---- Events: kinds, missing


@pytest.mark.parametrize(
    "missing",
    [None, NAN, Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), np.datetime64("NaT"), pd.NaT, pd.NA],
)
def test_missing(missing: object) -> None:
    for event in ({}, {"x": missing}, {"y": {"x": 1}}, {"x.y": 1}):
        check(
            [
                ("x = 1", event, U),
                ("x != 1", event, U),
                ("x in (1, 2)", event, U),
                ("x between 0 and 9", event, U),
                ("x like '%'", event, U),
                ("x matches ''", event, U),
                ("cidr(x, '::/0')", event, U),
                ("x", event, U),
                ("x is null", event, T),
                ("x is not null", event, F),
                ("x.y is null", event, T),
            ]
        )


def test_every_predicate_is_unknown_to_another_kind() -> None:
    values: dict[str, object] = {
        "number": 1,
        "string": "a",
        "boolean": True,
        "timestamp": datetime(2026, 1, 1),
        "object": {"y": 1},
    }
    asked = {
        "x = 1": "number",
        "x != 1.5": "number",
        "x in (1, 2)": "number",
        "x not between 5 and 9": "number",
        "x = 'a'": "string",
        "x > ''": "string",
        "x like '%'": "string",
        "x not ilike 'b'": "string",
        "x matches 'a'": "string",
        "x": "boolean",
        "x != false": "boolean",
        "x in (true)": "boolean",
        "x > timestamp '2000-01-01T00:00:00Z'": "timestamp",
        "x != timestamp '2000-01-01T00:00:00Z'": "timestamp",
    }
    for text, kind in asked.items():
        for name, value in values.items():
            assert truth(text, {"x": value}) is (T if name == kind else U), (text, name)
            assert truth("x is null", {"x": value}) is F
    assert truth("cidr(x, '0.0.0.0/0')", {"x": 1}) is U


def test_numbers_compare_by_value() -> None:
    big = 2**53
    check(
        [
            ("x = 1", {"x": 1.0}, T),
            ("x = 1.0", {"x": 1}, T),
            ("x = 0", {"x": -0.0}, T),
            ("x = 1", {"x": True}, U),
            ("x = true", {"x": 1}, U),
            (f"x = {big + 1}", {"x": big + 1}, T),
            (f"x = {big + 1}", {"x": big}, F),
            (f"x = {big + 1}", {"x": float(big)}, F),
            (f"x > {big}", {"x": big + 1}, T),
            (f"x <= {big}", {"x": big + 1}, F),
            (f"x = {big + 1}.0", {"x": big}, T),  # the nearest double of the literal
            (f"x = {big + 1}.0", {"x": big + 1}, F),
            (f"x = {2**63 - 1}", {"x": 2.0**63}, F),
            (f"x < {2**63 - 1}", {"x": 2**64}, F),
            (f"x > {2**63 - 1}", {"x": 10**400}, T),
            ("x > 1e308", {"x": 10**400}, T),
            ("x > 1e308", {"x": INF}, T),
            ("x < 0", {"x": -INF}, T),
            ("x = 0.1", {"x": 0.1}, T),
            ("x = 0.1", {"x": np.float32(0.1)}, F),
            ("x = 5e-324", {"x": 5e-324}, T),
        ]
    )


def test_decimals_compare_with_the_literals_text() -> None:
    check(
        [
            ("x = 0.1", {"x": Decimal("0.1")}, T),
            ("x = 0.10", {"x": Decimal("0.1000")}, T),
            ("x = 0.1", {"x": Decimal.from_float(0.1)}, F),
            ("x < 0.1", {"x": Decimal.from_float(0.1)}, F),
            ("x = 5", {"x": Decimal("5.00")}, T),
            (f"x = {2**53 + 1}.0", {"x": Decimal(2**53 + 1)}, T),
            (f"x = {2**53 + 1}", {"x": Decimal(2**53 + 1)}, T),
            ("x in (1, 0.1)", {"x": Decimal("0.1")}, T),
            ("x between 0.1 and 0.2", {"x": Decimal("0.1")}, T),
            ("x > 1e30", {"x": Decimal("Infinity")}, T),
            ("x > 1", {"x": Decimal("1." + "0" * 60 + "1")}, T),
        ]
    )


def test_strings_compare_byte_by_byte_in_utf8() -> None:
    check(
        [
            ("x = 'é'", {"x": "e\u0301"}, F),
            ("x = ''", {"x": ""}, T),
            ("x > ''", {"x": "\x00"}, T),
            ("x < 'a'", {"x": "B"}, T),
            ("x < '10'", {"x": "9"}, F),
            ("x > '\uffff'", {"x": "😀"}, T),
            ("x in ('a', 'b')", {"x": "b"}, T),
            ("x between 'a' and 'b'", {"x": "az"}, T),
            ("x between 'a' and 'b'", {"x": "ba"}, F),
        ]
    )


def test_booleans_are_ordered() -> None:
    check(
        [
            ("x < true", {"x": False}, T),
            ("x <= false", {"x": True}, F),
            ("x between false and true", {"x": True}, T),
            ("x", {"x": np.bool_(True)}, T),
        ]
    )


def test_both_ends_are_included_and_a_reversed_between_is_never_true() -> None:
    check(
        [
            ("x between 1 and 3", {"x": 1}, T),
            ("x between 1 and 3", {"x": 3}, T),
            ("x between 3 and 1", {"x": 2}, F),
            ("x not between 3 and 1", {"x": 2}, T),
            ("x between 3 and 1", {}, U),
        ]
    )


def test_timestamps() -> None:
    noon = "x = timestamp '2026-01-31T12:00:00Z'"
    after = "x > timestamp '2026-01-31T12:00:00Z'"
    check(
        [
            (noon, {"x": "2026-01-31T12:00:00Z"}, T),
            (noon, {"x": "2026-01-31T13:00:00+01:00"}, T),
            (noon, {"x": "2026-01-31T12:00:00"}, U),
            (noon, {"x": "soon"}, U),
            (noon, {"x": 1769860800}, U),
            (noon, {"x": datetime(2026, 1, 31, 12)}, T),
            (noon, {"x": datetime(2026, 1, 31, 12, tzinfo=UTC)}, T),
            (noon, {"x": datetime(2026, 1, 31, 14, tzinfo=timezone(timedelta(hours=2)))}, T),
            (noon, {"x": np.datetime64("2026-01-31T12")}, T),
            (after, {"x": np.datetime64("2026-01-31T12:00:00.000000001")}, T),
            (after, {"x": pd.Timestamp("2026-01-31T12:00:00.000000001")}, T),
            (after, {"x": pd.Timestamp("2026-01-31T12:00:00.000000001+01:00")}, F),
            (after, {"x": "2026-01-31T12:00:00.000000001Z"}, T),
            (after, {"x": date(2026, 2, 1)}, T),
            ("x = timestamp '2026-02-01T00:00:00Z'", {"x": date(2026, 2, 1)}, T),
            ("x = timestamp '2026-02-01T00:00:00Z'", {"x": np.datetime64("2026-02")}, T),
            (
                "x < timestamp '0001-01-01T00:00:00Z'",
                {"x": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))},
                T,
            ),
            ("x = '2026-01-31T12:00:00Z'", {"x": datetime(2026, 1, 31, 12)}, U),
            ("x = '2026-01-31T12:00:00Z'", {"x": "2026-01-31T12:00:00Z"}, T),
            ("x in (timestamp '2026-01-31T12:00:00Z')", {"x": "2026-01-31 12:00:00z"}, T),
        ]
    )


def test_patterns_expressions_and_networks() -> None:
    check(
        [
            ("x like 'a\\%_'", {"x": "a%\n"}, T),
            ("x not like 'a%'", {"x": "b"}, T),
            ("x ilike 'STRAßE'", {"x": "straße"}, T),
            ("x like 'STRAßE'", {"x": "straße"}, F),
            ("x matches 'b+$'", {"x": "abb"}, T),
            ("x not matches '^b'", {"x": "abb"}, T),
            ("cidr(x, '10.0.0.0/8')", {"x": "10.1.2.3"}, T),
            ("cidr(x, '10.0.0.0/8')", {"x": "::ffff:10.1.2.3"}, T),
            ("cidr(x, '10.0.0.0/8')", {"x": "11.0.0.0"}, F),
            ("cidr(x, '10.0.0.0/8')", {"x": "::1"}, F),
            ("cidr(x, '::/0')", {"x": "10.1.2.3"}, F),
            ("cidr(x, '10.0.0.0/8')", {"x": "host"}, U),
            ("not cidr(x, '10.0.0.0/8')", {"x": "host"}, U),
            ("cidr(x, '10.0.0.0/8')", {"x": ["host", "10.0.0.1"]}, T),
            ("not cidr(x, '10.0.0.0/8')", {"x": ["host", "11.0.0.1"]}, T),
        ]
    )


# ---- Lists


def test_a_list_satisfies_a_predicate_when_any_element_does() -> None:
    check(
        [
            ("x = 1", {"x": [1, 2]}, T),
            ("x = 3", {"x": [1, 2]}, F),
            ("x != 1", {"x": [1, 2]}, F),
            ("x != 3", {"x": [1, 2]}, T),
            ("x < 5", {"x": [1, 9]}, T),
            ("x >= 5", {"x": [1, 9]}, T),
            ("not x < 5", {"x": [1, 9]}, F),  # not the opposite operator
            ("not x < 5", {"x": [7, 9]}, T),
            ("x between 4 and 6", {"x": [1, 9]}, F),  # one predicate, not two
            ("x >= 4 and x <= 6", {"x": [1, 9]}, T),
            ("x not between 4 and 6", {"x": [1, 9]}, T),
            ("x not in (1)", {"x": [1, 2]}, F),
            ("x not in (3)", {"x": [1, 2]}, T),
            ("x not like 'a%'", {"x": ["b", "ab"]}, F),
            ("x not matches 'a'", {"x": ["b", "c"]}, T),
            ("x", {"x": [False, True]}, T),
            ("not x", {"x": [False, True]}, F),
            ("x is null", {"x": [1]}, F),
            ("x = 1", {"x": (2, 1)}, T),
            ("x = 1", {"x": {1}}, T),
            ("x = 1", {"x": np.array([1, 2])}, T),
            ("x > timestamp '2026-01-01T00:00:00Z'", {"x": ["soon", "2026-02-01T00:00:00Z"]}, T),
        ]
    )


def test_kinds_in_lists() -> None:
    check(
        [
            ("x = 1", {"x": ["a"]}, U),
            ("x != 1", {"x": ["a"]}, U),
            ("x = 1", {"x": ["a", 1]}, T),
            ("x = 1", {"x": ["a", 2]}, F),
            ("x != 1", {"x": ["a", 2]}, T),
            ("x = 1", {"x": [True]}, U),
            ("x = 1", {"x": [{"y": 1}]}, U),
            ("x is null", {"x": [{"y": 1}]}, F),
            ("x = 1", {"x": [{"y": 1}, 1]}, T),
            ("x != 1", {"x": [{"y": 1}, 2]}, T),
            ("x > timestamp '2026-01-01T00:00:00Z'", {"x": ["soon"]}, U),
        ]
    )


@pytest.mark.parametrize(
    "empty", [[], (), [None], [NAN, None], [[]], [[], [None, [Decimal("NaN")]]], np.array([])]
)
def test_an_empty_list_satisfies_no_positive_predicate_and_every_negated_one(empty: Any) -> None:
    positives = [
        "x = 1",
        "x < 'a'",
        "x",
        "x in (1)",
        "x between 1 and 2",
        "x like '%'",
        "x ilike '%'",
        "x matches ''",
    ]
    positives += ["cidr(x, '::/0')", "x > timestamp '2026-01-01T00:00:00Z'"]
    for positive in positives:
        assert truth(positive, {"x": empty}) is F
        assert truth(f"not {positive}", {"x": empty}) is T
    assert truth("x is null", {"x": empty}) is F
    assert truth("x != 1", {"x": empty}) is T


def test_nulls_and_nans_are_dropped_and_lists_in_lists_flattened() -> None:
    check(
        [
            ("x = 1", {"x": [None, 1]}, T),
            ("x != 1", {"x": [NAN, 2]}, T),
            ("x = 1", {"x": [None, "a"]}, U),
            ("x = 1", {"x": [[2], [[1]]]}, T),
            ("x != 1", {"x": [[2], [[3]]]}, T),
            ("x = 1", {"x": [[], ["a"]]}, U),
        ]
    )


# ---- Names and depth


def test_a_quoted_name_is_one_key() -> None:
    check(
        [
            ('"a.b" = 1', {"a.b": 1, "a": {"b": 2}}, T),
            ("a.b = 2", {"a.b": 1, "a": {"b": 2}}, T),
            ("A = 1", {"a": 1}, U),
        ]
    )


def test_nothing_recurses() -> None:
    depth = 100_000
    leaf = Predicate(("x",), Test.EQ, (Literal(Kind.NUMBER, 1),))
    deep = Condition((leaf, *[Operator(Connective.NOT, 1)] * depth))
    assert condition_truth(deep, {"x": 1}) is T
    wide = Condition((*[leaf] * depth, Operator(Connective.AND, depth)))
    assert condition_truth(wide, {"x": 1}) is T


# ---- Laws that do hold, over random conditions and events


@given(predicates(), events())
def test_not_turns_true_and_false_and_leaves_unknown(predicate: Predicate, event: Event) -> None:
    negated = Condition((predicate, Operator(Connective.NOT, 1)))
    assert condition_truth(negated, event) is Truth(-predicate_truth(predicate, event))


@given(conditions(), conditions(), events())
def test_order_repetition_and_double_negation_do_not_matter(
    left: Condition, right: Condition, event: Event
) -> None:
    def whole(*steps: Any) -> Truth:
        return condition_truth(Condition(steps), event)

    for connective in (Connective.AND, Connective.OR, Connective.XOR, Connective.XNOR):
        operator = Operator(connective, 2)
        assert whole(*left.steps, *right.steps, operator) is whole(*right.steps, *left.steps, operator)
    for connective in (Connective.AND, Connective.OR):
        assert whole(*left.steps, *left.steps, Operator(connective, 2)) is whole(*left.steps)
    twice = [Operator(Connective.NOT, 1)] * 2
    assert whole(*left.steps, *twice) is whole(*left.steps)


def test_random_cases_reach_every_truth() -> None:
    rng = random.Random(7)
    seen = [condition_truth(random_condition(rng), random_event(rng)) for _ in range(1_000)]
    assert all(seen.count(value) > 100 for value in Truth)
