"""The distinct expressions within a condition, each with a number.

Two parts of a condition have one number when they differ only in order, grouping or repetition of
operands; that is decided by comparing operands, never by a hash alone. Operands have lower numbers
than what they are operands of:

    (b or a) and (a or b or b) and c        0  b
                                            1  a
                                            2  OR 0 1
                                            3  c
                                            4  AND 2 3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tocsin.conditions.language.canonical.operator_groups import groups
from tocsin.conditions.language.tree import Condition, Connective, Constant, Operator, Predicate, Step

Label = Predicate | Constant | Connective
"""What an expression is: a leaf, or a connective over operands; XNOR is a chain with an odd sign."""


class Expressions(NamedTuple):
    """Labels and operands by number; the last step of the condition has the number `root`."""

    labels: list[Label]
    operands: list[tuple[int, ...]]
    root: int


def expressions(condition: Condition) -> Expressions:
    """The expressions of a condition, operands in the order of their first appearance.

    Repeated operands of `and` and `or` are left out, those of xor are kept.
    """
    found = groups(condition.steps)
    labels: list[Label] = []
    operands: list[tuple[int, ...]] = []
    number_of: dict[tuple[Label, tuple[int, ...]], int] = {}
    waiting: list[int] = []
    for at, step in enumerate(condition.steps):
        if found.top[at] != at:
            continue
        label: Label
        taken: tuple[int, ...] = ()
        if isinstance(step, Operator):
            width = found.width[at] or 1
            taken = tuple(waiting[-width:])
            del waiting[-width:]
            label = step.connective
            if found.family[at] is Connective.XOR:
                label = Connective.XNOR if found.odd[at] else Connective.XOR
            elif found.family[at] is not None:
                taken = tuple(dict.fromkeys(taken))
                if len(taken) == 1:
                    waiting.append(taken[0])
                    continue
        else:
            label = step
        number = number_of.setdefault((label, tuple(sorted(taken))), len(labels))
        if number == len(labels):
            labels.append(label)
            operands.append(taken)
        waiting.append(number)
    return Expressions(labels, operands, waiting[-1])


def write(labels: Sequence[Label], operands: Sequence[Sequence[int]], root: int) -> Condition:
    """The condition of an expression: its steps, with xors as chains from left to right."""
    written: list[Step] = []
    todo: list[int | Operator] = [root]
    while todo:
        item = todo.pop()
        if isinstance(item, Operator):
            written.append(item)
            continue
        label, taken = labels[item], operands[item]
        if not isinstance(label, Connective):
            written.append(label)
        elif label in (Connective.XOR, Connective.XNOR):
            todo.extend(reversed(_chain(label, taken)))
        else:
            todo.append(Operator(label, len(taken)))
            todo.extend(reversed(taken))
    return Condition(tuple(written))


def _chain(label: Connective, operands: Sequence[int]) -> list[int | Operator]:
    chain: list[int | Operator] = [operands[0]]
    for operand in operands[1:]:
        chain.extend((operand, Operator(Connective.XOR, 2)))
    chain[-1] = Operator(label, 2)
    return chain
