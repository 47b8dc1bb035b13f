"""From the shared graph to planes: what has to be computed, and in which order.

A reference +n asks where node n is true, -n where it is false. Each reference that some rule needs
is a *plane*, and no plane is ever a complement: where an AND is true all children are true, where it
is false some child is false. So negation ends at the leaves, and nothing false is ever propagated.

    plane numbers    0 .. L-1              leaf l is true
                     L .. L+F-1            a leaf is false (only those that are asked for)
                     L+F .. P-1            inner planes by level, kind, width and first child
                     P, P+1                always, never
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import prefetch
from tocsin.kernels.jit import kernel
from tocsin.kernels.sharing import CHILDREN, FALSE_REF, TRUE_REF, SharedNodes, sort_refs

AHEAD = 32
"""How many edges ahead memory is asked for, where nodes are visited in their order ..."""

_SOON = 6
"""... and how many nodes, step by step, where they are not."""


class PlaneGraph(NamedTuple):
    """The graph of planes, children before parents.

    false_leaf    int32[F]     the leaf whose falsehood plane L+i is
    level_start   int32[D+1]   inner planes of level d+1: L+F + level_start[d] ...; every child is lower
    is_and        bool[I]      inner plane L+F+i is an AND (all children) or an OR (any child)
    child_start   int32[I+1]   children of inner plane i: child[child_start[i] : child_start[i+1]]
    child         int32[...]   planes: of an AND the least likely first, of an OR ascending
    root          int32[R]     the plane of each rule
    """

    false_leaf: NDArray[np.int32]
    level_start: NDArray[np.int32]
    is_and: NDArray[np.bool_]
    child_start: NDArray[np.int32]
    child: NDArray[np.int32]
    root: NDArray[np.int32]


@kernel
def _cheaper(nodes: SharedNodes, ref: int, parent: int) -> int:
    """The form of a reference to evaluate: a xnor for a negated xor, when it was there in time."""
    if ref & 1 == 0:
        mate = np.int64(nodes.mate[ref >> 1])
        if mate >= 0 and mate >> 1 < parent:
            return mate
    return np.int64(ref)


@kernel
def _mark_levels(
    nodes: SharedNodes, count: int, leaf_of: NDArray[np.int32], root_ref: NDArray[np.int32]
) -> NDArray[np.int32]:
    """For each reference its level if some root needs it, else -1. Leaves are level 0."""
    level = np.full(2 * count, -1, np.int32)
    last = nodes.size[CHILDREN] - 1
    for i in range(root_ref.size):
        level[_cheaper(nodes, root_ref[i], count)] = 0
    for node in range(count - 1, 0, -1):
        for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
            ahead = nodes.child[max(0, i - AHEAD)] >> 1
            prefetch(nodes.mate, ahead)
            prefetch(level, 2 * ahead)
        for sign in range(2):
            if level[2 * node + sign] >= 0 and leaf_of[node] < 0:
                for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
                    level[_cheaper(nodes, nodes.child[i] ^ sign, node)] = 0
    for node in range(1, count):
        for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
            ahead = nodes.child[min(last, i + AHEAD)] >> 1
            prefetch(nodes.mate, ahead)
            prefetch(level, 2 * ahead)
        for sign in range(2):
            if level[2 * node + sign] >= 0 and leaf_of[node] < 0:
                deepest = 0
                for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
                    deepest = max(deepest, level[_cheaper(nodes, nodes.child[i] ^ sign, node)])
                level[2 * node + sign] = deepest + 1
    return level


class Numbering(NamedTuple):
    """The planes of the leaves, and the references that will be inner planes.

    plane         int32[2N]    the plane of each reference, -1 until it has one
    false_leaf    int32[F]
    level_start   int32[D+1]   inner references of level d+1: by_level[level_start[d] : level_start[d+1]]
    by_level      int32[I]
    """

    plane: NDArray[np.int32]
    false_leaf: NDArray[np.int32]
    level_start: NDArray[np.int32]
    by_level: NDArray[np.int32]


@kernel
def number_leaves(
    nodes: SharedNodes, leaf_of: NDArray[np.int32], leaves: int, root_ref: NDArray[np.int32]
) -> Numbering:
    """Find what the roots need. leaf_of[node] is the node's leaf, or -1."""
    count = nodes.size[0]
    level = _mark_levels(nodes, count, leaf_of, root_ref)
    plane = np.full(2 * count, -1, np.int32)
    deepest = 0
    inner = 0
    negated = np.full(leaves, -1, np.int32)
    for node in range(1, count):
        if leaf_of[node] >= 0:
            plane[2 * node] = leaf_of[node]
            if level[2 * node + 1] >= 0:
                negated[leaf_of[node]] = node
        else:
            for sign in range(2):
                if level[2 * node + sign] >= 0:
                    deepest = max(deepest, level[2 * node + sign])
                    inner += 1
    false_leaf = np.empty(leaves, np.int32)
    false_count = 0
    for leaf in range(leaves):
        if negated[leaf] >= 0:
            plane[2 * negated[leaf] + 1] = leaves + false_count
            false_leaf[false_count] = leaf
            false_count += 1
    level_start = np.zeros(deepest + 1, np.int32)
    for ref in range(2, 2 * count):
        if level[ref] > 0:
            level_start[level[ref]] += 1
    for i in range(deepest):
        level_start[i + 1] += level_start[i]
    by_level = np.empty(inner, np.int32)
    cursor = level_start.copy()
    for ref in range(2, 2 * count):
        if level[ref] > 0:
            by_level[cursor[level[ref] - 1]] = ref
            cursor[level[ref] - 1] += 1
    return Numbering(plane, false_leaf[:false_count].copy(), level_start, by_level)


@kernel
def children_of(nodes: SharedNodes, refs: NDArray[np.int32]) -> int:
    """How many children the references have together."""
    count = 0
    for i in range(refs.size):
        node = refs[i] >> 1
        count += nodes.child_start[node + 1] - nodes.child_start[node]
    return count


@kernel
def _prefetch_children(nodes: SharedNodes, plane: NDArray[np.int32], refs: NDArray[np.int32], i: int) -> None:
    """Ask for what will be needed of references that come soon: node, then children, then their planes."""
    last = refs.size - 1
    prefetch(nodes.child_start, refs[min(last, i + 3 * _SOON)] >> 1)
    prefetch(nodes.child, nodes.child_start[refs[min(last, i + 2 * _SOON)] >> 1])
    node = refs[min(last, i + _SOON)] >> 1
    for j in range(nodes.child_start[node], nodes.child_start[node + 1]):
        prefetch(nodes.mate, nodes.child[j] >> 1)
        prefetch(plane, nodes.child[j])


@kernel
def first_children(
    nodes: SharedNodes, plane: NDArray[np.int32], refs: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The lowest plane among each reference's children."""
    first = np.empty(refs.size, np.int32)
    for i in range(refs.size):
        node = refs[i] >> 1
        _prefetch_children(nodes, plane, refs, i)
        least = np.int32(2147483647)
        for j in range(nodes.child_start[node], nodes.child_start[node + 1]):
            least = min(least, plane[_cheaper(nodes, nodes.child[j] ^ (refs[i] & 1), node)])
        first[i] = least
    return first


@kernel
def sort_by_likelihood(
    child: NDArray[np.int32], start: int, end: int, likelihood: NDArray[np.float32]
) -> None:
    """Least likely first, by Shell's method; equally likely ones ascending."""
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            moved = child[i]
            mine = likelihood[moved]
            j = i
            while j >= start + gap:
                before = child[j - gap]
                if likelihood[before] < mine or (likelihood[before] == mine and before < moved):
                    break
                child[j] = before
                j -= gap
            child[j] = moved
        gap //= 3


@kernel
def place_inner(
    nodes: SharedNodes,
    plane: NDArray[np.int32],
    refs: NDArray[np.int32],
    next_plane: int,
    child_start: NDArray[np.int32],
    child: NDArray[np.int32],
    placed: int,
    likelihood: NDArray[np.float32],
) -> None:
    """Number the references of one level in the order given, and write their children.

    child_start[placed] is where the children of the first one begin. likelihood[p] says how likely
    plane p is to hold, taking planes as independent; it is known for lower levels, and set for this.
    """
    for i in range(refs.size):
        node = refs[i] >> 1
        sign = refs[i] & 1
        _prefetch_children(nodes, plane, refs, i)
        begin = child_start[placed + i]
        filled = begin
        holds = 1.0
        fails = 1.0
        for j in range(nodes.child_start[node], nodes.child_start[node + 1]):
            child[filled] = plane[_cheaper(nodes, nodes.child[j] ^ sign, node)]
            holds *= likelihood[child[filled]]
            fails *= 1.0 - likelihood[child[filled]]
            filled += 1
        if sign == 0:
            sort_by_likelihood(child, begin, filled, likelihood)
        else:
            sort_refs(child, begin, filled)
        plane[refs[i]] = next_plane + i
        likelihood[next_plane + i] = holds if sign == 0 else 1.0 - fails
        child_start[placed + i + 1] = filled


@kernel
def root_planes(
    nodes: SharedNodes, plane: NDArray[np.int32], root_ref: NDArray[np.int32], always: int
) -> NDArray[np.int32]:
    """The plane of each root; `always` and the one behind it for the constants."""
    root = np.empty(root_ref.size, np.int32)
    for i in range(root_ref.size):
        ref = root_ref[i]
        if ref == TRUE_REF:
            root[i] = always
        elif ref == FALSE_REF:
            root[i] = always + 1
        else:
            root[i] = plane[_cheaper(nodes, ref, nodes.size[0])]
    return root
