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

from tocsin.arrays.bits import HALF, prefetch
from tocsin.arrays.dtypes import Flags, Ints, Words
from tocsin.arrays.jit import kernel
from tocsin.arrays.radix_sort import order_by
from tocsin.conditions.kernels.node_references import FALSE_REF, TRUE_REF, sort_refs
from tocsin.conditions.kernels.shared_nodes import CHILDREN, NODES, SharedNodes

_EDGES_AHEAD = 32
"""How many edges ahead memory is asked for, where nodes are visited in their order ..."""

_NODES_AHEAD = 16
"""... and how many nodes, where they are not."""

_PLANE = np.uint64(0xFFFF_FFFF)


class PlaneGraph(NamedTuple):
    """The graph of planes, children before parents.

    false_leaf    int32[F]     the leaf whose falsehood plane L+i is
    level_start   int32[D+1]   inner planes of level d+1: L+F + level_start[d] ...; every child is lower
    is_and        bool[I]      inner plane L+F+i is an AND (all children) or an OR (any child)
    child_start   int32[I+1]   children of inner plane i: child[child_start[i] : child_start[i+1]]
    child         int32[...]   planes: of an AND the least likely first, of an OR ascending
    root          int32[R]     the plane of each rule
    """

    false_leaf: Ints
    level_start: Ints
    is_and: Flags
    child_start: Ints
    child: Ints
    root: Ints


@kernel
def _cheaper(mate: Ints, ref: int, parent: int) -> int:
    """The form of a reference to evaluate: a xnor for a negated xor, when it was there in time."""
    if ref & 1 == 0:
        other = np.int64(mate[ref >> 1])
        if other >= 0 and other >> 1 < parent:
            return other
    return np.int64(ref)


@kernel
def mark_needed(nodes: SharedNodes, leaves: int, root_ref: Ints) -> Flags:
    """For each reference whether some root needs it."""
    _size, child_start, child, mate, _slot = nodes
    count = nodes.size[NODES]
    needed = np.zeros(2 * count, np.bool_)
    for i in range(root_ref.size):
        needed[_cheaper(mate, root_ref[i], count)] = True
    for node in range(count - 1, leaves, -1):
        begin = child_start[node]
        end = child_start[node + 1]
        for i in range(max(begin, _EDGES_AHEAD), end):
            prefetch(needed, child[i - _EDGES_AHEAD])
        for sign in range(2):
            if needed[2 * node + sign]:
                for i in range(begin, end):
                    ref = np.int64(child[i] ^ sign)
                    if ref >> 1 > leaves:
                        ref = _cheaper(mate, ref, node)
                    needed[ref] = True
    return needed


@kernel
def _levels(nodes: SharedNodes, leaves: int, needed: Flags) -> Ints:
    """For each reference to an inner node its level if it is needed, else 0. Leaves are level 0."""
    _size, child_start, child, mate, _slot = nodes
    count = nodes.size[NODES]
    level = np.zeros(2 * count, np.int32)
    for node in range(leaves + 1, count):
        begin = child_start[node]
        end = child_start[node + 1]
        for sign in range(2):
            if needed[2 * node + sign]:
                deepest = 0
                i = end - 1
                while i >= begin and child[i] >> 1 > leaves:
                    deepest = max(deepest, level[_cheaper(mate, child[i] ^ sign, node)])
                    i -= 1
                level[2 * node + sign] = deepest + 1
    return level


class Numbering(NamedTuple):
    """What is known of each reference, the planes of the leaves, and the references of inner planes.

    known         uint64[2N]   the plane of a reference (lower half) and, as the bits of a float32, how
                               likely it is to hold: so that these numbers compare as likelihoods do.
                               Of leaves at first; of others when they are placed
    false_leaf    int32[F]
    level_start   int32[D+1]   inner references of level d+1: by_level[level_start[d] : level_start[d+1]]
    by_level      int32[I]
    """

    known: Words
    false_leaf: Ints
    level_start: Ints
    by_level: Ints


@kernel
def number_leaves(
    nodes: SharedNodes,
    leaf_number: Ints,
    root_ref: Ints,
    true_bits: NDArray[np.uint32],
    false_bits: NDArray[np.uint32],
) -> Numbering:
    """Find what the roots need. Node l + 1 is leaf leaf_number[l].

    true_bits and false_bits are by that number: the likelihoods of the leaf as bits of float32.
    """
    count = nodes.size[NODES]
    leaves = leaf_number.size
    needed = mark_needed(nodes, leaves, root_ref)
    level = _levels(nodes, leaves, needed)
    known = np.empty(2 * count, np.uint64)
    node_of = np.full(leaves, -1, np.int32)
    for node in range(1, leaves + 1):
        leaf = leaf_number[node - 1]
        known[2 * node] = np.uint64(true_bits[leaf]) << HALF | np.uint64(leaf)
        if needed[2 * node + 1]:
            node_of[leaf] = node
    false_leaf = np.empty(leaves, np.int32)
    false_count = 0
    for leaf in range(leaves):
        if node_of[leaf] >= 0:
            plane = np.uint64(leaves + false_count)
            known[2 * node_of[leaf] + 1] = np.uint64(false_bits[leaf]) << HALF | plane
            false_leaf[false_count] = leaf
            false_count += 1
    deepest = 0
    for ref in range(2 * leaves + 2, 2 * count):
        deepest = max(deepest, level[ref])
    level_start = np.zeros(deepest + 1, np.int32)
    for ref in range(2 * leaves + 2, 2 * count):
        if level[ref] > 0:
            level_start[level[ref]] += 1
    for i in range(deepest):
        level_start[i + 1] += level_start[i]
    by_level = np.empty(level_start[deepest], np.int32)
    cursor = level_start.copy()
    for ref in range(2 * leaves + 2, 2 * count):
        if level[ref] > 0:
            by_level[cursor[level[ref] - 1]] = ref
            cursor[level[ref] - 1] += 1
    return Numbering(known, false_leaf[:false_count].copy(), level_start, by_level)


@kernel
def children_of(nodes: SharedNodes, refs: Ints) -> int:
    """How many children the references have together."""
    count = 0
    for i in range(refs.size):
        node = refs[i] >> 1
        count += nodes.child_start[node + 1] - nodes.child_start[node]
    return count


@kernel
def sort_by_likelihood(child: Ints, start: int, end: int, likelihood: NDArray[np.float32]) -> None:
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


class Level(NamedTuple):
    """The inner references of one level, in their own order, with their children in the children's.

    start     int32[n+1]   children of reference i: child[start[i] : start[i+1]]
    child     int32[...]   planes: of an AND the least likely first, of an OR ascending
    holds     float32[n]   how likely it is to hold, when planes are taken as independent
    order     int32[n]     the references by kind, width and first child
    """

    start: Ints
    child: Ints
    holds: NDArray[np.float32]
    order: Ints


@kernel
def gather_level(nodes: SharedNodes, known: Words, refs: Ints) -> Level:
    """Find the children of ascending references, whose children are all known."""
    _size, child_start, child, mate, _slot = nodes
    edges = 0
    widest = 0
    for i in range(refs.size):
        width = child_start[(refs[i] >> 1) + 1] - child_start[refs[i] >> 1]
        edges += width
        widest = max(widest, width)
    last = nodes.size[CHILDREN] - 1
    start = np.zeros(refs.size + 1, np.int32)
    plane = np.empty(edges, np.int32)
    holds = np.empty(refs.size, np.float32)
    key = np.empty(refs.size, np.uint64)
    found = np.empty(widest, np.uint64)
    likelihood = found.view(np.float32)
    of_width = known.size
    of_kind = (widest + 1) * of_width
    filled = 0
    for i in range(refs.size):
        node = refs[i] >> 1
        sign = refs[i] & 1
        begin = child_start[node]
        width = child_start[node + 1] - begin
        least = _PLANE
        all_hold = 1.0
        all_fail = 1.0
        for j in range(width):
            prefetch(known, child[min(last, begin + j + _EDGES_AHEAD)])
            found[j] = known[_cheaper(mate, child[begin + j] ^ sign, node)]
            least = min(least, found[j] & _PLANE)
            all_hold *= likelihood[2 * j + 1]
            all_fail *= 1.0 - likelihood[2 * j + 1]
            if sign == 1:
                found[j] &= _PLANE
        sort_refs(found, 0, width)
        for j in range(width):
            plane[filled + j] = np.int32(found[j] & _PLANE)
        filled += width
        start[i + 1] = filled
        holds[i] = all_hold if sign == 0 else 1.0 - all_fail
        key[i] = np.uint64(sign * of_kind + width * of_width) + least
    return Level(start, plane, holds, order_by(key))


@kernel
def place_level(
    level: Level,
    refs: Ints,
    known: Words,
    next_plane: int,
    is_and: Flags,
    child_start: Ints,
    child: Ints,
    placed: int,
) -> None:
    """Number the references of a level in its order, and write their kinds and children.

    is_and[placed] and child_start[placed] are for the first one; what is known of them is set.
    """
    start, unordered, holds, order = level
    bits = holds.view(np.uint32)
    last = order.size - 1
    filled = child_start[placed]
    for i in range(order.size):
        soon = order[min(last, i + 2 * _NODES_AHEAD)]
        prefetch(start, soon)
        prefetch(refs, soon)
        prefetch(bits, soon)
        soon = order[min(last, i + _NODES_AHEAD)]
        prefetch(unordered, start[soon])
        prefetch(known, refs[soon])
        at = order[i]
        for j in range(start[at], start[at + 1]):
            child[filled] = unordered[j]
            filled += 1
        known[refs[at]] = np.uint64(bits[at]) << HALF | np.uint64(next_plane + i)
        is_and[placed + i] = refs[at] & 1 == 0
        child_start[placed + i + 1] = filled


@kernel
def root_planes(nodes: SharedNodes, known: Words, root_ref: Ints, always: int) -> Ints:
    """The plane of each root; `always` and the one behind it for the constants."""
    root = np.empty(root_ref.size, np.int32)
    for i in range(root_ref.size):
        ref = root_ref[i]
        if ref == TRUE_REF:
            root[i] = always
        elif ref == FALSE_REF:
            root[i] = always + 1
        else:
            root[i] = np.int32(known[_cheaper(nodes.mate, ref, nodes.size[NODES])] & _PLANE)
    return root
