"""The canonical form of a condition: equal for conditions that are the same expression.

    not (b < 2 or not a = 1) and (a = 1.0 and true)        a = 1 and not b < 2

Two conditions that differ only in order, grouping, double negation or repetition have one canonical
form, and so have those that differ by De Morgan's laws, by a constant that changes nothing, or in how
one predicate is written. The form means the same in all three truths. No complement law is used:
`x or not x` is unknown when x is missing, and stays as it is.

Each pass is a function from a condition to a condition, in a file of its own:

    predicates    each predicate in its simplest form
    constants     no `true` or `false` but as the whole condition
    negation      `not` only over predicates; of xor and xnor, no operand is negated
    flatten       no `and` in an `and`, no `or` in an `or`, xors in one chain
    repetition    no operand twice, but in a xor
    order         operands sorted

kernels/shared_graph.py does the same on arrays for a million conditions at once, and tests hold the two to
one notion of the same expression. It also finds a xor that was written out with `and`, `or` and
`not`; here a xor stays one, because written out its text would grow without bound.
"""

from __future__ import annotations

from collections.abc import Callable

from tocsin.conditions.language.canonical.constants import fold_constants
from tocsin.conditions.language.canonical.flatten import flatten_groups
from tocsin.conditions.language.canonical.negation import push_negations
from tocsin.conditions.language.canonical.operand_order import sort_operands
from tocsin.conditions.language.canonical.repetition import drop_repetitions
from tocsin.conditions.language.tree import Condition, Predicate
from tocsin.conditions.operators import canonical_predicate

__all__ = ["PASSES", "canonical"]


def simplify_predicates(condition: Condition) -> Condition:
    """Every predicate in its simplest form."""
    return Condition(
        tuple(canonical_predicate(step) if isinstance(step, Predicate) else step for step in condition.steps)
    )


PASSES: tuple[Callable[[Condition], Condition], ...] = (
    simplify_predicates,
    fold_constants,
    push_negations,
    flatten_groups,
    drop_repetitions,
    sort_operands,
)
"""In this order: each may rely on what the ones before it promise."""


def canonical(condition: Condition) -> Condition:
    """The canonical form; a condition of any depth and length, in little more than linear time."""
    for run in PASSES:
        condition = run(condition)
    return condition
