"""What follows when a plane holds: the graph of planes upside down, for one event at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.planes import PlaneGraph


class Links(NamedTuple):
    """What follows when a plane holds. P planes, G groups.

    link_start     int32[P+3]   for plane p (also: always and never) link[link_start[p] : link_start[p+1]]
    link           int32[...]   p: inner plane p, if an OR, holds too; if an AND, it has to be asked
                                first_rule(P) + r: rule r matches
                                and at the end, for no plane, P + 1
    group_of       int32[L]     the group of each leaf
    pushed_start   int32[G+1]   falsehood planes of a group from which something follows:
    pushed_leaf    int32[...]       the leaf ...
    pushed_plane   int32[...]       ... and the plane of its falsehood, ascending
    """

    link_start: Ints
    link: Ints
    group_of: Ints
    pushed_start: Ints
    pushed_leaf: Ints
    pushed_plane: Ints


@kernel
def first_rule(planes: int) -> int:
    """The bit of rule 0: behind all planes and the two constants, at the beginning of a line."""
    return ((planes + 2 + 511) >> 9) << 9


@kernel
def _only_rule(graph: PlaneGraph, first_inner: int) -> Ints:
    """For each inner plane the rule it stands for, if it is an OR and nothing else needs it; else -1."""
    rule_of = np.full(graph.is_and.size, -1, np.int32)
    for rule in range(graph.root.size):
        inner = graph.root[rule] - first_inner
        if 0 <= inner < rule_of.size:
            rule_of[inner] = rule if rule_of[inner] == -1 else -2
    for j in range(graph.child.size):
        if graph.child[j] >= first_inner:
            rule_of[graph.child[j] - first_inner] = -2
    for inner in range(rule_of.size):
        if graph.is_and[inner] or rule_of[inner] < 0:
            rule_of[inner] = -1
    return rule_of


@kernel
def lay_out_links(graph: PlaneGraph, planes: int) -> tuple[Ints, Ints]:
    """link_start and link: an AND under its first child, an OR under every child, a rule under its root."""
    inner = graph.is_and.size
    first_inner = planes - inner
    rules = first_rule(planes)
    rule_of = _only_rule(graph, first_inner)
    start = np.zeros(planes + 3, np.int32)
    for i in range(inner):
        begin = graph.child_start[i]
        end = begin + 1 if graph.is_and[i] else graph.child_start[i + 1]
        for j in range(begin, end):
            start[graph.child[j] + 1] += 1
        if rule_of[i] >= 0:
            start[first_inner + i + 1] -= 1
    for rule in range(graph.root.size):
        start[graph.root[rule] + 1] += 1
    for plane in range(planes + 2):
        start[plane + 1] += start[plane]
    cursor = start[:-1].copy()
    link = np.empty(start[planes + 2] + 1, np.int32)
    link[-1] = planes + 1
    for rule in range(graph.root.size):
        plane = graph.root[rule]
        its_inner = plane - first_inner
        if its_inner < 0 or its_inner >= inner or rule_of[its_inner] < 0:
            link[cursor[plane]] = rules + rule
            cursor[plane] += 1
    for i in range(inner):
        begin = graph.child_start[i]
        end = begin + 1 if graph.is_and[i] else graph.child_start[i + 1]
        target = rules + rule_of[i] if rule_of[i] >= 0 else first_inner + i
        for j in range(begin, end):
            link[cursor[graph.child[j]]] = target
            cursor[graph.child[j]] += 1
    return start, link
