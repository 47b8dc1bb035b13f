"""The canonical form as a whole: one form for one expression, the same meaning, any depth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conditions.language.canonical.canonical_form import PASSES, canonical
from tests.conditions.language.canonical.scrambling import scramble
from tests.strategies import Drawn, conditions, events

from tocsin.conditions.language import (
    Condition,
    Connective,
    Constant,
    Operator,
    Predicate,
    parse_condition,
    print_condition,
)
from tocsin.conditions.meaning import condition_truth


def form(text: str) -> str:
    return print_condition(canonical(parse_condition(text)))


@st.composite
def same_expressions(draw: st.DrawFn) -> tuple[Condition, Condition]:
    condition = draw(conditions())
    return condition, scramble(Drawn(draw), condition)


@settings(max_examples=300)
@given(conditions(), st.lists(events(), min_size=1, max_size=4))
def test_every_pass_keeps_all_three_truths(condition: Condition, seen: list[dict[str, object]]) -> None:
    truths = [condition_truth(condition, event) for event in seen]
    for run in PASSES:
        condition = run(condition)
        assert [condition_truth(condition, event) for event in seen] == truths, run.__name__


@settings(max_examples=300)
@given(same_expressions())
def test_one_expression_has_one_form(pair: tuple[Condition, Condition]) -> None:
    written, scrambled = pair
    assert canonical(written) == canonical(scrambled)


@settings(max_examples=200)
@given(conditions())
def test_the_form_of_a_form_is_itself_and_can_be_read_back(condition: Condition) -> None:
    found = canonical(condition)
    assert canonical(found) == found
    assert parse_condition(print_condition(found)) == found


@settings(max_examples=200)
@given(conditions())
def test_the_shape_of_a_form(condition: Condition) -> None:
    """What the passes promise, looked at one operator at a time."""
    steps = canonical(condition).steps
    xors = (Connective.XOR, Connective.XNOR)
    waiting: list[int] = []
    for at, step in enumerate(steps):
        if isinstance(step, Operator):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            below = [
                each.connective if isinstance(each, Operator) else None
                for each in map(steps.__getitem__, operands)
            ]
            if step.connective is Connective.NOT:
                assert isinstance(steps[operands[0]], Predicate)
            elif step.connective in xors:
                assert below[0] not in (Connective.NOT, Connective.OR, Connective.XNOR)
                assert below[1] not in (Connective.NOT, Connective.OR, *xors)
            else:
                assert step.connective not in below
                assert step.arity >= 2
        elif isinstance(step, Constant):
            assert len(steps) == 1
        waiting.append(at)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a and b", "a or b"),
        ("a xor b", "a xnor b"),
        ("a", "a != true"),
        ("a = false", "a != true"),
        ("n >= 5", "not n < 5"),
        ("n between 1 and 5", "n >= 1 and n <= 5"),
        ("a or not a", "true"),
        ("a and not a", "false"),
        ("a xor a", "false"),
        ("a xor a xor b", "b"),
        ("a and (b or c)", "a and b or a and c"),
        ("a or a and b", "a"),
        ("s = 'a'", "s = 'A'"),
        ("n = 1", "n = '1'"),
        ('"a.b" = 1', "a.b = 1"),
    ],
)
def test_different_expressions_stay_apart(one: str, other: str) -> None:
    assert form(one) != form(other)


def test_the_order_of_operands_does_not_depend_on_what_else_is_there() -> None:
    apart = form("(b = 1 or d = 1) and (a = 1 xor c = 1)")
    assert apart == "(b = 1 or d = 1) and (a = 1 xor c = 1)"
    assert apart in form("((c = 1 xor a = 1) and (d = 1 or b = 1)) or (a = 1 xor c = 1) or z = 1 and q = 1")


DEEP = 100_000
LESS_DEEP = 10_000
"""Deep enough to be seen when something recurses or grows with the square, and quick to read."""


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(" * DEEP + "a" + ")" * DEEP, 1),
        ("not " * DEEP + "a", 1),
        ("not (" * LESS_DEEP + "a" + " and b)" * LESS_DEEP, 3 * LESS_DEEP + 1 - LESS_DEEP // 2),
        ("(" * LESS_DEEP + "a" + " xor b)" * LESS_DEEP, 2 * LESS_DEEP + 1),
        ("a xor (" * LESS_DEEP + "b" + ")" * LESS_DEEP, 2 * LESS_DEEP + 1),
        ("a and (b or (" * LESS_DEEP + "c" + "))" * LESS_DEEP, 4 * LESS_DEEP + 1),
        ("a or b or " * LESS_DEEP + "c", 4),
    ],
    ids=["parentheses", "nots", "not and", "xor left", "xor right", "and or", "wide"],
)
def test_a_deep_or_long_condition(text: str, steps: int) -> None:
    found = canonical(parse_condition(text))
    assert len(found.steps) == steps
    assert parse_condition(print_condition(found)) == found


@pytest.mark.parametrize("repeat", [lambda part: f"({part} and {part})", lambda part: f"({part} or {part})"])
def test_nested_repetition_is_found_at_every_level(repeat: Callable[[str], str]) -> None:
    text = "(a or b)"
    for name in "cdefghij":
        text = f"({repeat(text)} or {name})"
    assert form(text) == form(" or ".join("abcdefghij"))
