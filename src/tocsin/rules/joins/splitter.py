"""A condition over several tables, cut into what each part of the machinery does.

The conjuncts of the condition, which must all be true, are of three sorts:

    selection    v.category = 'Sports'       fields of one alias: asked of a row before it is joined
    equality     b.vid = v.vid               joins rows of two aliases by a key
    filter       everything else over several aliases, asked of joined rows: b.at < v.until, b.x != v.x,
                 (b.n = 1 or v.n = 1)

Kleene's `and` is true when all its operands are, so the order in which they are asked changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.conditions.language import (
    TEXT_TESTS,
    Condition,
    Connective,
    Operator,
    Predicate,
    Step,
    Test,
    conjuncts,
)
from tocsin.rules.joins.tree import Comparison, JoinedCondition, JoinedStep


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a condition.

    selections   by alias, without the alias in their fields; an alias that nothing is asked of has none
    equalities   joins by key
    filters      conditions on joined rows
    bound        the aliases that a selection or a join says something of; comparisons other than `=` are
                 joins too, although they are worked out as filters
    """

    selections: dict[str, Condition]
    equalities: tuple[Comparison, ...]
    filters: tuple[JoinedCondition, ...]
    bound: frozenset[str]


def split(condition: JoinedCondition) -> Split:
    """Cut a condition apart."""
    selections: dict[str, list[list[Step]]] = {}
    equalities: list[Comparison] = []
    filters: list[JoinedCondition] = []
    bound: set[str] = set()
    for steps in conjuncts(condition.steps, condition.operands()):
        aliases = {path[0] for path in JoinedCondition(steps).fields()}
        plain = _without_alias(steps) if len(aliases) == 1 else None
        if len(aliases) == 1 or _is_comparison(steps):
            bound |= aliases
        if plain is not None:
            selections.setdefault(aliases.pop(), []).append(plain)
        elif len(steps) == 1 and isinstance(steps[0], Comparison) and _joins_by_key(steps[0]):
            equalities.append(steps[0])
        else:
            filters.append(JoinedCondition(steps))
    return Split(
        {alias: _all_of(parts) for alias, parts in selections.items()},
        tuple(dict.fromkeys(equalities)),
        tuple(filters),
        frozenset(bound),
    )


def text_predicates(condition: JoinedCondition) -> list[Predicate]:
    """Every predicate over free text, without the alias, which is that of the event table."""
    return [
        _bare(step) for step in condition.steps if isinstance(step, Predicate) and step.test in TEXT_TESTS
    ]


def _is_comparison(steps: Sequence[JoinedStep]) -> bool:
    """Whether these are one comparison of two fields, perhaps negated."""
    return isinstance(steps[0], Comparison) and all(_is_not(step) for step in steps[1:])


def _is_not(step: JoinedStep) -> bool:
    return isinstance(step, Operator) and step.connective is Connective.NOT


def _joins_by_key(comparison: Comparison) -> bool:
    left, right = comparison.aliases
    return comparison.test is Test.EQ and left != right


def _without_alias(steps: Sequence[JoinedStep]) -> list[Step] | None:
    """The steps of a plain condition on one row; None when they compare two fields of it."""
    plain: list[Step] = []
    for step in steps:
        if isinstance(step, Comparison):
            return None
        plain.append(_bare(step) if isinstance(step, Predicate) else step)
    return plain


def _bare(predicate: Predicate) -> Predicate:
    return Predicate(predicate.field[1:], predicate.test, predicate.operands)


def _all_of(parts: Sequence[Sequence[Step]]) -> Condition:
    steps = [step for part in parts for step in part]
    if len(parts) > 1:
        steps.append(Operator(Connective.AND, len(parts)))
    return Condition(tuple(steps))
