"""Decimal values against the number leaves of a field: a literal is its decimal text to them.

Integers and floats go by keys (see graph/value_keys.py). A decimal compares exactly with what the rule's text
says, so `price = 0.1` holds for the decimal 0.1 though no double is 0.1. Each distinct decimal of a
batch is placed among the field's exact bounds, by bisection but for `between`, which is asked in turn.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.language.tree import Predicate, Test


class DecimalGroup:
    """The number leaves of one field, by the exact values of their literals."""

    def __init__(self, leaves: Sequence[int], predicates: Sequence[Predicate]) -> None:
        points: dict[Decimal, list[int]] = defaultdict(list)
        upper: list[tuple[Decimal, bool, int]] = []  # x <= (or <) bound
        lower: list[tuple[Decimal, bool, int]] = []  # x >= (or >) bound
        between: list[tuple[Decimal, Decimal, int]] = []
        for leaf, predicate in zip(leaves, predicates, strict=True):
            values = [Decimal(literal.value) for literal in predicate.operands]
            if predicate.test in (Test.EQ, Test.IN):
                for value in set(values):
                    points[value].append(leaf)
            elif predicate.test is Test.BETWEEN:
                between.append((values[0], values[1], leaf))
            elif predicate.test in (Test.LT, Test.LE):
                upper.append((values[0], predicate.test is Test.LE, leaf))
            else:
                lower.append((values[0], predicate.test is Test.GT, leaf))
        upper.sort()
        lower.sort()
        self._points = {value: np.array(found, np.int32) for value, found in points.items()}
        self._upper = [(bound, included) for bound, included, _ in upper]
        self._upper_leaf = np.array([leaf for _, _, leaf in upper], np.int32)
        self._lower = [(bound, strict) for bound, strict, _ in lower]
        self._lower_leaf = np.array([leaf for _, _, leaf in lower], np.int32)
        self._between = between
        self._none = np.empty(0, np.int32)

    def find(self, values: Sequence[Decimal]) -> tuple[Longs, Ints]:
        """found_start and found_leaf: the leaves that each value satisfies."""
        rows = [self.leaves_of(value) for value in values]
        found = np.concatenate(rows) if rows else self._none
        return starts([len(row) for row in rows], np.int64), found

    def leaves_of(self, value: Decimal) -> Ints:
        """The leaves that a value satisfies."""
        inside = [leaf for low, high, leaf in self._between if low <= value <= high]
        return np.concatenate(
            (
                self._points.get(value, self._none),
                # (value, True) is the first upper bound that still holds: `<= value`, then all larger.
                self._upper_leaf[bisect_left(self._upper, (value, True)) :],
                # (value, False) is the last lower bound that still holds: `>= value`, and all smaller.
                self._lower_leaf[: bisect_right(self._lower, (value, False))],
                np.array(inside, np.int32),
            )
        )
