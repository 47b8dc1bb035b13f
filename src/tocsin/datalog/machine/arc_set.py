"""The arcs of a graph that changes: vertices are words, arcs come and go in bulk or one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.datalog.kernels.arcs import add_arcs, drop_arcs, find_arcs, find_words, link_arcs, number_words

Numbers = NDArray[np.int32]
Words = NDArray[np.int64]

SMALLEST = 16
PIECE = 4_096
"""Words that are numbered at a time: there must be room for all of them, and few of many arcs' are new."""


class VertexNumbers:
    """Words numbered from 0 as they come, for good."""

    def __init__(self) -> None:
        self.count = 0
        self._known = np.empty(SMALLEST, np.int64)
        self._table = np.full(2 * SMALLEST, -1, np.int32)

    @property
    def words(self) -> Words:
        """The word of each number."""
        return self._known[: self.count]

    def numbers(self, words: Words) -> Numbers:
        """The number of each word of an array, in its order; a word that has none gets one."""
        listed = words.ravel()
        numbers = np.empty(listed.size, np.int32)
        for first in range(0, listed.size, PIECE):
            piece = slice(first, first + PIECE)
            self._make_room(numbers[piece].size)
            self.count = number_words(listed[piece], numbers[piece], self._known, self.count, self._table)
        return numbers

    def find(self, words: Words) -> Numbers:
        """The number of each word of an array, in its order, or -1."""
        numbers = np.empty(words.size, np.int32)
        find_words(words.ravel(), numbers, self._known, self._table)
        return numbers

    def _make_room(self, more: int) -> None:
        if self.count + more > self._known.size:
            words = self.words
            room = _enough(self.count + more)
            self._known = np.empty(room, np.int64)
            self._table = np.full(2 * room, -1, np.int32)
            number_words(words, np.empty(words.size, np.int32), self._known, 0, self._table)


NO_LISTS: Numbers = np.empty((4, 0), np.int32)


class ArcSet:
    """A set of arcs between numbered vertices; arrays of arcs are int32[2 n]: tail, head, tail, head ...

    Once somebody has asked for the lists of arcs by vertex, they are kept with every change.
    """

    def __init__(self) -> None:
        self.count = 0
        self._tails = np.empty(SMALLEST, np.int32)
        self._heads = np.empty(SMALLEST, np.int32)
        self._table = np.full(2 * SMALLEST, -1, np.int32)
        self._first = NO_LISTS[:2]
        self._links = NO_LISTS

    @property
    def tails(self) -> Numbers:
        """The tail of each arc, as long as the set does not change."""
        return self._tails[: self.count]

    @property
    def heads(self) -> Numbers:
        """The head of each arc, as long as the set does not change."""
        return self._heads[: self.count]

    def add(self, arcs: Numbers) -> NDArray[np.bool_]:
        """Put in arcs, and say of each whether it is new."""
        is_new = np.empty(arcs.size // 2, np.bool_)
        self._make_room(is_new.size)
        count = self.count
        self.count = add_arcs(arcs, is_new, self._tails, self._heads, count, self._table)
        if self._links.size:
            self._make_room_for_vertices(1 + int(arcs.max(initial=0)))
            link_arcs(self._tails, self._heads, count, self.count, self._first, self._links)
        return is_new

    def drop(self, arcs: Numbers) -> NDArray[np.bool_]:
        """Take out arcs, and say of each whether it was there."""
        was_there = np.empty(arcs.size // 2, np.bool_)
        lists = (self._first, self._links)
        self.count = drop_arcs(arcs, was_there, self._tails, self._heads, self.count, self._table, *lists)
        return was_there

    def lists(self, vertices: int) -> tuple[Numbers, Numbers]:
        """The lists of arcs by vertex, `first` and `links` of datalog/kernels/arcs.py."""
        is_first_time = not self._links.size
        if is_first_time:
            self._links = np.empty((4, self._tails.size), np.int32)
        self._make_room_for_vertices(vertices)
        if is_first_time:
            link_arcs(self._tails, self._heads, 0, self.count, self._first, self._links)
        return self._first, self._links

    def places(self, arcs: Numbers) -> Numbers:
        """Where in `tails` and `heads` each arc stands, or -1."""
        places = np.empty(arcs.size // 2, np.int32)
        find_arcs(arcs, places, self._tails, self._heads, self._table)
        return places

    def _make_room(self, more: int) -> None:
        if self.count + more > self._tails.size:
            arcs = np.stack([self.tails, self.heads], axis=1).ravel()
            room = _enough(self.count + more)
            self._tails = np.empty(room, np.int32)
            self._heads = np.empty(room, np.int32)
            self._table = np.full(2 * room, -1, np.int32)
            is_new = np.empty(self.count, np.bool_)
            add_arcs(arcs, is_new, self._tails, self._heads, 0, self._table)
            if self._links.size:
                links = np.empty((4, room), np.int32)
                links[:, : self.count] = self._links[:, : self.count]
                self._links = links

    def _make_room_for_vertices(self, vertices: int) -> None:
        if vertices > self._first.shape[1]:
            first = np.full((2, _enough(vertices)), -1, np.int32)
            first[:, : self._first.shape[1]] = self._first
            self._first = first


def _enough(needed: int) -> int:
    """The next power of two."""
    return 1 << (needed - 1).bit_length()
