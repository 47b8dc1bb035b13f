"""Second pass: `true` and `false` are folded away, by the laws that hold in all three truths.

    true and x     x                   true or x      true
    false and x    false               false or x     x
    x xor true     not x               x xnor true    x
    x xor false    x                   x xnor false   not x
    not true       false

A constant is left only when it is the whole condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tocsin.conditions.language.tree import Condition, Connective, Constant, Operator, Step

_NOT = Operator(Connective.NOT, 1)


class _Operand(NamedTuple):
    """An operand that was written from `start` on; a known `value` was not written at all."""

    start: int
    value: bool | None


def fold_constants(condition: Condition) -> Condition:
    """The condition without constants, or one constant."""
    written: list[Step] = []
    waiting: list[_Operand] = []
    for step in condition.steps:
        if isinstance(step, Constant):
            waiting.append(_Operand(len(written), step.value))
        elif isinstance(step, Operator):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            waiting.append(_Operand(operands[0].start, _join(step, operands, written)))
        else:
            waiting.append(_Operand(len(written), None))
            written.append(step)
    whole = waiting[-1].value
    return Condition(tuple(written) if whole is None else (Constant(whole),))


def _join(operator: Operator, operands: Sequence[_Operand], written: list[Step]) -> bool | None:
    """Write what is left of the operator behind its operands; its value when nothing is left."""
    known = [operand.value for operand in operands if operand.value is not None]
    unknown = len(operands) - len(known)
    connective = operator.connective
    if connective in (Connective.AND, Connective.OR):
        absorbing = connective is Connective.OR
        if absorbing in known:
            del written[operands[0].start :]
            return absorbing
        if unknown == 0:
            return not absorbing
        if unknown > 1:
            written.append(Operator(connective, unknown))
        return None
    negated = (connective in (Connective.NOT, Connective.XNOR)) ^ (sum(known) % 2 == 1)
    if unknown == 0:
        return negated
    if unknown == 2:
        written.append(operator)
    elif negated:
        written.append(_NOT)
    return None
