"""The arcs of a graph that changes: vertices are words, arcs come and go in bulk or one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.row_table import enter_rows, find_rows, number_rows
from tocsin.datalog.kernels.arcs import drop_arcs, link_arcs

SMALLEST = 16
PIECE = 4_096
"""Rows that are numbered at a time: there must be room for all of them, and few of many arcs' are new."""


class _NumberedRows:
    """Rows of `width` words or numbers, numbered from 0 as they come, each once."""

    def __init__(self, width: int, kind: type[np.int64 | np.int32]) -> None:
        self.count = 0
        self._width = width
        self._rows: NDArray[Any] = np.empty(width * SMALLEST, kind)
        self._hashed = np.zeros(2 * SMALLEST, np.int32)

    def numbers(self, rows: NDArray[Any]) -> Ints:
        """The number of each row of an array, in its order; a row that has none gets one."""
        listed, width = rows.ravel(), self._width
        numbers = np.empty(listed.size // width, np.int32)
        for first in range(0, numbers.size, PIECE):
            piece = numbers[first : first + PIECE]
            more = listed[first * width : (first + PIECE) * width]
            self._make_room(self.count + piece.size)
            self.count = number_rows(self._rows, width, self.count, more, piece, self._hashed)
        return numbers

    def find(self, rows: NDArray[Any]) -> Ints:
        """The number of each row of an array, in its order, or -1."""
        numbers = np.empty(rows.size // self._width, np.int32)
        find_rows(self._rows, self._width, rows.ravel(), numbers, self._hashed)
        return numbers

    def _make_room(self, needed: int) -> None:
        if needed * self._width > self._rows.size:
            rows = np.empty(_enough(needed) * self._width, self._rows.dtype)
            rows[: self._rows.size] = self._rows
            hashed = np.zeros(2 * _enough(needed), np.int32)
            enter_rows(rows, self._width, self.count, np.zeros(self.count, np.int32), hashed)
            self._rows, self._hashed = rows, hashed
            self._room_was_made()

    def _room_was_made(self) -> None:
        """For whoever keeps something beside the rows."""


class VertexNumbers(_NumberedRows):
    """Words numbered from 0 as they come, for good."""

    def __init__(self) -> None:
        super().__init__(1, np.int64)

    @property
    def words(self) -> Longs:
        """The word of each number."""
        return self._rows[: self.count]


NO_LISTS: Ints = np.empty((4, 0), np.int32)


class ArcSet(_NumberedRows):
    """A set of arcs between numbered vertices; arrays of arcs are int32[2 n]: tail, head, tail, head ...

    Once somebody has asked for the lists of arcs by vertex, they are kept with every change.
    """

    def __init__(self) -> None:
        super().__init__(2, np.int32)
        self._first = NO_LISTS[:2]
        self._links = NO_LISTS

    @property
    def ends(self) -> Ints:
        """The tail and the head of each arc, one arc behind the other, as long as the set does not change."""
        return self._rows[: 2 * self.count]

    @property
    def tails(self) -> Ints:
        """The tail of each arc, as long as the set does not change."""
        return self.ends[::2]

    @property
    def heads(self) -> Ints:
        """The head of each arc, as long as the set does not change."""
        return self.ends[1::2]

    def add(self, arcs: Ints) -> Flags:
        """Put in arcs, and say of each whether it is new."""
        before, places = self.count, np.empty(arcs.size // 2, np.int32)
        self._make_room(before + places.size)
        self.count = number_rows(self._rows, 2, before, arcs, places, self._hashed)
        is_new = places >= before
        if places.size > self.count - before:  # one that comes twice is new once
            is_new[1:] &= places[1:] > np.maximum.accumulate(places)[:-1]
        if self._links.size:
            self._make_room_for_vertices(1 + int(arcs.max(initial=0)))
            link_arcs(self._rows, before, self.count, self._first, self._links)
        return is_new

    def drop(self, arcs: Ints) -> Flags:
        """Take out arcs, and say of each whether it was there."""
        was_there = np.empty(arcs.size // 2, np.bool_)
        lists = (self._first, self._links)
        self.count = drop_arcs(arcs, was_there, self._rows, self.count, self._hashed, *lists)
        return was_there

    def lists(self, vertices: int) -> tuple[Ints, Ints]:
        """The lists of arcs by vertex, `first` and `links` of datalog/kernels/arcs.py."""
        is_first_time = not self._links.size
        if is_first_time:
            self._links = np.empty((4, self._rows.size // 2), np.int32)
        self._make_room_for_vertices(vertices)
        if is_first_time:
            link_arcs(self._rows, 0, self.count, self._first, self._links)
        return self._first, self._links

    def _room_was_made(self) -> None:
        if self._links.size:
            self._links = _wider(self._links, self._rows.size // 2)

    def _make_room_for_vertices(self, vertices: int) -> None:
        if vertices > self._first.shape[1]:
            self._first = _wider(self._first, _enough(vertices))


def _wider(columns: Ints, room: int) -> Ints:
    """The same columns with more behind them, which hold -1."""
    wider = np.full((len(columns), room), -1, np.int32)
    wider[:, : columns.shape[1]] = columns
    return wider


def _enough(needed: int) -> int:
    """The next power of two."""
    return 1 << (needed - 1).bit_length()
