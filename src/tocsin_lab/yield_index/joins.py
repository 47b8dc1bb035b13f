"""Rows of a relation by a value of a column, many values at once; and what of many is different."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.arrays.dtypes import Longs

Numbers = Longs


class Column:
    """An ordered index of one column: finds the rows of each of many values."""

    def __init__(self, values: Numbers) -> None:
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def count(self, wanted: Numbers) -> int:
        """How many rows `find` would give."""
        first = np.searchsorted(self._sorted, wanted, side="left")
        return int((np.searchsorted(self._sorted, wanted, side="right") - first).sum())

    def find(self, wanted: Numbers) -> tuple[Numbers, Numbers]:
        """Pairs of a place in `wanted` and a row that has its value, in the order of the places."""
        first = np.searchsorted(self._sorted, wanted, side="left")
        count = np.searchsorted(self._sorted, wanted, side="right") - first
        place = np.repeat(np.arange(len(wanted)), count)
        within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        return place, self._order[np.repeat(first, count) + within]


def packed(columns: Sequence[Numbers], others: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """Several columns as one, of two tables alike: rows are the same where the numbers are."""
    left, right = columns[0], others[0]
    for more, same in zip(columns[1:], others[1:], strict=True):
        both = np.concatenate([left, right])
        numbers = np.searchsorted(different(both), both)
        left, right = numbers[: len(left)], numbers[len(left) :]
        width = 1 + max(int(more.max(initial=0)), int(same.max(initial=0)))
        left, right = left * width + more, right * width + same
    return left, right


def different(numbers: Numbers) -> Numbers:
    """Sorted, each once. Sorting is several times quicker here than NumPy's unique, which hashes."""
    ordered = np.sort(numbers)
    return ordered.compress(np.diff(ordered, prepend=ordered[:1] - 1) != 0)


def different_rows(rows: Numbers) -> Numbers:
    """Rows in order, each once."""
    ordered = rows[np.lexsort(rows.T[::-1])]
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered.compress(is_new, axis=0)


def all_pairs(left: int, right: int) -> tuple[Numbers, Numbers]:
    """Every place of one side with every row of the other."""
    return np.repeat(np.arange(left), right), np.tile(np.arange(right), left)
