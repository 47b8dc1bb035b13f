"""Sums and differences, turned round: what `7 = x + 1` says about x.

Whole numbers wrap at 64 bits, so that there is always exactly one such x. A search that goes from the head
of a rule to its body so has a value to look for, where it would else go through all tuples.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tocsin.datalog.language.conjunctions import Names, needed
from tocsin.datalog.language.syntax import Argument, Comparison, Operation, Type, Variable


def inverted(comparison: Comparison, bound: Collection[str], names: Names) -> Comparison | None:
    """An equation that says the same as this one, with a variable that is not yet bound alone on its left.

    None when it is no equation of a known value with a sum or a difference that has one such operand.
    `names` are the variables known outside aggregates.
    """
    if comparison.operator != "=":
        return None
    for result, side in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(side, Operation) and needed(result, names).issubset(bound):
            return _alone(side, result, bound, names)
    return None


def _alone(operation: Operation, result: Argument, bound: Collection[str], names: Names) -> Comparison | None:
    if operation.functor not in ("+", "-") or operation.type not in (Type.NUMBER, Type.UNSIGNED):
        return None
    result = replace(result, type=operation.type)
    left, right = operation.operands
    if _is_open(left, bound) and needed(right, names).issubset(bound):
        other_way = "-" if operation.functor == "+" else "+"
        return Comparison("=", left, replace(operation, functor=other_way, operands=(result, right)))
    if _is_open(right, bound) and needed(left, names).issubset(bound):
        known = (result, left) if operation.functor == "+" else (left, result)
        return Comparison("=", right, replace(operation, functor="-", operands=known))
    return None


def _is_open(operand: Argument, bound: Collection[str]) -> bool:
    return isinstance(operand, Variable) and operand.name not in bound
