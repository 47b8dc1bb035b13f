"""Third pass: negation goes down to the predicates, and out of every xor.

    not not x                x
    not (x and y)            not x or not y
    not (x xor y)            x xnor y
    not x xor y              x xnor y
    (x or y) xor z           (not x and not y) xnor z

A xor changes its truth with the sign of any operand, so the signs come out of it and only their parity
is left: at most one xnor, the outermost of a chain. The sign of `x or y` comes out too, as that of
the `and` that it negates, for else one expression would have two forms.
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.conditions.language.canonical.operator_groups import parents
from tocsin.conditions.language.tree import Condition, Connective, Constant, Operator, Predicate, Step

_NOT = Operator(Connective.NOT, 1)
_XORS = (Connective.XOR, Connective.XNOR)
_DUAL = {Connective.AND: Connective.OR, Connective.OR: Connective.AND}


def push_negations(condition: Condition) -> Condition:
    """The condition with NOT directly over predicates only, and over no operand of a xor."""
    steps = condition.steps
    parent = parents(steps)
    loose = _loose_signs(steps)
    negated = _signs(steps, parent, loose)
    written: list[Step] = []
    for at, step in enumerate(steps):
        if isinstance(step, Predicate):
            written.extend((step, _NOT) if negated[at] else (step,))
        elif isinstance(step, Constant):
            written.append(Constant(step.value ^ negated[at]))
        elif step.connective in _XORS:
            odd = loose[at] ^ negated[at]
            written.append(Operator(Connective.XNOR if odd else Connective.XOR, 2))
        elif step.connective is not Connective.NOT:
            dual = _DUAL[step.connective] if negated[at] else step.connective
            written.append(Operator(dual, step.arity))
    return Condition(tuple(written))


def _loose_signs(steps: Sequence[Step]) -> list[bool]:
    """For each step whether it gives up a negation as an operand of a xor."""
    loose: list[bool] = []
    waiting: list[bool] = []
    for step in steps:
        sign = False
        if isinstance(step, Operator):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            if step.connective is Connective.OR:
                sign = True
            elif step.connective is not Connective.AND:
                sign = (step.connective is not Connective.XOR) ^ (sum(operands) % 2 == 1)
        loose.append(sign)
        waiting.append(sign)
    return loose


def _signs(steps: Sequence[Step], parent: Sequence[int], loose: Sequence[bool]) -> list[bool]:
    """For each step whether its negation is to be written in its place."""
    connectives = [step.connective if isinstance(step, Operator) else None for step in steps]
    negated = [False] * len(steps)
    for at in range(len(steps) - 2, -1, -1):
        above = connectives[parent[at]]
        if above in _XORS:
            negated[at] = loose[at]
        else:
            negated[at] = negated[parent[at]] ^ (above is Connective.NOT)
    return negated
