"""A condition over several tables back to text, such that reading it gives the same steps."""

from __future__ import annotations

from tocsin.conditions.language.printer import print_field, print_predicate, print_steps
from tocsin.conditions.language.tree import Predicate
from tocsin.conditions.operators import OPERATORS
from tocsin.rules.joins.tree import Comparison, JoinedCondition


def print_joined(condition: JoinedCondition) -> str:
    """The text of a condition."""
    return print_steps(condition.steps, condition.operands(), print_joined_leaf)


def print_joined_leaf(step: Predicate | Comparison, negated: bool = False) -> str:
    """The text of a predicate or a comparison of two fields, or of NOT over it."""
    if isinstance(step, Predicate):
        return print_predicate(step, negated)
    row = OPERATORS[step.test]
    word = (negated and row.negated) or step.test.value
    prefix = "not " if negated and row.negated is None else ""
    return f"{prefix}{print_field(step.left)} {word} {print_field(step.right)}"
