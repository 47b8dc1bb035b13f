"""A rule that was just written, asked by itself: for one event that is quicker than compiling it.

The rule's text is cut by the kernel that reads a million of them. A predicate is parsed when an event has
its field, and most events have few of the fields that a rule names: so most predicates never are.

    steps    a = 1   b < 2   OR 2   c = 3   AND 2        in postfix order, as in kernels.skeleton
    above      2       2       4      4      none        the step that takes this one as an operand
    first      0       1       0      3       0          where what a step is made of begins
    height     0       0       0      0       0          operands that wait below those of the step above

Where a truth decides the step above it, as false does for `and` and true for `or`, the operands between
are passed over. Under nothing but `and` and `or` unknown decides an `and` as well: only *true* matches.
And where every field of a part is missing, that part is not true: here an event needs c, and a or b.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from tocsin.conditions.graph.condition_reader import step_code
from tocsin.conditions.kernels.skeleton import AND_BASE, FALSE, NOT, OR_BASE, TRUE, XNOR, XOR, read_skeletons
from tocsin.conditions.language.parser import parse_condition, parse_predicate
from tocsin.conditions.language.tree import TEXT_TESTS, Predicate
from tocsin.conditions.meaning import predicate_truth

_LATER = re.compile(
    rb"([A-Za-z_][A-Za-z0-9_]*)\s*(?:[=<>!]|\Z|(?:in|not|between|i?like|matches)[^A-Za-z0-9_])", re.IGNORECASE
)
"""The beginning of a predicate that is unknown when the event has no such field."""

_YES, _UNKNOWN, _NO = 1, 0, -1
_ARITY = {TRUE: 0, FALSE: 0, NOT: 1, XOR: 2, XNOR: 2}


class FreshRule:
    """A condition, already accepted, that can be asked about plain events (matching/event_reader.py)."""

    __slots__ = (
        "_above",
        "_decides",
        "_height",
        "_known",
        "_needed",
        "_steps",
        "_texts",
        "fields",
        "is_plain",
    )

    def __init__(self, when: str) -> None:
        self._known: list[tuple[Predicate, int] | None] = []
        self._texts: list[bytes] = []
        self.fields: list[str] = []
        self.is_plain = True
        self._steps = self._cut(when)
        self._above, first, self._height = _shape(self._steps)
        self._decides = _decisions(self._steps, self._above)
        self._needed = self._needs(first)

    def matches(self, event: Mapping[str, object]) -> bool:
        """Whether a plain event satisfies the condition."""
        for names in self._needed:
            if names.isdisjoint(event):
                return False
        steps, above, decides = self._steps, self._above, self._decides
        fields, texts = self.fields, self._texts
        waiting: list[int] = []
        at = 0
        while at < len(steps):
            step = steps[at]
            if step < 0:
                truth = _combined(step, waiting)
            elif fields[step] in event or not texts[step]:
                truth = self._truth(step, event)
            else:
                truth = _UNKNOWN
            while (decided := decides[at]) and (truth == _YES if decided == _YES else truth <= decided + 1):
                del waiting[self._height[at] :]
                at = above[at]
            waiting.append(truth)
            at += 1
        return waiting[-1] == _YES

    def _truth(self, place: int, event: Mapping[str, object]) -> int:
        known = self._known[place]
        if known is None:
            known = self._known[place] = _signed(self._texts[place].decode())
        predicate, sign = known
        return sign * predicate_truth(predicate, event)

    def _cut(self, when: str) -> list[int]:
        """The steps; predicates are taken in."""
        data = np.frombuffer(bytearray(when.encode()), np.uint8)
        skeleton = read_skeletons(data, np.array([0, len(data)]))
        if not skeleton.accepted[0]:
            return self._parsed(when)
        whole = data.tobytes()
        for begin, end in zip(
            skeleton.predicate_start.tolist(), skeleton.predicate_end.tolist(), strict=True
        ):
            text = whole[begin:end]
            found = _LATER.match(text)
            if found is None:
                self._add(*_signed(text.decode()))
            else:
                self._known.append(None)
                self._texts.append(text)
                self.fields.append(found[1].decode())
        steps: list[int] = skeleton.step.tolist()
        return steps

    def _parsed(self, when: str) -> list[int]:
        steps = []
        for step in parse_condition(when).steps:
            if isinstance(step, Predicate):
                steps.append(len(self.fields))
                self._add(step, 1)
            else:
                steps.append(step_code(step))
        return steps

    def _needs(self, first: list[int]) -> list[frozenset[str]]:
        """Sets of fields; an event that has none of one of them does not match. Short sets come first."""
        steps = self._steps
        needs = []
        parts = [len(steps) - 1]
        while parts:
            at = parts.pop()
            if _is_and(steps[at]):
                operand = at - 1
                for _ in range(_arity(steps[at])):
                    parts.append(operand)
                    operand = first[operand] - 1
                continue
            part = steps[first[at] : at + 1]
            if (
                TRUE not in part
                and FALSE not in part
                and all(self._texts[step] for step in part if step >= 0)
            ):
                needs.append(frozenset(self.fields[step] for step in part if step >= 0))
        return sorted(needs, key=len)

    def _add(self, predicate: Predicate, sign: int) -> None:
        self._known.append((predicate, sign))
        self._texts.append(b"")
        self.fields.append(predicate.field[0])
        self.is_plain &= len(predicate.field) == 1 and predicate.test not in TEXT_TESTS


def _signed(text: str) -> tuple[Predicate, int]:
    """A predicate, and -1 when it is written in a negated form."""
    predicate, is_negated = parse_predicate(text)
    if not isinstance(predicate, Predicate):
        raise TypeError(f"{text} is a constant")
    return predicate, -1 if is_negated else 1


def _combined(step: int, waiting: list[int]) -> int:
    """The truth of a constant or an operator, whose operands are taken from those that wait."""
    if step in (TRUE, FALSE):
        return _YES if step == TRUE else _NO
    last = waiting.pop()
    if step == NOT:
        return -last
    if step in (XOR, XNOR):
        product = last * waiting.pop()
        return product if step == XNOR else -product
    others = _arity(step) - 1
    operands = waiting[len(waiting) - others :]
    del waiting[len(waiting) - others :]
    return min(last, *operands) if _is_and(step) else max(last, *operands)


def _is_and(step: int) -> bool:
    return step < OR_BASE and (AND_BASE - step) % 2 == 0


def _arity(step: int) -> int:
    arity = _ARITY.get(step)
    return arity if arity is not None else ((AND_BASE if _is_and(step) else OR_BASE) - step) // 2


def _shape(steps: list[int]) -> tuple[list[int], list[int], list[int]]:
    """above, first and height."""
    above = [0] * len(steps)
    first = list(range(len(steps)))
    height = [0] * len(steps)
    waiting: list[int] = []
    for at, step in enumerate(steps):
        below = len(waiting) - (_arity(step) if step < 0 else 0)
        if below < len(waiting):
            first[at] = first[waiting[below]]
            for operand in waiting[below:]:
                above[operand], height[operand] = at, below
            del waiting[below:]
        waiting.append(at)
    return above, first, height


def _decisions(steps: list[int], above: list[int]) -> list[int]:
    """For each step what decides the one above it.

    That is 0 for nothing, 1 for *true*, -1 for anything but *true*, -2 for *false*.
    """
    decides = [0] * len(steps)
    only_true = [False] * len(steps)
    only_true[-1] = True
    for at in range(len(steps) - 2, -1, -1):
        parent = above[at]
        step = steps[parent]
        if step < OR_BASE:
            only_true[at] = only_true[parent]
            decides[at] = (-1 if only_true[at] else -2) if _is_and(step) else 1
    return decides
