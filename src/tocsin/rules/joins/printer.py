"""A condition over several tables back to text, such that reading it gives the same steps. The empty alias,
which a single table may have, is not written; a row before its change is shown as `alias.old`."""

from __future__ import annotations

from dataclasses import replace

from tocsin.conditions.language.printer import print_field, print_predicate, print_steps
from tocsin.conditions.language.tree import Path, Predicate
from tocsin.conditions.operators import OPERATORS
from tocsin.rules.joins.tree import Comparison, JoinedCondition


def print_joined(condition: JoinedCondition) -> str:
    """The text of a condition."""
    return print_steps(condition.steps, condition.operands(), print_joined_leaf)


def print_joined_leaf(step: Predicate | Comparison, negated: bool = False) -> str:
    """The text of a predicate or a comparison of two fields, or of NOT over it."""
    if isinstance(step, Predicate):
        return print_predicate(replace(step, field=as_written(step.field)), negated)
    row = OPERATORS[step.test]
    word = (negated and row.negated) or step.test.value
    prefix = "not " if negated and row.negated is None else ""
    left, right = (print_field(as_written(path)) for path in (step.left, step.right))
    return f"{prefix}{left} {word} {right}"


def as_written(path: Path) -> Path:
    """A path that begins with an alias, without an empty one."""
    return path if path[0] else path[1:]
