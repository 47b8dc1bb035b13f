"""Last pass: operands are sorted.

Predicates come first, by their text, each before its own negation. Then come groups: those of lesser
height first, then `and`, `or`, xor and xnor in this order, then by their sorted operands.

Expressions are ranked height by height, so that a group is compared by the ranks of its operands and
never by its text, which keeps deep conditions cheap. The order of two expressions depends on
nothing but themselves.
"""

from __future__ import annotations

from collections import defaultdict

from tocsin.conditions.language.canonical.subexpressions import Expressions, Label, expressions, write
from tocsin.conditions.language.printer import print_predicate
from tocsin.conditions.language.tree import Condition, Connective, Predicate

_PLACE: dict[Label, int] = {connective: place for place, connective in enumerate(Connective)}


def sort_operands(condition: Condition) -> Condition:
    """The condition with the operands of every group in ascending order."""
    found = expressions(condition)
    rank = _ranks(found)
    operands = [sorted(taken, key=rank.__getitem__) for taken in found.operands]
    return write(found.labels, operands, found.root)


def _ranks(found: Expressions) -> list[int]:
    """For each expression its place among all, in an order that does not depend on how it was written."""
    levels = _levels(found)
    rank = [0] * len(found.labels)
    leaf_text = {number: _text(found.labels[number]) for number in levels[0]}

    def leaf_key(number: int) -> tuple[str, bool]:
        positive = found.operands[number][0] if found.operands[number] else number
        return leaf_text[positive], positive != number

    def group_key(number: int) -> tuple[int, list[int]]:
        return _PLACE[found.labels[number]], sorted(rank[operand] for operand in found.operands[number])

    ranked = 0
    for height in range(len(levels)):
        key = group_key if height else leaf_key
        for place, number in enumerate(sorted(levels[height], key=key), ranked):
            rank[number] = place
        ranked += len(levels[height])
    return rank


def _levels(found: Expressions) -> dict[int, list[int]]:
    """The expressions of each height: 0 for predicates and their negations, else one above the operands."""
    levels: dict[int, list[int]] = defaultdict(list)
    height: list[int] = []
    for number, (label, operands) in enumerate(zip(found.labels, found.operands, strict=True)):
        above = max((height[operand] for operand in operands), default=-1) + 1
        if label is Connective.NOT and not found.operands[operands[0]]:
            above = 0
        height.append(above)
        levels[above].append(number)
    return levels


def _text(label: Label) -> str:
    return print_predicate(label) if isinstance(label, Predicate) else str(label)
