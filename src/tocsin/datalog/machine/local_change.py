"""The change that a few arcs make to a closure, found near them: the rest of the graph is not looked at.

The arcs that went are taken out one by one, and then those that came are put in; each step is one arc more or
less in a graph that is otherwise the same. What came in one step and went in another did not change.

Each step is first tried with few steps of a search, from the arc's tail and from its head, then with more. A
search that would take as long as a look at the whole graph is given up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.datalog.kernels.arc_lists import MARKS, STEPS, STOPPED, View, leads, pairs_through
from tocsin.datalog.kernels.arcs import IN, OUT
from tocsin.datalog.machine.arc_set import ArcSet

FEW = 16
"""Up to so many arcs are looked at one by one."""

FIRST_STEPS = 256
LEAST_STEPS = 4_096
"""So many steps are taken in a small graph, too."""

Arc = tuple[int, int]


class Marks:
    """What searches write on, which is kept for the next one."""

    def __init__(self) -> None:
        self.control: Longs = np.zeros(2, np.int64)
        self.marks: Longs = np.zeros((MARKS, 0), np.int64)
        self.listed: Ints = np.zeros((4, 0), np.int32)

    def make_room(self, vertices: int) -> None:
        """Have room for so many vertices; one of them may be listed twice."""
        if vertices >= self.listed.shape[1]:
            room = 2 * vertices + 2
            self.marks = np.zeros((MARKS, room), np.int64)
            self.listed = np.zeros((4, room), np.int32)


class Overlay(NamedTuple):
    """How a graph differs from the one that is there: arcs that it does not have, and arcs that it has."""

    without: frozenset[Arc]
    more: frozenset[Arc]

    def plus(self, arc: Arc) -> Overlay:
        """With one arc more."""
        if arc in self.without:
            return self._replace(without=self.without - {arc})
        return self._replace(more=self.more | {arc})

    def minus(self, arc: Arc) -> Overlay:
        """With one arc less."""
        if arc in self.more:
            return self._replace(more=self.more - {arc})
        return self._replace(without=self.without | {arc})


class LocalChange:
    """How a closure changed, between two states that differ little from each other and from now.

    `before` is the state before as an overlay of the arcs that are there now. Answers are None when the
    search is given up.
    """

    def __init__(
        self, arcs: ArcSet, vertices: int, marks: Marks, before: Overlay, removed: list[Arc], added: list[Arc]
    ) -> None:
        self._arcs = arcs
        self._marks = marks
        self._lists = arcs.lists(vertices)
        self._before = before
        self._removed = removed
        self._added = added
        self._most = max((arcs.count + vertices) // 2, LEAST_STEPS)
        marks.make_room(vertices)

    def any(self) -> tuple[bool, bool] | None:
        """Whether any pair came, and whether any went: what an arc did before it came, or after it went."""
        after = self._before
        for arc in self._removed:
            after = after.minus(arc)
        for arc in self._added:
            after = after.plus(arc)
        came = self._is_any_missing(self._before, self._added)
        went = self._is_any_missing(after, self._removed)
        return None if came is None or went is None else (came, went)

    def pairs(self, *, only_few: bool) -> tuple[Ints, Ints] | None:
        """The pairs that came and those that went, int32[n, 2]; given up sooner when only few are wanted."""
        most = min(self._most, LEAST_STEPS) if only_few else self._most
        graph = self._before
        added, removed = NO_PAIRS, NO_PAIRS
        for arc in self._removed:
            graph = graph.minus(arc)
            pairs = self._pairs_of(graph, arc, most)
            if pairs is None:
                return None
            removed = np.concatenate((removed, pairs)) if len(removed) else pairs
        for arc in self._added:
            pairs = self._pairs_of(graph, arc, most)
            if pairs is None:
                return None
            added = np.concatenate((added, pairs)) if len(added) else pairs
            graph = graph.plus(arc)
        if not len(added) or not len(removed):
            return added, removed
        came, went = as_numbers(*added.T), as_numbers(*removed.T)
        return added[~np.isin(came, went)], removed[~np.isin(went, came)]  # without those that are in both

    def _is_any_missing(self, graph: Overlay, arcs: list[Arc]) -> bool | None:
        view = self._view(graph)
        for tail, head in arcs:
            self._marks.control[STEPS] = self._most
            led = leads(view, tail, head)
            if led != 1:
                return None if led == STOPPED else True
        return False

    def _pairs_of(self, graph: Overlay, arc: Arc, most: int) -> Ints | None:
        """The pairs that an arc adds to a graph without it."""
        view = self._view(graph)
        self._marks.control[STEPS] = most
        led = leads(view, *arc)
        if led != 0:
            return NO_PAIRS if led == 1 else None
        steps = FIRST_STEPS
        while steps <= most:
            pairs, starts = np.empty((2, steps), np.int32), np.empty(steps + 2, np.int64)
            count = pairs_through(view, OUT, *arc, pairs, starts)
            if count >= 0:
                return pairs[:, :count].T
            count = pairs_through(view, IN, arc[1], arc[0], pairs, starts)
            if count >= 0:
                return pairs[::-1, :count].T
            steps *= 4
        return None

    def _view(self, graph: Overlay) -> View:
        without = np.array([*graph.without], np.int32).ravel()
        more = np.array([*graph.more], np.int32).reshape(-1, 2).T.copy()
        places = self._arcs.find(without)
        if (places < 0).any():
            raise AssertionError("an arc that is left out is there")
        marks = self._marks
        graph_now = (self._arcs.ends, *self._lists, self._arcs.count)
        return View(*graph_now, places, more, marks.marks, marks.control, marks.listed)


NO_PAIRS: Ints = np.empty((0, 2), np.int32)


def as_numbers(sources: Ints, targets: Ints) -> Longs:
    """Each pair as one number."""
    return (sources.astype(np.int64) << 32) | targets
