"""What a group's values come to while values come and go: always what working it out anew would give."""

from __future__ import annotations

import math
from collections import Counter
from heapq import heapify, heappop, heappush
from typing import Any

from tocsin.datalog.language.arithmetic import wrapped
from tocsin.datalog.language.syntax import Type, Value
from tocsin.errors import DerivationError

_UNITS = 1074
"""Every float is a whole number of 2 ** -1074."""


class Accumulator:
    """The values of one group: `count` is how many, `word` what the group was last said to come to.

    This one is the aggregate count, which looks at no value.
    """

    __slots__ = ("count", "word")

    def __init__(self) -> None:
        self.count = 0
        self.word: int | None = None

    def change(self, value: Any, by: int) -> None:  # noqa: ARG002  every accumulator is told the value
        """A value comes (1) or goes (-1)."""
        self.count += by

    def result(self) -> Value:
        """What the values come to; there is at least one."""
        return self.count


def accumulator(function: str, kind: Type) -> Accumulator:
    """An empty group for an aggregate function over values of a type."""
    if function == "count":
        return Accumulator()
    if function in ("min", "max"):
        return _Extreme(function == "max")
    if kind is Type.FLOAT:
        return _FloatSum(mean=function == "mean")
    return _Sum(kind, mean=function == "mean")


class _Sum(Accumulator):
    """Whole numbers: a sum wraps at 64 bits, a mean is of the sum before it wraps."""

    __slots__ = ("_kind", "_mean", "_total")

    def __init__(self, kind: Type, *, mean: bool) -> None:
        super().__init__()
        self._total = 0
        self._kind = kind
        self._mean = mean

    def change(self, value: Any, by: int) -> None:
        self.count += by
        self._total += by * value

    def result(self) -> Value:
        if self._mean:
            return self._total / self.count
        return wrapped(self._total, self._kind)


class _FloatSum(Accumulator):
    """Floats, added as whole numbers of the smallest float there is: rounded once, when it is asked."""

    __slots__ = ("_infinite", "_mean", "_total")

    def __init__(self, *, mean: bool) -> None:
        super().__init__()
        self._total = 0
        self._infinite = [0, 0]
        self._mean = mean

    def change(self, value: Any, by: int) -> None:
        self.count += by
        if math.isinf(value):
            self._infinite[value > 0] += by
            return
        numerator, denominator = value.as_integer_ratio()
        self._total += by * (numerator << (_UNITS + 1 - denominator.bit_length()))

    def result(self) -> float:
        below, above = self._infinite
        if below and above:
            raise DerivationError("the result is not a number")
        if below or above:
            return math.inf if above else -math.inf
        try:
            total = self._total / (1 << _UNITS)
        except OverflowError:
            return math.inf if self._total > 0 else -math.inf
        return total / self.count if self._mean else total


class _Extreme(Accumulator):
    """The least or the greatest value. Values that went stay in the heap until they come to its top."""

    __slots__ = ("_heap", "_present", "_sign")

    def __init__(self, greatest: bool) -> None:
        super().__init__()
        self._sign = -1 if greatest else 1
        self._present: Counter[Any] = Counter()
        self._heap: list[Any] = []

    def change(self, value: Any, by: int) -> None:
        self.count += by
        keyed = self._sign * value
        self._present[keyed] += by
        if self._present[keyed] == 0:
            del self._present[keyed]
        elif by > 0 and self._present[keyed] == 1:
            heappush(self._heap, keyed)
        if len(self._heap) > 2 * len(self._present) + 16:
            self._heap = list(self._present)
            heapify(self._heap)

    def result(self) -> Value:
        while self._heap[0] not in self._present:
            heappop(self._heap)
        extreme: Value = self._sign * self._heap[0]
        return extreme
