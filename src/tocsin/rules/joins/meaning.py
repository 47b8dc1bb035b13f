"""What a condition over several tables means on a joined row: the obvious evaluator.

`rows` has a row for each alias. A comparison of two fields is what a predicate is, with the other field's
value in the place of the literal: unknown when either is missing, or when they hold nothing of one kind;
a list satisfies it when any element does, with any element of the other side. A string that meets a
timestamp is read as RFC 3339. Numbers compare exactly by value, whatever their types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tocsin.conditions.language import Predicate, Test
from tocsin.conditions.meaning import Event, Truth, lookup, predicate_truth, truths_of, value_as
from tocsin.conditions.operators import COMPARISONS
from tocsin.events import Kind
from tocsin.rules.joins.tree import Comparison, JoinedCondition
from tocsin.text import DEFAULT, TextSettings


def joined_truth(
    condition: JoinedCondition, rows: Mapping[str, Event], texts: TextSettings = DEFAULT
) -> Truth:
    """The truth of a condition on a joined row."""
    return joined_truths(condition, rows, texts)[-1]


def joined_truths(
    condition: JoinedCondition, rows: Mapping[str, Event], texts: TextSettings = DEFAULT
) -> list[Truth]:
    """The truth of every step; the last is the whole's."""

    def leaf_truth(step: Predicate | Comparison) -> Truth:
        if isinstance(step, Comparison):
            return comparison_truth(step, rows)
        bare = Predicate(step.field[1:], step.test, step.operands)
        return predicate_truth(bare, rows[step.field[0]], texts)

    return truths_of(condition.steps, leaf_truth)


def comparison_truth(comparison: Comparison, rows: Mapping[str, Event]) -> Truth:
    """The truth of a comparison of two fields."""
    left, right = (lookup(rows[path[0]], path[1:]) for path in (comparison.left, comparison.right))
    if left is None or right is None:
        return Truth.UNKNOWN
    lefts, rights = (found if isinstance(found, list) else [found] for found in (left, right))
    if not lefts or not rights:
        return Truth.FALSE
    known = [
        truth
        for one in lefts
        for other in rights
        if (truth := _compared(comparison.test, one, other)) is not None
    ]
    if not known:
        return Truth.UNKNOWN
    return Truth.TRUE if any(known) else Truth.FALSE


def _compared(test: Test, left: object, right: object) -> bool | None:
    """Whether two values compare so; None when they are of two kinds."""
    first, second = kind_of(left), kind_of(right)
    if first is None or second is None:
        return None
    kind = Kind.TIMESTAMP if Kind.TIMESTAMP in (first, second) else first
    one: Any = value_as(kind, left)
    other: Any = value_as(kind, right)
    if one is None or other is None:
        return None
    return bool(COMPARISONS[test](one, other))


def kind_of(value: object) -> Kind | None:
    """The kind of a value as lookup gives it; None for an object."""
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, str):
        return Kind.STRING
    return next((kind for kind in (Kind.NUMBER, Kind.TIMESTAMP) if value_as(kind, value) is not None), None)
