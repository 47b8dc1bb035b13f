"""Fifth pass: what an `and` or an `or` says again is left out.

    a and b and a                       a and b
    (a or b) and c and (b or a)         (a or b) and c
    a xor a                             a xor a

An operand says the same as another one when they differ only in order, grouping and repetition. A xor
keeps what it repeats: `a xor a` is false only when `a` is known.
"""

from __future__ import annotations

from tocsin.conditions.language.canonical.flatten import flatten_groups
from tocsin.conditions.language.canonical.negation import push_negations
from tocsin.conditions.language.canonical.subexpressions import expressions, write
from tocsin.conditions.language.tree import Condition


def drop_repetitions(condition: Condition) -> Condition:
    """The condition with each operand of `and` and `or` once, at the place of its first appearance.

    In `((a or b) and (a or b)) or c` this leaves an `or` within an `or`, and under a xor it can leave a
    sign. What was flat before is so again, and what then repeats itself is dropped too. It takes as
    many rounds as such repetitions are nested, and each doubles the length of what it repeats.
    """
    while True:
        shorter = write(*expressions(condition))
        if len(shorter.steps) == len(condition.steps):
            return shorter
        condition = flatten_groups(push_negations(shorter))
