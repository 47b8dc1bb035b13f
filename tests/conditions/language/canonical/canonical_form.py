"""The canonical form of a condition: equal for conditions that are the same expression.

    not (b < 2 or not a = 1) and (a = 1.0 and true)        a = 1 and not b < 2

Two conditions that differ only in order, grouping, double negation or repetition have one canonical
form, and so have those that differ by De Morgan's laws, by a constant that changes nothing, or in how
one predicate is written. The form means the same in all three truths. No complement law is used:
`x or not x` is unknown when x is missing, and stays as it is.

Each pass is a function from a condition to a condition:

    predicates    each predicate in its simplest form
    constants     no `true` or `false` but as the whole condition
    negation      `not` only over predicates; of xor and xnor, no operand is negated
    flatten       no `and` in an `and`, no `or` in an `or`, xors in one chain
    repetition    no operand twice, but in a xor
    order         operands sorted

kernels/shared_graph.py does the same on arrays for a million conditions at once, and tests hold the two to
one notion of the same expression. It also finds a xor that was written out with `and`, `or` and
`not`; here a xor stays one, because written out its text would grow without bound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tocsin.conditions.language import (
    Condition,
    Connective,
    Constant,
    Operator,
    Predicate,
    Step,
    print_predicate,
)
from tocsin.conditions.operators import canonical_predicate

_NOT = Operator(Connective.NOT, 1)
_XOR = Operator(Connective.XOR, 2)
_XNOR = Operator(Connective.XNOR, 2)
_XORS = (Connective.XOR, Connective.XNOR)
_DUAL = {Connective.AND: Connective.OR, Connective.OR: Connective.AND}
_FAMILY = {
    Connective.AND: Connective.AND,
    Connective.OR: Connective.OR,
    Connective.XOR: Connective.XOR,
    Connective.XNOR: Connective.XOR,
}
_PLACE: dict[_Label, int] = {connective: place for place, connective in enumerate(Connective)}

_Label = Predicate | Constant | Connective
"""What an expression is: a leaf, or a connective over operands; XNOR is a chain with an odd sign."""


# ---- First pass


def simplify_predicates(condition: Condition) -> Condition:
    """Every predicate in its simplest form."""
    return Condition(
        tuple(canonical_predicate(step) if isinstance(step, Predicate) else step for step in condition.steps)
    )


# ---- Second pass: no `true` or `false`


class _Operand(NamedTuple):
    """An operand that was written from `start` on; a known `value` was not written at all."""

    start: int
    value: bool | None


def fold_constants(condition: Condition) -> Condition:
    """The condition without constants, or one constant: folded by the laws that hold in all three truths.

    true and x     x                   true or x      true
    false and x    false               false or x     x
    x xor true     not x               x xnor true    x
    x xor false    x                   x xnor false   not x
    not true       false
    """
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


# ---- Third pass: negation goes down


def push_negations(condition: Condition) -> Condition:
    """The condition with NOT directly over predicates only, and over no operand of a xor.

        not not x                x
        not (x and y)            not x or not y
        not (x xor y)            x xnor y
        not x xor y              x xnor y
        (x or y) xor z           (not x and not y) xnor z

    A xor changes its truth with the sign of any operand, so the signs come out of it and only their parity
    is left: at most one xnor, the outermost of a chain. The sign of `x or y` comes out too, as that of
    the `and` that it negates, for else one expression would have two forms.
    """
    steps = condition.steps
    parent = _parents(steps)
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


# ---- Fourth pass: grouping that means nothing is taken away


def flatten_groups(condition: Condition) -> Condition:
    """The condition with one AND or OR for each group of them, and chains of xors from left to right.

        a and (b and c)            a and b and c
        a xor (b xor c)            a xor b xor c
        (a xnor b) xor c           a xor b xnor c
        a xnor b xnor c            a xor b xor c

    Within a chain of xors two xnors are none, and one is written last.
    """
    steps = condition.steps
    found = _groups(steps)
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


# ---- Fifth pass: what is said again is left out


def drop_repetitions(condition: Condition) -> Condition:
    """The condition with each operand of `and` and `or` once, at the place of its first appearance.

        a and b and a                       a and b
        (a or b) and c and (b or a)         (a or b) and c
        a xor a                             a xor a

    An operand says the same as another one when they differ only in order, grouping and repetition. A xor
    keeps what it repeats: `a xor a` is false only when `a` is known.

    In `((a or b) and (a or b)) or c` this leaves an `or` within an `or`, and under a xor it can leave a
    sign. What was flat before is so again, and what then repeats itself is dropped too. It takes as
    many rounds as such repetitions are nested, and each doubles the length of what it repeats.
    """
    while True:
        shorter = _write(*_expressions(condition))
        if len(shorter.steps) == len(condition.steps):
            return shorter
        condition = flatten_groups(push_negations(shorter))


# ---- Last pass: operands are sorted


def sort_operands(condition: Condition) -> Condition:
    """The condition with the operands of every group in ascending order.

    Predicates come first, by their text, each before its own negation. Then come groups: those of lesser
    height first, then `and`, `or`, xor and xnor in this order, then by their sorted operands.
    """
    found = _expressions(condition)
    rank = _ranks(found)
    operands = [sorted(taken, key=rank.__getitem__) for taken in found.operands]
    return _write(found.labels, operands, found.root)


def _ranks(found: _Expressions) -> list[int]:
    """For each expression its place among all, in an order that depends on nothing but the expressions.

    They are ranked height by height, so that a group is compared by the ranks of its operands and
    never by its text, which keeps deep conditions cheap.
    """
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


def _levels(found: _Expressions) -> dict[int, list[int]]:
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


def _text(label: _Label) -> str:
    return print_predicate(label) if isinstance(label, Predicate) else str(label)


# ---- Which operators are one group


class _Groups(NamedTuple):
    """Which operators of a condition are one group: an `and` in an `and` is no group of its own.

    A group is an operator with those of its family directly below it; `xor` and `xnor` are one family.
    Its operands are whatever else is directly below. In `a xor (b xnor (c and d and (e and f)))`, by steps:

        step       a   b   c   d   e   f   AND 2   AND 3   XNOR   XOR
        parent     9   8   7   7   6   6     7       8      9     -1
        top        0   1   2   3   4   5     7       7      9      9
        width                                        4             3
        odd                                                       yes

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


def _parents(steps: Sequence[Step]) -> list[int]:
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


def _groups(steps: Sequence[Step]) -> _Groups:
    """The groups of a condition's steps."""
    parent = _parents(steps)
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
    return _Groups(parent, top, family, width, odd)


# ---- The distinct expressions within a condition


class _Expressions(NamedTuple):
    """The distinct expressions within a condition, by number; its last step has the number `root`.

    Two parts have one number when they differ only in order, grouping or repetition of operands; that is
    decided by comparing operands, never by a hash alone. Operands have lower numbers than what they are
    operands of:

        (b or a) and (a or b or b) and c        0  b
                                                1  a
                                                2  OR 0 1
                                                3  c
                                                4  AND 2 3
    """

    labels: list[_Label]
    operands: list[tuple[int, ...]]
    root: int


def _expressions(condition: Condition) -> _Expressions:
    """The expressions of a condition, operands in the order of their first appearance.

    Repeated operands of `and` and `or` are left out, those of xor are kept.
    """
    found = _groups(condition.steps)
    labels: list[_Label] = []
    operands: list[tuple[int, ...]] = []
    number_of: dict[tuple[_Label, tuple[int, ...]], int] = {}
    waiting: list[int] = []
    for at, step in enumerate(condition.steps):
        if found.top[at] != at:
            continue
        label: _Label
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
    return _Expressions(labels, operands, waiting[-1])


def _write(labels: Sequence[_Label], operands: Sequence[Sequence[int]], root: int) -> Condition:
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


PASSES: tuple[Callable[[Condition], Condition], ...] = (
    simplify_predicates,
    fold_constants,
    push_negations,
    flatten_groups,
    drop_repetitions,
    sort_operands,
)
"""In this order: each may rely on what the ones before it promise."""


def canonical(condition: Condition) -> Condition:
    """The canonical form; a condition of any depth and length, in little more than linear time."""
    for run in PASSES:
        condition = run(condition)
    return condition
