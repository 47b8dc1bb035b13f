"""How a transitive closure changed: the pairs that came and those that went, worked out when looked at.

An arc is *idle* when a path of arcs that are there both before and after does the same: it makes no pair
come or go. Any pair that does goes through another arc: its source reaches that arc's tail, its target is
reached from that arc's head. So only such sources, or such targets, whichever are fewer, are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tocsin.index.activation.arc_set import Numbers, Words
from tocsin.index.activation.reachability import Reachability
from tocsin.kernels.activation.closure_changes import compare_closures

FEW = 64
"""Up to so many arcs are worth asking whether they are idle."""


class NetArcs(NamedTuple):
    """Arcs that came and arcs that went, int32[n, 2] each, none of them both."""

    added: Numbers
    removed: Numbers


class Comparison(NamedTuple):
    """Two states of a graph whose vertices are numbered alike, what differs, and the vertices' words."""

    before: Reachability
    after: Reachability
    arcs: NetArcs
    words: Words


class ClosureChange:
    """The net change of a closure. Until somebody looks, it keeps the log of arcs since its start."""

    def __init__(self, compared: Callable[[], Comparison]) -> None:
        self._compared: Callable[[], Comparison] | None = compared
        self._pairs = (np.empty((0, 2), np.int64), np.empty((0, 2), np.int64))

    def added(self) -> Words:
        """The pairs that came, int64[n, 2]."""
        return self._looked_at()[0]

    def removed(self) -> Words:
        """The pairs that went, int64[n, 2]."""
        return self._looked_at()[1]

    def _looked_at(self) -> tuple[Words, Words]:
        if self._compared is not None:
            self._pairs = changed_pairs(self._compared())
            self._compared = None
        return self._pairs


def changed_pairs(compared: Comparison) -> tuple[Words, Words]:
    """The pairs that came and those that went."""
    before, after, _, words = compared
    added, removed = _busy(compared)
    sources = np.union1d(before.before(removed[:, 0]), after.before(added[:, 0]))
    targets = np.union1d(before.after(removed[:, 1]), after.after(added[:, 1]))
    if len(sources) <= len(targets):
        return _differences(before, after, sources, words)
    gained, lost = _differences(before.turned, after.turned, targets, words)
    return gained[:, ::-1], lost[:, ::-1]


def _busy(compared: Comparison) -> NetArcs:
    """The arcs that need looking at: without the idle ones, where these are quickly told."""
    before, after, (added, removed), _ = compared
    if len(added) + len(removed) > FEW:
        return NetArcs(added, removed)
    if not len(removed):
        kept = before
    elif not len(added):
        kept = after
    else:
        kept = _without(before, removed)
    return NetArcs(_not_idle(kept, added), _not_idle(kept, removed))


def _not_idle(kept: Reachability, arcs: Numbers) -> Numbers:
    busy = [not kept.holds(tail, head) for tail, head in arcs.tolist()]
    return arcs[np.array(busy, np.bool_)]


def _without(graph: Reachability, arcs: Numbers) -> Reachability:
    """A graph without some of its arcs."""
    gone = np.isin(_one_number(graph.tails, graph.heads), _one_number(arcs[:, 0], arcs[:, 1]))
    return Reachability(graph.tails[~gone], graph.heads[~gone], graph.vertices, graph.room)


def _one_number(tails: Numbers, heads: Numbers) -> Words:
    return (tails.astype(np.int64) << 32) | heads


def _differences(
    before: Reachability, after: Reachability, sources: Numbers, words: Words
) -> tuple[Words, Words]:
    """The pairs of these sources that came and those that went."""
    grouped = sources[np.lexsort((_components(after, sources), _components(before, sources)))]
    graphs = (before.condensation, *before.rows, after.condensation, *after.rows, words)
    nothing = np.empty((2, 0), np.int64)
    gains, losses = compare_closures(grouped, *graphs, nothing, nothing)
    added, removed = np.empty((2, gains), np.int64), np.empty((2, losses), np.int64)
    if gains + losses:
        compare_closures(grouped, *graphs, added, removed)
    return added.T, removed.T


def _components(graph: Reachability, vertices: Numbers) -> Numbers:
    """The component of each vertex, -1 for one that came later."""
    component = np.full(len(vertices), -1, np.int32)
    known = vertices < graph.vertices
    component[known] = graph.condensation.component[vertices[known]]
    return component
