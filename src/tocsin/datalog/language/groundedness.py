"""Which variables of a conjunction have a value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set

from tocsin.datalog.language.alternatives import Literal
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Comparison,
    Constant,
    Operation,
    Positive,
    Variable,
)
from tocsin.datalog.language.vocabulary import EACH

Ready = Callable[[Aggregate, Set[str]], bool]
"""Whether an aggregate has a result when these variables have values."""


def grounded(literals: Sequence[Literal], given: Collection[str], ready: Ready) -> set[str]:
    """The variables that are given, stand in a positive atom, or equal something that has a value.

    An equation gives a value to a variable that is one of its sides; none is turned round to find out
    what `x` in `x + 1` is. Those still waiting are gone through in turns from the front and from the back,
    as a chain of them is mostly written in one of these orders.
    """
    known = set(given)
    equations: list[tuple[Argument, Argument]] = []
    for literal in literals:
        if isinstance(literal, Positive):
            known.update(
                argument.name for argument in literal.atom.arguments if isinstance(argument, Variable)
            )
        elif isinstance(literal, Comparison) and literal.operator == "=":
            equations += [(literal.left, literal.right), (literal.right, literal.left)]
        elif isinstance(literal, Comparison) and literal.operator == EACH:
            equations.append((literal.left, literal.right))
    while True:
        waiting: list[tuple[Argument, Argument]] = []
        for variable, value in equations:
            if not isinstance(variable, Variable) or variable.name in known:
                continue
            if _has_value(value, known, ready):
                known.add(variable.name)
            else:
                waiting.append((variable, value))
        if len(waiting) in (0, len(equations)):
            return known
        equations = waiting[::-1]


def _has_value(argument: Argument, known: Set[str], ready: Ready) -> bool:
    if isinstance(argument, Variable):
        return argument.name in known
    if isinstance(argument, Constant):
        return True
    if isinstance(argument, Operation):
        return all(_has_value(operand, known, ready) for operand in argument.operands)
    return not isinstance(argument, Anonymous) and ready(argument, known)
