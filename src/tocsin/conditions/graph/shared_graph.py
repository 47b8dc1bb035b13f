"""The shared graph: conditions in, planes and links out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.packed import starts
from tocsin.conditions.graph.condition_reader import Steps
from tocsin.conditions.graph.likelihood import Likelihood
from tocsin.conditions.kernels.plane_links import Links, lay_out_links
from tocsin.conditions.kernels.planes import (
    PlaneGraph,
    children_of,
    gather_level,
    number_leaves,
    place_level,
    root_planes,
)
from tocsin.conditions.kernels.shared_graph import share_conditions
from tocsin.conditions.kernels.shared_nodes import SharedNodes
from tocsin.errors import UnsupportedError

_MOST = 2**31 - 1
"""Edges and rules that 32 bits can number."""


def share_beside(nodes: SharedNodes, root: Ints, parts: Sequence[Steps]) -> SharedNodes:
    """Add conditions to a graph, and their references to `root`; the graph given is not to be used again.

    Leaf l is node l + 1. A condition that no part holds keeps its reference.
    """
    for part in parts:
        found = np.empty(len(part.number), np.int32)
        nodes = share_conditions(nodes, part.start, part.step, part.ref, found)
        root[part.number] = found
    return nodes


def lay_out(nodes: SharedNodes, leaf_number: Ints, root: Ints, leaf_likelihood: Likelihood) -> PlaneGraph:
    """The planes that the roots need: leaves, then inner ones by level, kind, width and first child.

    A pass over neighbours of one kind and width goes the same way each time, which the processor
    learns; and those with the same first child find it in the cache. Node l + 1
    is leaf leaf_number[l]; leaf_likelihood is by that number.
    """
    known, false_leaf, level_start, by_level = number_leaves(
        nodes,
        leaf_number,
        root,
        leaf_likelihood.true.astype(np.float32).view(np.uint32),
        leaf_likelihood.false.astype(np.float32).view(np.uint32),
    )
    first_inner = len(leaf_number) + len(false_leaf)
    edges = children_of(nodes, by_level)
    if edges + len(root) > _MOST:
        raise UnsupportedError(f"{edges:,} edges are too many for one index: cut the rules in two")
    is_and = np.empty(len(by_level), np.bool_)
    child_start = np.zeros(len(by_level) + 1, np.int32)
    child = np.empty(edges, np.int32)
    for begin, end in pairwise(level_start.tolist()):
        refs = by_level[begin:end]
        level = gather_level(nodes, known, refs)
        place_level(level, refs, known, first_inner + begin, is_and, child_start, child, begin)
    return PlaneGraph(
        false_leaf,
        level_start,
        is_and,
        child_start,
        child,
        root_planes(nodes, known, root, first_inner + len(by_level)),
    )


def negated_leaves(graph: PlaneGraph, group_of: Ints, groups: int) -> tuple[Ints, Ints, Ints]:
    """negated_start, negated_leaf and negated_plane of kernels.leaves.Leaves."""
    group = group_of[graph.false_leaf]
    order = np.argsort(group, kind="stable")
    plane = (len(group_of) + order).astype(np.int32)
    return starts(np.bincount(group, minlength=groups), np.int32), graph.false_leaf[order], plane


def links_of(graph: PlaneGraph, group_of: Ints, groups: int) -> Links:
    """What follows from what when one event is matched alone."""
    leaves = len(group_of)
    planes = leaves + len(graph.false_leaf) + len(graph.is_and)
    link_start, link = lay_out_links(graph, planes)
    false_planes = np.arange(leaves, leaves + len(graph.false_leaf))
    pushes = np.diff(link_start)[false_planes] > 0
    leaf = graph.false_leaf[pushes]
    order = np.argsort(group_of[leaf], kind="stable")
    return Links(
        link_start,
        link,
        group_of,
        starts(np.bincount(group_of[leaf], minlength=groups), np.int32),
        leaf[order],
        false_planes[pushes][order].astype(np.int32),
    )
