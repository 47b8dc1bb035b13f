"""From the shared graph to planes: what has to be computed, and in which order.

A reference +n asks where node n is true, -n where it is false. Each reference that some rule needs
is a *plane*, and no plane is ever a complement: where an AND is true all children are true, where it
is false some child is false. So negation ends at the leaves, and nothing false is ever propagated.

    plane numbers    0 .. L-1              leaf l is true
                     L .. L+F-1            a leaf is false (only those that are asked for)
                     L+F .. P-1            inner planes by level, then by first child
                     P, P+1                always, never
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import inlined, kernel
from tocsin.kernels.sharing import FALSE_REF, TRUE_REF, SharedNodes


class PlaneGraph(NamedTuple):
    """The graph of planes, children before parents.

    false_leaf    int32[F]     the leaf whose falsehood plane L+i is
    level_start   int32[D+1]   inner planes of level d+1: L+F + level_start[d] ...; every child is lower
    is_and        bool[I]      inner plane L+F+i is an AND (all children) or an OR (any child)
    child_start   int32[I+1]   children of inner plane i: child[child_start[i] : child_start[i+1]]
    child         int32[...]   planes, ascending
    root          int32[R]     the plane of each rule
    """

    false_leaf: NDArray[np.int32]
    level_start: NDArray[np.int32]
    is_and: NDArray[np.bool_]
    child_start: NDArray[np.int32]
    child: NDArray[np.int32]
    root: NDArray[np.int32]


@inlined
def _cheaper(nodes: SharedNodes, ref: int, parent: int) -> int:
    """The form of a reference to evaluate: a xnor for a negated xor, when it was there in time."""
    if ref & 1 == 0:
        mate = nodes.mate[ref >> 1]
        if mate >= 0 and mate >> 1 < parent:
            return mate
    return ref


@kernel
def _mark_levels(
    nodes: SharedNodes, count: int, leaf_of: NDArray[np.int32], root_ref: NDArray[np.int32]
) -> NDArray[np.int32]:
    """For each reference its level if some root needs it, else -1. Leaves are level 0."""
    level = np.full(2 * count, -1, np.int32)
    for i in range(root_ref.size):
        level[_cheaper(nodes, root_ref[i], count)] = 0
    for node in range(count - 1, 0, -1):
        for sign in range(2):
            if level[2 * node + sign] >= 0 and leaf_of[node] < 0:
                for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
                    level[_cheaper(nodes, nodes.child[i] ^ sign, node)] = 0
    for node in range(1, count):
        for sign in range(2):
            if level[2 * node + sign] >= 0 and leaf_of[node] < 0:
                deepest = 0
                for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
                    deepest = max(deepest, level[_cheaper(nodes, nodes.child[i] ^ sign, node)])
                level[2 * node + sign] = deepest + 1
    return level


@kernel
def lay_out_planes(
    nodes: SharedNodes, leaf_of: NDArray[np.int32], leaves: int, root_ref: NDArray[np.int32]
) -> PlaneGraph:
    """Number the planes that the roots need. leaf_of[node] is the node's leaf, or -1."""
    count = nodes.size[0]
    level = _mark_levels(nodes, count, leaf_of, root_ref)
    plane = np.full(2 * count, -1, np.int32)
    false_leaf = np.empty(leaves, np.int32)
    false_count = 0
    deepest = 0
    inner = 0
    for node in range(1, count):
        if leaf_of[node] >= 0:
            plane[2 * node] = leaf_of[node]
            if level[2 * node + 1] >= 0:
                false_leaf[false_count] = leaf_of[node]
                plane[2 * node + 1] = leaves + false_count
                false_count += 1
        else:
            for sign in range(2):
                if level[2 * node + sign] >= 0:
                    deepest = max(deepest, level[2 * node + sign])
                    inner += 1
    level_start = np.zeros(deepest + 1, np.int32)
    for ref in range(2, 2 * count):
        if level[ref] > 0:
            level_start[level[ref]] += 1
    for i in range(deepest):
        level_start[i + 1] += level_start[i]
    by_level = np.empty(inner, np.int32)
    cursor = level_start.copy()
    edges = 0
    for ref in range(2, 2 * count):
        if level[ref] > 0:
            by_level[cursor[level[ref] - 1]] = ref
            cursor[level[ref] - 1] += 1
            edges += nodes.child_start[(ref >> 1) + 1] - nodes.child_start[ref >> 1]

    base = leaves + false_count
    is_and = np.empty(inner, np.bool_)
    child_start = np.zeros(inner + 1, np.int32)
    child = np.empty(edges, np.int32)
    placed = 0
    filled = 0
    for depth in range(deepest):
        members = by_level[level_start[depth] : level_start[depth + 1]]
        first = np.empty(members.size, np.int32)
        for i in range(members.size):
            node = members[i] >> 1
            least = np.int32(2147483647)
            for j in range(nodes.child_start[node], nodes.child_start[node + 1]):
                least = min(least, plane[_cheaper(nodes, nodes.child[j] ^ (members[i] & 1), node)])
            first[i] = least
        for i in np.argsort(first, kind="mergesort"):
            ref = members[i]
            node = ref >> 1
            sign = ref & 1
            begin = filled
            for j in range(nodes.child_start[node], nodes.child_start[node + 1]):
                child[filled] = plane[_cheaper(nodes, nodes.child[j] ^ sign, node)]
                filled += 1
            child[begin:filled].sort()
            plane[ref] = base + placed
            is_and[placed] = sign == 0
            child_start[placed + 1] = filled
            placed += 1

    root = np.empty(root_ref.size, np.int32)
    for i in range(root_ref.size):
        ref = root_ref[i]
        if ref == TRUE_REF:
            root[i] = base + inner
        elif ref == FALSE_REF:
            root[i] = base + inner + 1
        else:
            root[i] = plane[_cheaper(nodes, ref, count)]
    return PlaneGraph(
        false_leaf[:false_count].copy(), level_start, is_and, child_start, child[:filled].copy(), root
    )
