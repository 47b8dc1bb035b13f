"""The shared graph: conditions in, planes and wakes out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tocsin.index.packing import starts
from tocsin.index.reading import Steps
from tocsin.kernels.planes import (
    PlaneGraph,
    children_of,
    first_children,
    number_leaves,
    place_inner,
    root_planes,
)
from tocsin.kernels.sharing import NODES, SharedNodes, no_nodes, share_conditions
from tocsin.kernels.single import Wakes, estimate_planes, lay_out_wakes


def share(parts: Sequence[Steps], leaves: int, conditions: int) -> tuple[SharedNodes, NDArray[np.int32]]:
    """One graph of all conditions, and the reference of each; leaf l is node l + 1.

    A condition that no part holds keeps the reference -1.
    """
    nodes = no_nodes(leaves)
    root = np.full(conditions, -1, np.int32)
    for part in parts:
        found = np.empty(len(part.number), np.int32)
        nodes = share_conditions(nodes, part.start, part.step, part.ref, found)
        root[part.number] = found
    return nodes, root


def lay_out(nodes: SharedNodes, leaves: int, root: NDArray[np.int32]) -> PlaneGraph:
    """The planes that the roots need: leaves, then inner ones by level and first child.

    Neighbours in that order share children, so a pass over them finds these in the cache.
    """
    leaf_of = np.full(int(nodes.size[NODES]), -1, np.int32)
    leaf_of[1 : leaves + 1] = np.arange(leaves, dtype=np.int32)
    plane, false_leaf, level_start, by_level = number_leaves(nodes, leaf_of, leaves, root)
    first_inner = leaves + len(false_leaf)
    child_start = np.zeros(len(by_level) + 1, np.int32)
    child = np.empty(children_of(nodes, by_level), np.int32)
    for begin, end in pairwise(level_start.tolist()):
        first = first_children(nodes, plane, by_level[begin:end])
        refs = by_level[begin:end][np.argsort(first, kind="stable")]
        by_level[begin:end] = refs
        place_inner(nodes, plane, refs, first_inner + begin, child_start, child, begin)
    return PlaneGraph(
        false_leaf,
        level_start,
        by_level & 1 == 0,
        child_start,
        child,
        root_planes(nodes, plane, root, first_inner + len(by_level)),
    )


def negated_leaves(
    graph: PlaneGraph, group_of: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """negated_start, negated_leaf and negated_plane of kernels.leaves.Leaves."""
    group = group_of[graph.false_leaf]
    order = np.argsort(group, kind="stable")
    plane = (len(group_of) + order).astype(np.int32)
    return starts(np.bincount(group, minlength=groups), np.int32), graph.false_leaf[order], plane


def wakes_of(
    graph: PlaneGraph, group_of: NDArray[np.int32], groups: int, likelihood: NDArray[np.float64]
) -> Wakes:
    """Who wakes whom when one event is matched alone."""
    leaves = len(group_of)
    wake_start, wake = lay_out_wakes(graph, estimate_planes(likelihood, graph))
    planes = leaves + len(graph.false_leaf) + len(graph.is_and)
    rule_start = starts(np.bincount(graph.root, minlength=planes + 2), np.int64)
    rule = np.argsort(graph.root, kind="stable").astype(np.int32)
    false_planes = np.arange(leaves, leaves + len(graph.false_leaf))
    pushes = (np.diff(wake_start)[false_planes] > 0) | (np.diff(rule_start)[false_planes] > 0)
    leaf = graph.false_leaf[pushes]
    order = np.argsort(group_of[leaf], kind="stable")
    return Wakes(
        wake_start,
        wake,
        rule_start,
        rule,
        group_of,
        starts(np.bincount(group_of[leaf], minlength=groups), np.int32),
        leaf[order],
        false_planes[pushes][order].astype(np.int32),
    )
