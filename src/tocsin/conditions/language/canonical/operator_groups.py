"""Which operators of a condition are one group: an `and` in an `and` is no group of its own.

A group is an operator with those of its family directly below it; `xor` and `xnor` are one family.
Its operands are whatever else is directly below. In `a xor (b xnor (c and d and (e and f)))`, by steps:

    step       a   b   c   d   e   f   AND 2   AND 3   XNOR   XOR
    parent     9   8   7   7   6   6     7       8      9     -1
    top        0   1   2   3   4   5     7       7      9      9
    width                                        4             3
    odd                                                       yes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tocsin.conditions.language.tree import Connective, Operator, Step

_FAMILY = {
    Connective.AND: Connective.AND,
    Connective.OR: Connective.OR,
    Connective.XOR: Connective.XOR,
    Connective.XNOR: Connective.XOR,
}


class Groups(NamedTuple):
    """For each step, by its place in the condition.

    parent   the place of the operator that takes it, or -1 for the last
    top      the place of the outermost operator of its group; its own when it belongs to no other's
    family   AND, OR or XOR; None for a predicate, a constant or a NOT
    width    of a group's top: how many operands the group has
    odd      of a group's top: whether an odd number of its operators is XNOR
    """

    parent: list[int]
    top: list[int]
    family: list[Connective | None]
    width: list[int]
    odd: list[bool]


def parents(steps: Sequence[Step]) -> list[int]:
    """For each step the place of the operator that takes it, and -1 for the last."""
    parent = [-1] * len(steps)
    waiting: list[int] = []
    for at, step in enumerate(steps):
        if isinstance(step, Operator):
            for operand in waiting[-step.arity :]:
                parent[operand] = at
            del waiting[-step.arity :]
        waiting.append(at)
    return parent


def groups(steps: Sequence[Step]) -> Groups:
    """The groups of a condition's steps."""
    parent = parents(steps)
    family = [_FAMILY.get(step.connective) if isinstance(step, Operator) else None for step in steps]
    top = list(range(len(steps)))
    width = [0] * len(steps)
    odd = [False] * len(steps)
    for at in range(len(steps) - 1, -1, -1):
        above = parent[at]
        if above >= 0 and family[above] is not None:
            if family[at] is family[above]:
                top[at] = top[above]
            else:
                width[top[above]] += 1
        step = steps[at]
        if isinstance(step, Operator) and step.connective is Connective.XNOR:
            odd[top[at]] = not odd[top[at]]
    return Groups(parent, top, family, width, odd)
