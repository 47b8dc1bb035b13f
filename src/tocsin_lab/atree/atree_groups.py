"""Conditions become groups for the A-Tree: operators over operands, flat, without constants.

With *zero suppression* (section 5.2.1 of the paper) negation ends at the predicates and xor, xnor are
written out, so that only and, or remain; each part is made for the truths it is asked for, true or
false, once:

    not (a and b)          OR   -a -b
    a xor b                AND  a -b      AND  -a b      OR  of both

Both are exact in three-valued logic: a xor b is true where one side is true and the other false, and
unknown where a side is. Without it not, xor and xnor are groups of their own. A chain of xors and xnors
is one group: with true as 1, false as -1 and unknown as 0, xnor multiplies and xor multiplies by -1 too,

    n operands, product     n even: XNOR     n odd: XOR  (-1 occurs n - 1 times)
    n operands, -product    n even: XOR      n odd: NOT of XOR
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.kernels import AND_BASE, FALSE, FALSE_REF, TRUE, TRUE_REF
from tocsin.conditions.kernels import NOT as NOT_STEP
from tocsin.conditions.kernels import XNOR as XNOR_STEP
from tocsin.conditions.kernels import XOR as XOR_STEP
from tocsin_lab.kernels.atree_nodes import AND, NOT, OR, XNOR, XOR
from tocsin_lab.kernels.atree_updates import Groups

_DUAL = {AND: OR, OR: AND}
_NEUTRAL = {AND: TRUE_REF, OR: FALSE_REF}
_CHAIN = -1


class Open(NamedTuple):
    """A group that may still be joined to one of its kind; `sign` is that of a chain's product."""

    operator: int
    operands: list[int]
    sign: int = 1


Part = int | Open
"""A code of kernels.atree_updates.Groups, or a group that has none yet."""


class Grouping(NamedTuple):
    """How conditions are cut into groups.

    zero_suppression   only and, or, over predicates and their negations
    nary               groups of any width; else of two operands, as written
    sharing            a part that occurs twice in one condition is one group
    """

    zero_suppression: bool = True
    nary: bool = True
    sharing: bool = True


class GroupMaker:
    """Collects the groups of many conditions."""

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._operator: list[int] = []
        self._operands: list[tuple[int, ...]] = []
        self._root: list[int] = []

    def add(self, steps: Iterable[int], refs: Sequence[int]) -> None:
        """Add a condition: steps as kernels.skeleton has them, a step >= 0 being a place in refs."""
        one = _OneCondition(self._grouping, list(steps), refs)
        root = one.root()
        number_of: dict[int, int] = {}
        for group in one.needed(root):
            number_of[group] = len(self._operator)
            self._operator.append(one.operator[group])
            self._operands.append(tuple(_renumbered(code, number_of) for code in one.operands[group]))
        self._root.append(_renumbered(root, number_of))

    def groups(self) -> Groups:
        """All of them, as arrays."""
        return Groups(
            np.array(self._operator, np.uint8),
            starts([len(operands) for operands in self._operands], np.int64),
            np.array([code for operands in self._operands for code in operands], np.int32),
            np.array(self._root, np.int32),
        )


def _renumbered(code: int, number_of: dict[int, int]) -> int:
    return code if code >= 0 else -1 - number_of[-1 - code]


class _OneCondition:
    """The groups of one condition, inner ones first."""

    def __init__(self, grouping: Grouping, steps: list[int], refs: Sequence[int]) -> None:
        self._grouping = grouping
        self._steps = steps
        self._refs = refs
        self.operator: list[int] = []
        self.operands: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}

    def root(self) -> int:
        """The code of the whole condition."""
        if self._grouping.zero_suppression:
            return self._suppressed()
        return self._as_written()

    def needed(self, root: int) -> list[int]:
        """The groups that the root is made of, inner ones first; others were joined to some of them."""
        found: set[int] = set()
        waiting = [root]
        while waiting:
            code = waiting.pop()
            if code < 0 and -1 - code not in found:
                found.add(-1 - code)
                waiting.extend(self.operands[-1 - code])
        return sorted(found)

    # ---- With zero suppression: each step as it is asked for, true or false

    def _suppressed(self) -> int:
        waiting: list[tuple[Part, Part]] = []
        for step, (as_true, as_false) in zip(self._steps, self._asked(), strict=True):
            if step >= FALSE:
                ref = self._ref(step)
                waiting.append((ref, ref ^ 1))
            elif step == NOT_STEP:
                waiting.append(waiting.pop()[::-1])
            elif step in (XOR_STEP, XNOR_STEP):
                right, left = waiting.pop(), waiting.pop()
                if step == XNOR_STEP:
                    right = right[::-1]
                waiting.append(
                    (
                        self._either_way(left, right[::-1]) if as_true else TRUE_REF,
                        self._either_way(left, right) if as_false else TRUE_REF,
                    )
                )
            else:
                operator, arity = _operator_of(step)
                operands = waiting[-arity:]
                del waiting[-arity:]
                waiting.append(
                    (
                        self._join(operator, [each[0] for each in operands]) if as_true else TRUE_REF,
                        self._join(_DUAL[operator], [each[1] for each in operands]) if as_false else TRUE_REF,
                    )
                )
        return self._closed(waiting[0][0])

    def _asked(self) -> list[tuple[bool, bool]]:
        """For each step whether its truth, and whether its falsehood, is asked for."""
        asked = [(False, False)] * len(self._steps)
        waiting = [(True, False)]
        for at in range(len(self._steps) - 1, -1, -1):
            step, (as_true, as_false) = self._steps[at], waiting.pop()
            asked[at] = (as_true, as_false)
            if step == NOT_STEP:
                waiting.append((as_false, as_true))
            elif step in (XOR_STEP, XNOR_STEP):
                waiting.extend(((True, True), (True, True)))
            elif step < FALSE:
                waiting.extend([(as_true, as_false)] * _operator_of(step)[1])
        return asked

    def _either_way(self, left: tuple[Part, Part], right: tuple[Part, Part]) -> Part:
        """Both true, or both false."""
        both = [self._join(AND, [left[side], right[side]]) for side in (0, 1)]
        return self._join(OR, both)

    # ---- Without: not, xor and xnor are groups

    def _as_written(self) -> int:
        waiting: list[Part] = []
        for step in self._steps:
            if step >= FALSE:
                waiting.append(self._ref(step))
            elif step == NOT_STEP:
                waiting.append(self._negated(waiting.pop()))
            elif step in (XOR_STEP, XNOR_STEP):
                right, left = waiting.pop(), waiting.pop()
                waiting.append(self._chained(left, right, -1 if step == XOR_STEP else 1))
            else:
                operator, arity = _operator_of(step)
                operands = waiting[-arity:]
                del waiting[-arity:]
                waiting.append(self._join(operator, operands))
        return self._closed(waiting[0])

    def _negated(self, part: Part) -> Part:
        if isinstance(part, Open) and part.operator == _CHAIN:
            return part._replace(sign=-part.sign)
        code = self._closed(part)
        if 0 <= code <= FALSE_REF:
            return code ^ 1
        if code < 0 and self.operator[-1 - code] == NOT:
            return self._opened(self.operands[-1 - code][0])
        return self._group(NOT, [code])

    def _chained(self, left: Part, right: Part, sign: int) -> Part:
        operands: list[int] = []
        for part in (left, right):
            if isinstance(part, Open) and part.operator == _CHAIN and self._grouping.nary:
                operands.extend(part.operands)
                sign *= part.sign
                continue
            code = self._closed(part)
            if 0 <= code <= FALSE_REF:
                sign *= 1 if code == TRUE_REF else -1
            elif code < 0 and self.operator[-1 - code] == NOT:
                operands.append(self.operands[-1 - code][0])
                sign = -sign
            else:
                operands.append(code)
        if not operands:
            return TRUE_REF if sign == 1 else FALSE_REF
        if len(operands) == 1:
            only = self._opened(operands[0])
            return only if sign == 1 else self._negated(only)
        return Open(_CHAIN, operands, sign)

    # ---- Groups

    def _ref(self, step: int) -> int:
        if step >= 0:
            return int(self._refs[step])
        return TRUE_REF if step == TRUE else FALSE_REF

    def _join(self, operator: int, parts: Sequence[Part]) -> Part:
        """One and, or of all parts; a constant when one decides it, a part when it is the only one."""
        codes: dict[int, None] = {}
        for part in parts:
            if isinstance(part, Open) and part.operator == operator and self._grouping.nary:
                codes.update(dict.fromkeys(part.operands))
            else:
                codes[self._closed(part)] = None
        codes.pop(_NEUTRAL[operator], None)
        if _NEUTRAL[operator] ^ 1 in codes:
            return _NEUTRAL[operator] ^ 1
        if not codes:
            return _NEUTRAL[operator]
        found = list(codes)
        if len(found) == 1:
            return self._opened(found[0])
        if self._grouping.nary:
            return Open(operator, found)
        code = found[0]
        for each in found[1:]:
            code = self._group(operator, [code, each])
        return code

    def _closed(self, part: Part) -> int:
        if not isinstance(part, Open):
            return part
        if part.operator != _CHAIN:
            return self._group(part.operator, part.operands)
        odd = len(part.operands) % 2 == 1
        if odd:
            whole = self._group(XOR, part.operands)
            return whole if part.sign == 1 else self._group(NOT, [whole])
        return self._group(XNOR if part.sign == 1 else XOR, part.operands)

    def _opened(self, code: int) -> Part:
        """A group that may be joined to what is around it."""
        if code >= 0 or not self._grouping.nary:
            return code
        operator, operands = self.operator[-1 - code], self.operands[-1 - code]
        if operator in (AND, OR):
            return Open(operator, list(operands))
        if operator in (XOR, XNOR):
            positive = operator == XNOR or len(operands) % 2 == 1
            return Open(_CHAIN, list(operands), 1 if positive else -1)
        return code

    def _group(self, operator: int, operands: Sequence[int]) -> int:
        key = (operator, tuple(sorted(operands)))
        if self._grouping.sharing and key in self._known:
            return self._known[key]
        self.operator.append(operator)
        self.operands.append(key[1])
        code = -len(self.operator)
        self._known[key] = code
        return code


def _operator_of(step: int) -> tuple[int, int]:
    """The operator and arity of a step that is an and, or an or."""
    return (OR if -step & 1 else AND), (AND_BASE - step) // 2


def groups_of(start: Longs, step: Ints, ref: Ints, grouping: Grouping) -> Groups:
    """The groups of many conditions, whose steps are step[start[i] : start[i + 1]]."""
    maker = GroupMaker(grouping)
    codes, refs = step.tolist(), ref.tolist()
    for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        maker.add(codes[begin:end], refs)
    return maker.groups()
