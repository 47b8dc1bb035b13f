"""Shared expressions written out as one tree for each rule, for engines that share nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.engines.kernels.expressions import Expressions

_VERY_MANY = np.int64(1) << np.int64(40)
"""Sizes are exact up to here. Nested xors double what is below them, so there is no largest size."""


class Trees(NamedTuple):
    """The tree of every rule, in preorder. R rules.

    start   int64[R+1]   rule r: code[start[r] : start[r+1]], empty when it always or never holds
    code    int32[...]   leaf n: n;  an AND of k subtrees, which follow: -2k;  an OR of k: -2k - 1

        (1 or 2 or 3) and 4 and (5 or 6)    -6  -7 1 2 3  4  -5 5 6
    """

    start: Longs
    code: Ints


@kernel
def is_and_code(code: int) -> bool:
    """Whether the code of an inner node is an AND's."""
    return code & 1 == 0


@kernel
def children_of_code(code: int) -> int:
    """How many subtrees follow the code of an inner node."""
    return -code >> 1


@bare_kernel
def count_leaves(code: Ints, leaves: Ints, waiting: Ints) -> None:
    """How many leaves the subtree at each place of one tree has; `waiting` is room for as many."""
    height = 0
    for i in range(code.size - 1, -1, -1):
        count = np.int32(1)
        if code[i] < 0:
            count = np.int32(0)
            for _ in range(children_of_code(code[i])):
                height -= 1
                count += waiting[height]
        leaves[i] = count
        waiting[height] = count
        height += 1


@kernel
def tree_sizes(expressions: Expressions) -> tuple[Longs, Longs]:
    """Of every node, and of the two constants, the leaves and the nodes of its tree; _VERY_MANY for more."""
    literals, _, child_start, child, _ = expressions
    inner = child_start.size - 1
    leaves = np.ones(literals + inner + 2, np.int64)
    nodes = np.ones(literals + inner + 2, np.int64)
    for i in range(inner):
        leaf_count = np.int64(0)
        node_count = np.int64(1)
        for j in range(child_start[i], child_start[i + 1]):
            leaf_count += leaves[child[j]]
            node_count += nodes[child[j]]
        leaves[literals + i] = min(leaf_count, _VERY_MANY)
        nodes[literals + i] = min(node_count, _VERY_MANY)
    leaves[-2:] = 0
    nodes[-2:] = 0
    return leaves, nodes


@kernel
def unfold(expressions: Expressions, nodes: Longs) -> Trees:
    """The trees of all rules; `nodes` is what tree_sizes gave."""
    literals, is_and, child_start, child, root = expressions
    start = np.zeros(root.size + 1, np.int64)
    largest = np.int64(1)
    for rule in range(root.size):
        size = nodes[root[rule]]
        largest = max(largest, size)
        start[rule + 1] = start[rule] + size
    code = np.empty(start[-1], np.int32)
    waiting = np.empty(largest, np.int32)
    at = np.int64(0)
    for rule in range(root.size):
        if start[rule] == start[rule + 1]:
            continue
        waiting[0] = root[rule]
        height = 1
        while height > 0:
            height -= 1
            node = np.int64(waiting[height])
            if node < literals:
                code[at] = node
                at += 1
                continue
            begin = child_start[node - literals]
            end = child_start[node - literals + 1]
            code[at] = -2 * (end - begin) - (0 if is_and[node - literals] else 1)
            at += 1
            for j in range(end - 1, begin - 1, -1):
                waiting[height] = child[j]
                height += 1
    return Trees(start, code)
