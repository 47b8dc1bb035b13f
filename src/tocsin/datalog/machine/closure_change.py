"""How a transitive closure changed: the pairs that came and those that went, worked out when looked at.

An arc is *idle* when a path of arcs that are there both before and after does the same: it makes no pair
come or go. Of the others:

    one arc      What came, or went, with tail -> head is what no other path has: from the tail and what
                 leads to it, but not from what leads to the head otherwise; to the head and what it leads
                 to, but not to what the tail leads to otherwise.
    several      A pair that changed goes through one of the arcs: its source reaches the arc's tail, its
                 target is reached from the arc's head. So only such sources, or such targets, whichever
                 are fewer, are compared.

A change of few arcs that reaches not far is found near them, without these graphs: see local_change.py.

Whether any pair came takes no pairs at all: if before each arc that came some path did the same, then none.
Else the arc itself is such a pair. Whether any went is the same question the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.datalog.kernels.closure_changes import compare_closures, missing_pairs
from tocsin.datalog.machine.local_change import LocalChange, as_numbers
from tocsin.datalog.machine.reachability import Reachability

FEW = 64
"""Up to so many arcs are worth asking whether they are idle."""

NOTHING: Longs = np.empty((2, 0), np.int64)
"""Columns without room: what is asked to write there only counts."""


class NetArcs(NamedTuple):
    """Arcs that came and arcs that went, int32[n, 2] each, none of them both."""

    added: Ints
    removed: Ints


class Comparison(NamedTuple):
    """Two states of a graph whose vertices are numbered alike, what differs, and the vertices' words."""

    before: Reachability
    after: Reachability
    arcs: NetArcs
    words: Longs


Compared = Callable[[], Comparison]
Nearby = Callable[[], tuple[LocalChange, Longs] | None]


class ClosureChange:
    """The net change of a closure: of each answer, the first part is what came and the second what went.

    It is worked out by comparing two graphs, or near its arcs if these are few. Until somebody looks, it
    keeps the log of arcs since its start.
    """

    def __init__(self, compared: Compared, nearby: Nearby) -> None:
        self._ways: tuple[Compared, Nearby] | None = (compared, nearby)
        self._pairs = (NOTHING.T, NOTHING.T)

    @cached_property
    def any(self) -> tuple[bool, bool]:
        """Whether there are pairs; not many are worked out for it."""
        if self._ways is not None:
            found = self._found_nearby(only_few=True)
            if found is not None:
                return found
            before, after, arcs, _ = self._ways[0]()
            return not before.holds_all(arcs.added), not after.holds_all(arcs.removed)
        added, removed = self._pairs
        return len(added) > 0, len(removed) > 0

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many pairs; where all came or all went, many are not written out for it."""
        if self.any != (True, True) and self._ways is not None:
            before, after, arcs, _ = self._ways[0]()
            if len(arcs.added) + len(arcs.removed) > FEW:
                more = after.count - before.count
                return max(more, 0), max(-more, 0)
        added, removed = self.pairs()
        return len(added), len(removed)

    def pairs(self) -> tuple[Longs, Longs]:
        """The pairs, int64[n, 2]."""
        if self._ways is not None:
            self._found_nearby(only_few=False)
        if self._ways is not None:
            self._pairs = changed_pairs(self._ways[0]())
            self._ways = None
        return self._pairs

    def _found_nearby(self, *, only_few: bool) -> tuple[bool, bool] | None:
        """Look near the arcs. If that finds all pairs they are kept, else it may tell if there are any."""
        nearby = self._ways[1]() if self._ways is not None else None
        if nearby is None:
            return None
        change, words = nearby
        pairs = change.pairs(only_few=only_few)
        if pairs is None:
            return change.any() if only_few else None
        self._pairs = words[pairs[0]], words[pairs[1]]
        self._ways = None
        return len(pairs[0]) > 0, len(pairs[1]) > 0


def changed_pairs(compared: Comparison) -> tuple[Longs, Longs]:
    """The pairs that came and those that went."""
    if len(compared.arcs.added) + len(compared.arcs.removed) > FEW:
        return _through_several(compared)
    before, after, (added, removed), words = compared
    kept = before  # the arcs that are there before and after
    if len(removed):
        kept = _without(before, removed) if len(added) else after
    added, removed = (_not_idle(kept, arcs) for arcs in (added, removed))
    if len(added) + len(removed) > 1:
        return _through_several(compared._replace(arcs=NetArcs(added, removed)))
    return _through_one(kept, added, words), _through_one(kept, removed, words)


def _not_idle(kept: Reachability, arcs: Ints) -> Ints:
    busy = [not kept.holds(tail, head) for tail, head in arcs.tolist()]
    return arcs[np.array(busy, np.bool_)]


def _without(graph: Reachability, arcs: Ints) -> Reachability:
    """A graph without some of its arcs."""
    gone = np.isin(as_numbers(graph.tails, graph.heads), as_numbers(arcs[:, 0], arcs[:, 1]))
    return Reachability(graph.tails[~gone], graph.heads[~gone], graph.vertices, graph.room)


def _through_one(kept: Reachability, arcs: Ints, words: Longs) -> Longs:
    """The pairs that a graph has with one more arc; none where there is no arc."""
    if not len(arcs):
        return NOTHING.T
    tail, head = arcs[0, :1], arcs[0, 1:]
    sources = np.setdiff1d(kept.turned.after(tail), kept.turned.reached_from(head))
    targets = np.setdiff1d(kept.after(head), kept.reached_from(tail))
    if len(sources) <= len(targets):
        return _missing(kept, sources, targets, words)
    return _missing(kept.turned, targets, sources, words)[:, ::-1]


def _missing(graph: Reachability, sources: Ints, targets: Ints, words: Longs) -> Longs:
    """The pairs of a source and a target that the closure of a graph does not have."""
    grouped = sources[np.argsort(_components(graph, sources))]
    pairs = np.empty((2, missing_pairs(grouped, targets, graph.closure, words, NOTHING)), np.int64)
    if pairs.size:
        missing_pairs(grouped, targets, graph.closure, words, pairs)
    return pairs.T


def _through_several(compared: Comparison) -> tuple[Longs, Longs]:
    before, after, (added, removed), words = compared
    sources = np.union1d(before.turned.after(removed[:, 0]), after.turned.after(added[:, 0]))
    targets = np.union1d(before.after(removed[:, 1]), after.after(added[:, 1]))
    if len(sources) <= len(targets):
        return _differences(before, after, sources, words)
    gained, lost = _differences(before.turned, after.turned, targets, words)
    return gained[:, ::-1], lost[:, ::-1]


def _differences(
    before: Reachability, after: Reachability, sources: Ints, words: Longs
) -> tuple[Longs, Longs]:
    """The pairs of these sources that came and those that went."""
    grouped = sources[np.lexsort((_components(after, sources), _components(before, sources)))]
    graphs = (before.closure, after.closure, words)
    gains, losses = compare_closures(grouped, *graphs, NOTHING, NOTHING)
    added, removed = np.empty((2, gains), np.int64), np.empty((2, losses), np.int64)
    if gains + losses:
        compare_closures(grouped, *graphs, added, removed)
    return added.T, removed.T


def _components(graph: Reachability, vertices: Ints) -> Ints:
    """The component of each vertex, -1 for one that came later."""
    component = np.full(len(vertices), -1, np.int32)
    known = vertices < graph.vertices
    component[known] = graph.condensation.component[vertices[known]]
    return component
