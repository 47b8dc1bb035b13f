"""The nodes of the shared graph: each set of children once, found by hash and confirmed by comparison.

Most conditions are made of nodes that are there already, all over the memory, so the time goes where
memory is waited for: a slot says by half a hash whether a node is worth a look, and what a look will
need can be asked for beforehand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import HALF, LOWER_HALF, UPPER_HALF, prefetch
from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.lists import enlarged

NODES = 0
CHILDREN = 1


@inner_kernel
def _first_slot(value: np.uint64, slots: int) -> int:
    """Where the search for a hash begins, by its upper half alone: in the order of hashes."""
    return np.int64((value >> HALF) * np.uint64(slots) >> HALF)


class SharedNodes(NamedTuple):
    """The graph while it grows. Arrays have room to spare; `size` says how much is in use.

    size          int64[2]      nodes and children in use
    child_start   int64[N+1]    children of node i: child[child_start[i] : child_start[i+1]], ascending
    child         int32[C]      references
    mate          int32[N]      for the AND inside a xor or xnor: the reference that is true when that
                                AND is, in the form that is cheaper to evaluate; else -1
    slot          uint64[2^k]   open addressing, at most half full: 0, or the upper half of the hash of
                                a node's children and the node
    """

    size: Longs
    child_start: Longs
    child: Ints
    mate: Ints
    slot: Words


@kernel
def no_nodes(leaves: int) -> SharedNodes:
    """The constant and the leaves, and nothing above them."""
    nodes = _room(1 + leaves, 0)
    nodes.size[NODES] = 1 + leaves
    return nodes


@kernel
def _room(nodes: int, children: int) -> SharedNodes:
    """No nodes, with room for so many and their children."""
    slots = 2
    while slots < 2 * nodes:
        slots *= 2
    return SharedNodes(
        np.zeros(2, np.int64),
        np.zeros(nodes + 1, np.int64),
        np.empty(children, np.int32),
        np.full(nodes, -1, np.int32),
        np.zeros(slots, np.uint64),
    )


@kernel
def with_room(nodes: SharedNodes, more_nodes: int, more_children: int) -> SharedNodes:
    """The same graph, where so many nodes and children more fit."""
    count = nodes.size[NODES]
    children = nodes.size[CHILDREN]
    if children + more_children > nodes.child.size:
        child = np.empty(enlarged(nodes.child.size, children + more_children), np.int32)
        child[:children] = nodes.child[:children]
        nodes = SharedNodes(nodes.size, nodes.child_start, child, nodes.mate, nodes.slot)
    if count + more_nodes <= nodes.mate.size:
        return nodes
    larger = _room(enlarged(nodes.mate.size, count + more_nodes), 0)
    larger.child_start[: count + 1] = nodes.child_start[: count + 1]
    larger.mate[:count] = nodes.mate[:count]
    mask = larger.slot.size - 1
    for i in range(nodes.slot.size):
        if nodes.slot[i] != 0:
            at = _first_slot(nodes.slot[i], larger.slot.size)
            while larger.slot[at] != 0:
                at = (at + 1) & mask
            larger.slot[at] = nodes.slot[i]
    return SharedNodes(nodes.size, larger.child_start, nodes.child, larger.mate, larger.slot)


@inner_kernel
def hash_children(child: Ints, start: int, end: int, flip: int) -> np.uint64:
    """A hash of the references child[start:end], all negated when flip is 1; its upper bits are good."""
    value = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(start, end):
        value ^= value >> HALF
        value = (value ^ np.uint64(child[i] ^ flip)) * np.uint64(0xFF51AFD7ED558CCD)
    return value


@inner_kernel
def ask_for_slots(nodes: SharedNodes, value: Words, count: int) -> None:
    """Ask for the memory that it takes to find nodes by the first hashes."""
    slot, child_start, child = nodes.slot, nodes.child_start, nodes.child
    for i in range(count):
        prefetch(slot, _first_slot(value[i], slot.size))
    for i in range(count):
        prefetch(child_start, slot[_first_slot(value[i], slot.size)] & LOWER_HALF)
    for i in range(count):
        prefetch(child, child_start[slot[_first_slot(value[i], slot.size)] & LOWER_HALF])


@inner_kernel
def intern(nodes: SharedNodes, scratch: Ints, start: int, end: int) -> int:
    """The node whose children are scratch[start:end] (ascending, distinct, at least two)."""
    size, child_start, child, _mate, slot = nodes
    value = hash_children(scratch, start, end, 0)
    mask = slot.size - 1
    at = _first_slot(value, slot.size)
    width = end - start
    while slot[at] != 0:
        if (slot[at] ^ value) & UPPER_HALF == 0:
            known = np.int64(slot[at] & LOWER_HALF)
            begin = child_start[known]
            if child_start[known + 1] - begin == width:
                same = True
                for i in range(width):
                    if child[begin + i] != scratch[start + i]:
                        same = False
                        break
                if same:
                    return known
        at = (at + 1) & mask
    node = size[NODES]
    begin = size[CHILDREN]
    for i in range(width):
        child[begin + i] = scratch[start + i]
    child_start[node] = begin
    child_start[node + 1] = begin + width
    slot[at] = value & UPPER_HALF | np.uint64(node)
    size[NODES] = node + 1
    size[CHILDREN] = begin + width
    return node
