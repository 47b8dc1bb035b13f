"""The shared graphs of several blocks of rules become one.

A node of one block is named all over by its *place*, block * 2^32 + its number in the block, and equal nodes
by the least of their places, the *first* one. Going up level by level, the firsts of a node's children
say what the node is.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.node_references import sort_refs
from tocsin.conditions.kernels.shared_nodes import SharedNodes, intern, with_room


@kernel
def levels_of_nodes(child_start: Longs, child: Ints, leaves: int) -> Ints:
    """The level of every node: 0 of the constant and the leaves, else one more than the highest child's."""
    level = np.zeros(child_start.size - 1, np.int32)
    for node in range(leaves + 1, level.size):
        highest = 0
        for i in range(child_start[node], child_start[node + 1]):
            highest = max(highest, level[child[i] >> 1])
        level[node] = highest + 1
    return level


@kernel
def keys_of_level(child_start: Longs, child: Ints, node: Ints, first: Longs) -> tuple[Longs, Longs]:
    """What the given nodes are, by the first places of their children: starts, and ascending references.

    first[n] is the first place of node n of this block. Equal references in both of two blocks mean equal
    nodes, and the other way round.
    """
    start = np.zeros(node.size + 1, np.int64)
    for i in range(node.size):
        start[i + 1] = start[i] + child_start[node[i] + 1] - child_start[node[i]]
    key = np.empty(start[node.size], np.int64)
    for i in range(node.size):
        begin = child_start[node[i]]
        for j in range(start[i + 1] - start[i]):
            ref = child[begin + j]
            key[start[i] + j] = 2 * first[ref >> 1] + (ref & 1)
        sort_refs(key, start[i], start[i + 1])
    return start, key


@kernel
def add_block(
    nodes: SharedNodes, child_start: Longs, child: Ints, leaves: int, first: Longs, number: Ints, begin: int
) -> SharedNodes:
    """Add the nodes of one block above its leaves; the graph that is given back has grown.

    number[begin + n] is where the node of the block goes, known for leaves, written for others; first[n]
    is the place in `number` of the first node that is equal to n: itself, or one that is known already.
    """
    count = child_start.size - 1
    nodes = with_room(nodes, count - leaves, child_start[count] - child_start[leaves + 1])
    widest = 0
    for node in range(leaves + 1, count):
        widest = max(widest, child_start[node + 1] - child_start[node])
    scratch = np.empty(widest, np.int32)
    for node in range(leaves + 1, count):
        if first[node] != begin + node:
            number[begin + node] = number[first[node]]
            continue
        width = child_start[node + 1] - child_start[node]
        for i in range(width):
            ref = child[child_start[node] + i]
            scratch[i] = 2 * number[begin + (ref >> 1)] + (ref & 1)
        sort_refs(scratch, 0, width)
        number[begin + node] = intern(nodes, scratch, 0, width)
    return nodes
