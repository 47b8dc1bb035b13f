"""Fourth pass: grouping that means nothing is taken away.

    a and (b and c)            a and b and c
    a xor (b xor c)            a xor b xor c
    (a xnor b) xor c           a xor b xnor c
    a xnor b xnor c            a xor b xor c

Within a chain of xors two xnors are none, and one is written last.
"""

from __future__ import annotations

from tocsin.conditions.language.canonical.operator_groups import groups
from tocsin.conditions.language.tree import Condition, Connective, Operator, Step

_XOR = Operator(Connective.XOR, 2)
_XNOR = Operator(Connective.XNOR, 2)


def flatten_groups(condition: Condition) -> Condition:
    """The condition with one AND or OR for each group of them, and chains of xors from left to right."""
    steps = condition.steps
    found = groups(steps)
    ended = [0] * len(steps)
    written: list[Step] = []
    for at, step in enumerate(steps):
        if found.top[at] != at:
            continue
        if not isinstance(step, Operator) or step.connective is Connective.NOT:
            written.append(step)
        elif found.family[at] is not Connective.XOR:
            written.append(Operator(step.connective, found.width[at]))
        above = found.parent[at]
        if above >= 0 and found.family[above] is Connective.XOR:
            top = found.top[above]
            ended[top] += 1
            if ended[top] > 1:
                last = ended[top] == found.width[top]
                written.append(_XNOR if last and found.odd[top] else _XOR)
    return Condition(tuple(written))
