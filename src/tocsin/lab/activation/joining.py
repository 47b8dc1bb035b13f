"""Rows of a relation by a value of a column, many values at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Column:
    """An ordered index of one column: finds the rows of each of many values."""

    def __init__(self, values: Numbers) -> None:
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def find(self, wanted: Numbers) -> tuple[Numbers, Numbers]:
        """Pairs of a place in `wanted` and a row that has its value, in the order of the places."""
        first = np.searchsorted(self._sorted, wanted, side="left")
        count = np.searchsorted(self._sorted, wanted, side="right") - first
        place = np.repeat(np.arange(len(wanted)), count)
        within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        return place, self._order[np.repeat(first, count) + within]


def all_pairs(left: int, right: int) -> tuple[Numbers, Numbers]:
    """Every place of one side with every row of the other."""
    return np.repeat(np.arange(left), right), np.tile(np.arange(right), left)
