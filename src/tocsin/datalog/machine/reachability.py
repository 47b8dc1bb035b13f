"""What reaches what in a graph that does not change: worked out when asked for, and kept.

All pairs are never written out unless somebody wants them: the strongly connected components, the graph of
these, and for each one a row of bits say the same in much less room. Where even the rows would be too large
(a path of 100,000 vertices), each question is answered by a search of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.datalog.kernels import reach_bits
from tocsin.datalog.kernels.arcs import by_tail
from tocsin.datalog.kernels.graph_components import Condensation, condense, strong_components

ROOM = 1 << 22
"""The words of 64 bits that rows may take: 32 MB."""

_MOST_KEPT = 16
"""Of how many vertices the distances of all others are kept."""

NOWHERE = -1
"""A vertex that no search meets."""


class Reachability:
    """The transitive closure of the arcs tails[i] -> heads[i] between vertices 0 ... n - 1.

    A vertex reaches another when there is a path of at least one arc; so it reaches itself only on a cycle.
    One that got its number later has no arcs here: it reaches nothing and is reached from nowhere.
    """

    def __init__(self, tails: Ints, heads: Ints, vertices: int, room: int = ROOM) -> None:
        self.tails = tails
        self.heads = heads
        self.vertices = vertices
        self.room = room

    @cached_property
    def forward(self) -> tuple[Ints, Ints]:
        """The graph, its arcs sorted by tail."""
        start = np.zeros(self.vertices + 1, np.int32)
        target = np.empty(self.tails.size, np.int32)
        by_tail(self.tails, self.heads, start, target)
        return start, target

    @cached_property
    def turned(self) -> Reachability:
        """The closure of the graph with every arc turned round."""
        return Reachability(self.heads, self.tails, self.vertices, self.room)

    @cached_property
    def condensation(self) -> Condensation:
        """The strongly connected components and the graph that they make."""
        start, target = self.forward
        component, count = strong_components(start, target)
        return condense(start, target, component, count)

    @cached_property
    def closure(self) -> reach_bits.Closure:
        """What each component reaches, in rows of bits if these have room."""
        row_of, count = reach_bits.number_rows(self.condensation.cyclic, self.condensation.next_start)
        width = (self.vertices + 63) // 64
        if count * width > self.room:
            return reach_bits.Closure(self.condensation, np.empty(0, np.int32), np.empty((0, 0), np.uint64))
        closure = reach_bits.Closure(self.condensation, row_of, np.zeros((count, width), np.uint64))
        reach_bits.fill_rows(closure, 0)
        return closure

    @cached_property
    def count(self) -> int:
        """How many pairs there are; none is written out."""
        if self.closure.row_of.size or not self.vertices:
            return reach_bits.count_in_rows(self.closure)
        for_each_word = self.condensation.cyclic.size + self.condensation.next_one.size
        # So many steps of a search take about as long as counting by windows: four words of bits a step.
        as_long = self.vertices * for_each_word // (64 * 4)
        counted = reach_bits.count_by_search(self.condensation, as_long)
        return counted if counted >= 0 else self._count_by_windows()

    def _count_by_windows(self) -> int:
        """Rows for some of the vertices, then for the next ones: each window has room, whatever there is."""
        condensation = self.condensation
        row_of, count = reach_bits.number_rows(condensation.cyclic, condensation.next_start)
        width = max(1, self.room // count)
        window = reach_bits.Closure(condensation, row_of, np.empty((count, width), np.uint64))
        total = 0
        for low in range(0, self.vertices, 64 * width):
            window.bits[:] = 0
            reach_bits.fill_rows(window, low)
            total += reach_bits.count_in_rows(window)
        return total

    def pairs(self, words: Longs) -> Longs:
        """All pairs, as the words of their vertices: int64[n, 2], one column behind the other in memory."""
        columns = np.empty((2, self.count), np.int64)
        reach_bits.write_share(self.closure, words, 0, 1, *columns)
        return columns.T

    def pairs_of_share(self, words: Longs, share: int, shares: int, piece: int) -> Iterator[Longs]:
        """The pairs whose sources are one of so many shares of all vertices, about `piece` at a time."""
        columns = np.empty((2, max(piece, self.vertices)), np.int64)
        place = share
        while place < self.vertices:
            used, place = reach_bits.write_share(self.closure, words, place, shares, *columns)
            yield columns[:, :used].T.copy()

    def reached_from(self, vertices: Ints) -> Ints:
        """All that one of some vertices reaches, each once."""
        known = vertices[vertices < self.vertices]
        _, waiting = self._search(known, NOWHERE)
        return waiting[known.size :]

    def after(self, vertices: Ints) -> Ints:
        """Some vertices and all that one of them reaches, each once."""
        return np.union1d(vertices, self.reached_from(vertices))

    def _search(self, vertices: Ints, wanted: int) -> tuple[Ints, Ints]:
        came_from = np.full(self.vertices, -1, np.int32)
        waiting = np.empty(vertices.size + self.vertices, np.int32)
        waiting[: vertices.size] = vertices
        used = reach_bits.search_graph(*self.forward, came_from, waiting, vertices.size, wanted)
        return came_from, waiting[:used]

    def holds(self, source: int, target: int) -> bool:
        """Whether one vertex reaches the other."""
        if max(source, target) >= self.vertices:
            return False
        _, row_of, bits = self.closure
        if row_of.size:
            row = row_of[self.condensation.component[source]]
            return bool(row >= 0 and (int(bits[row, target >> 6]) >> (target & 63)) & 1)
        known = self._kept_distance(source, target)
        if known is not None:
            return known > 0
        came_from, _ = self._search(np.array([source], np.int32), target)
        return bool(came_from[target] >= 0)

    def holds_all(self, pairs: Ints) -> bool:
        """Whether in each of these pairs, int32[n, 2], the first vertex reaches the other."""
        ends = pairs.tolist()
        if self.closure.row_of.size or len(ends) <= 1:
            return all(self.holds(source, target) for source, target in ends)
        if len(pairs) and pairs.max() >= self.vertices:
            return False
        by_source = pairs[np.argsort(pairs[:, 0], kind="stable")]
        sources, starts = np.unique(by_source[:, 0], return_index=True)
        targets = np.split(by_source[:, 1], starts[1:])
        return all(
            np.isin(wanted, self.reached_from(source)).all()
            for source, wanted in zip(np.split(sources, len(sources)), targets, strict=True)
        )

    def distance(self, source: int, target: int) -> int:
        """How many arcs a shortest path has, 0 when there is none.

        The distances from its source and to its target are kept for a while: many pairs that have one end in
        common, as the steps of a long path do, take two searches.
        """
        if max(source, target) >= self.vertices:
            return 0
        known = self._kept_distance(source, target)
        if known is not None:
            return known
        if len(self._distances) >= _MOST_KEPT:
            self._distances.clear()
        self._distances["from", source] = self._distances_from(source)
        self._distances["to", target] = self.turned._distances_from(target)
        return int(self._distances["from", source][target])

    def _kept_distance(self, source: int, target: int) -> int | None:
        for end, other in ((("to", target), source), (("from", source), target)):
            if end in self._distances:
                return int(self._distances[end][other])
        return None

    @cached_property
    def _distances(self) -> dict[tuple[str, int], Ints]:
        return {}

    def _distances_from(self, start: int) -> Ints:
        """How far each vertex is from one of them, 0 for those that are not reached."""
        came_from, waiting = self._search(np.array([start], np.int32), NOWHERE)
        distances = np.zeros(self.vertices, np.int32)
        for vertex in waiting[1:].tolist():
            before = came_from[vertex]
            distances[vertex] = 1 if before == start else distances[before] + 1
        return distances
