"""A condition over several tables back to text, such that reading it gives the same steps. The empty alias,
which a single table may have, is not written; nor is the alias whose row before the change is `old`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tocsin.conditions.language import Path, Predicate, print_field, print_predicate, print_steps
from tocsin.conditions.operators import OPERATORS
from tocsin.rules.after_clause import OLD
from tocsin.rules.joins.tree import Comparison, JoinedCondition


def print_joined(condition: JoinedCondition, old_of: str | None = None) -> str:
    """The text of a condition, read with this alias as that of `old`."""
    return print_steps(condition.steps, condition.operands(), partial(print_joined_leaf, old_of=old_of))


def print_joined_leaf(step: Predicate | Comparison, negated: bool = False, old_of: str | None = None) -> str:
    """The text of a predicate or a comparison of two fields, or of NOT over it."""
    if isinstance(step, Predicate):
        return print_predicate(replace(step, field=as_written(step.field, old_of)), negated)
    row = OPERATORS[step.test]
    word = (negated and row.negated) or step.test.value
    prefix = "not " if negated and row.negated is None else ""
    left, right = (print_field(as_written(path, old_of)) for path in (step.left, step.right))
    return f"{prefix}{left} {word} {right}"


def as_written(path: Path, old_of: str | None = None) -> Path:
    """A path that begins with an alias, without an empty one, and without that of the row before a change."""
    is_old = old_of is not None and path[:2] == (old_of, OLD)
    return path[1:] if is_old or not path[0] else path
