"""A transitive closure that is kept as its graph: arcs come and go, everything else is worked out on demand.

    version 0  --arcs in, arcs out-->  version 1  --arcs in, arcs out-->  version 2 = now

Each version leads to the next one, never back, and the graph itself holds only the latest. So the log of
arcs reaches back just as far as somebody still holds a version. What an older version looked like is the
present one without what came in since, and with what went out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.datalog.machine.arc_set import ArcSet, VertexNumbers
from tocsin.datalog.machine.closure_change import ClosureChange, Comparison, NetArcs
from tocsin.datalog.machine.local_change import FEW, LocalChange, Marks, Overlay
from tocsin.datalog.machine.reachability import ROOM, Reachability

NO_ARCS: Longs = np.empty((0, 2), np.int64)
FORGET = 1_024
"""Vertices without arcs are forgotten when there are more of them than this and than others."""


class Version:
    """A state of the graph, and the arcs that then came or went and so led to the next one."""

    __slots__ = ("arcs", "comes", "following", "numbering", "reachability")

    def __init__(self) -> None:
        self.arcs = NO_ARCS
        self.comes = True
        self.following: Version | None = None
        self.reachability: Reachability | None = None
        self.numbering: VertexNumbers | None = None


class ClosureGraph:
    """The transitive closure of a set of arcs between words.

    Every pair (x, y) with a path of at least one arc from x to y. Arrays of arcs and pairs are int64[n, 2].
    `room` is what rows of bits may take, in words: it decides how fast an answer comes, never which.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._vertices = VertexNumbers()
        self._arcs = ArcSet()
        self.version = Version()
        """The present state, to be handed to `changes_between`."""
        self._marks = Marks()

    def insert(self, arcs: Longs) -> int:
        """Put in arcs; those that are there already change nothing. How many are new."""
        is_new = self._arcs.add(self._vertices.numbers(arcs))
        if is_new.any():
            self._step(_those(arcs, is_new), True)
        return int(is_new.sum())

    def delete(self, arcs: Longs) -> int:
        """Take out arcs; those that are not there change nothing. How many were there."""
        numbers = self._vertices.find(arcs).reshape(-1, 2)
        known = (numbers >= 0).all(axis=1)
        was_there = np.zeros(len(arcs), np.bool_)
        was_there[known] = self._arcs.drop(numbers[known].ravel())
        if was_there.any():
            self._step(_those(arcs, was_there), False)
            if self._vertices.count > 4 * self._arcs.count + FORGET:
                self._forget_vertices()
        return int(was_there.sum())

    def _step(self, arcs: Longs, comes: bool) -> None:
        self.version.arcs, self.version.comes = arcs, comes
        self.version.following = self.version = Version()

    def _forget_vertices(self) -> None:
        """Number only the vertices that arcs still have: a stream of ever new ones takes no more room."""
        arcs = self.arcs()
        self._vertices = VertexNumbers()
        self._arcs = ArcSet()
        self._arcs.add(self._vertices.numbers(arcs))

    def arcs(self) -> Longs:
        """All arcs."""
        words = self._vertices.words
        return np.stack([words[self._arcs.tails], words[self._arcs.heads]], axis=1)

    def changes_between(self, before: Version, after: Version) -> ClosureChange:
        """The net change of the pairs from one version to a later one, worked out when it is looked at."""

        def compared() -> Comparison:
            """The two versions with their vertices numbered alike."""
            arcs, graphs = self.net_arcs(before, after), (self.reachability(before), self.reachability(after))
            return Comparison(*graphs, arcs, self._vertices.words)

        return ClosureChange(compared, lambda: self._nearby(before, after))

    def _nearby(self, before: Version, after: Version) -> tuple[LocalChange, Longs] | None:
        """The change as one of few arcs, and the vertices' words; None when it is one of many."""
        arcs = since = self.net_arcs(before, after)
        if after is not self.version:
            since = self.net_arcs(before, self.version)
        if max(map(len, (*arcs, *since))) > FEW:
            return None
        removed, added, later, earlier = (
            [(tail, head) for tail, head in each.tolist()]
            for each in (arcs.removed, arcs.added, since.added, since.removed)
        )
        overlay = Overlay(frozenset(later), frozenset(earlier))
        vertices = self._vertices
        change = LocalChange(self._arcs, vertices.count, self._marks, overlay, removed, added)
        return change, vertices.words

    def count(self) -> int:
        """How many pairs there are; none is written out."""
        return self.now.count

    def pairs(self) -> Longs:
        """All pairs; the two columns lie one behind the other in memory, as Arrow wants them."""
        return self.now.pairs(self._vertices.words)

    def pairs_of_share(self, share: int, shares: int, piece: int) -> Iterator[Longs]:
        """The pairs of every `shares`-th source, counted from `share`, about `piece` of them at a time."""
        return self.now.pairs_of_share(self._vertices.words, share, shares, piece)

    def holds(self, x: int, y: int) -> bool:
        """Whether there is the pair (x, y)."""
        ends = self._vertices_of(x, y)
        return len(ends) == 2 and self.now.holds(*ends.tolist())

    def lookup(self, columns: tuple[int, ...], key: Sequence[int]) -> Longs:
        """The pairs with these values in these columns."""
        wanted = dict(zip(columns, key, strict=True))
        if not wanted:
            return self.pairs()
        if len(wanted) == 2:
            found = [[wanted[0], wanted[1]]] if self.holds(wanted[0], wanted[1]) else []
            return np.array(found, np.int64).reshape(-1, 2)
        ((column, word),) = wanted.items()
        graph = self.now if column == 0 else self.now.turned
        others = self._vertices.words[graph.reached_from(self._vertices_of(word))]
        known = np.full(len(others), word, np.int64)
        return np.stack((known, others) if 0 in wanted else (others, known), axis=1)

    def distance(self, x: int, y: int) -> int:
        """How many arcs a shortest path from x to y has, 0 when there is none."""
        ends = self._vertices_of(x, y)
        return self.now.distance(*ends.tolist()) if len(ends) == 2 else 0

    def _vertices_of(self, *words: int) -> Ints:
        """The numbers of those words that have one."""
        numbers = self._vertices.find(np.array(words, np.int64))
        return numbers[numbers >= 0]

    @property
    def now(self) -> Reachability:
        """What reaches what at present."""
        return self.reachability(self.version)

    def reachability(self, version: Version) -> Reachability:
        """What reached what in a version, its vertices numbered as they are now."""
        known = version.reachability
        if known is None or version.numbering is not self._vertices:
            since = self.net_arcs(version, self.version)
            places = self._arcs.find(since.added)
            tails = np.append(np.delete(self._arcs.tails, places), since.removed[:, 0])
            heads = np.append(np.delete(self._arcs.heads, places), since.removed[:, 1])
            known = version.reachability = Reachability(tails, heads, self._vertices.count, self._room)
            version.numbering = self._vertices
        return known

    def net_arcs(self, before: Version, after: Version) -> NetArcs:
        """The arcs that came and that went from one version to a later one, as they are numbered now."""
        steps = list(_steps(before, after))
        arcs = self._vertices.numbers(np.concatenate([NO_ARCS, *(arcs for arcs, _ in steps)])).reshape(-1, 2)
        sizes = np.array([len(arcs) for arcs, _ in steps], np.int64)
        comes = np.repeat(np.array([comes for _, comes in steps], np.bool_), sizes)
        if len(steps) <= 1:
            return NetArcs(arcs[comes], arcs[~comes])
        # Of arcs that come and go several times the first and the last time say enough.
        first = np.unique(arcs, axis=0, return_index=True)[1]
        last = len(arcs) - 1 - np.unique(arcs[::-1], axis=0, return_index=True)[1]
        return NetArcs(arcs[last[comes[first] & comes[last]]], arcs[last[~comes[first] & ~comes[last]]])


def _those(arcs: Longs, chosen: Flags) -> Longs:
    """A copy of the chosen arcs; choosing all of them, as most changes do, is many times faster."""
    return arcs.copy() if chosen.all() else arcs[chosen]


def _steps(before: Version, after: Version) -> Iterator[tuple[Longs, bool]]:
    """The arcs of each step from one version to a later one, and whether they come or go."""
    version = before
    while version is not after and version.following is not None:
        yield version.arcs, version.comes
        version = version.following
