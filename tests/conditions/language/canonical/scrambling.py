"""The same expression, said in another way: other order, other grouping, double negation, repetition."""

from __future__ import annotations

from typing import NamedTuple

from tests.cases import Choices, Steps, one_in

from tocsin.conditions.language import Condition, Connective, Operator

_NOT = Operator(Connective.NOT, 1)
_DUAL = {Connective.AND: Connective.OR, Connective.OR: Connective.AND}
_LONGEST = 600


class _Part(NamedTuple):
    """Steps that are one operand, and for a xor or xnor its two operands."""

    steps: Steps
    sides: tuple[Steps, Steps] | None = None


def scramble(choices: Choices, condition: Condition) -> Condition:
    """A condition that is the same expression as the given one."""
    waiting: list[_Part] = []
    for step in condition.steps:
        if not isinstance(step, Operator):
            part = _Part((step,))
        elif step.connective is Connective.NOT:
            part = _Part((*waiting.pop().steps, _NOT))
        else:
            parts = waiting[-step.arity :]
            del waiting[-step.arity :]
            if step.arity == 2 and step.connective in (Connective.XOR, Connective.XNOR):
                part = _exclusive(choices, step.connective, *parts)
            else:
                part = _Part(_group(choices, step.connective, [each.steps for each in parts]))
        waiting.append(_say_again(choices, part))
    return Condition(waiting[-1].steps)


def _exclusive(choices: Choices, connective: Connective, left: _Part, right: _Part) -> _Part:
    operator = Operator(connective, 2)
    if left.sides is not None and one_in(choices, 2):
        inner = left.steps[-1]
        first, second = left.sides
        return _Part(
            (*first, *second, *right.steps, operator, inner), (first, (*second, *right.steps, operator))
        )
    if one_in(choices, 3):
        return _Part((*left.steps, _NOT, *right.steps, _NOT, operator))
    if one_in(choices, 3):
        other = Connective.XNOR if connective is Connective.XOR else Connective.XOR
        return _Part((*left.steps, *right.steps, _NOT, Operator(other, 2)))
    if one_in(choices, 2):
        left, right = right, left
    return _Part((*left.steps, *right.steps, operator), (left.steps, right.steps))


def _group(choices: Choices, connective: Connective, operands: list[Steps]) -> Steps:
    shuffled: list[Steps] = []
    for operand in operands:
        shuffled.insert(choices.randint(0, len(shuffled)), operand)
    if one_in(choices, 3):
        shuffled.insert(choices.randint(0, len(shuffled)), choices.choice(operands))
    if len(shuffled) > 2 and one_in(choices, 2):
        cut = choices.randint(2, len(shuffled) - 1)
        inner = (*(step for each in shuffled[:cut] for step in each), Operator(connective, cut))
        shuffled = [inner, *shuffled[cut:]]
        shuffled.insert(choices.randint(0, len(shuffled) - 1), shuffled.pop())
    if one_in(choices, 4):
        negated = tuple(step for each in shuffled for step in (*each, _NOT))
        return (*negated, Operator(_DUAL[connective], len(shuffled)), _NOT)
    return (*(step for each in shuffled for step in each), Operator(connective, len(shuffled)))


def _say_again(choices: Choices, part: _Part) -> _Part:
    if len(part.steps) > _LONGEST:
        return part
    if one_in(choices, 6):
        return _Part((*part.steps, _NOT, _NOT))
    if one_in(choices, 8):
        connective = choices.choice([Connective.AND, Connective.OR])
        return _Part((*part.steps, *part.steps, Operator(connective, 2)))
    return part
