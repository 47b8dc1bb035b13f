"""The shared graph of one block's rules, and what its nodes are called among all blocks.

    predicates  ── put in the order of their first places ── conditions shared ── nodes by level
                                                                                    │
    level 0, 1, 2 ...   keys (what a node is) ── grouped over all blocks ── first places

The leaves are numbered in the order that they have in the whole index, so that a xor, which is written out
in the order of its operands, is the same nodes in every block. Only where a xor of three or more has two
operands that are groups may blocks differ, and then some parts are stored twice.

Rules with free text are left out here: what of them goes into the graph depends on all rules.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.array_file import open_arrays, save_arrays
from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.packed import some_spans, text_arrays
from tocsin.conditions.blocks.rule_block import Block
from tocsin.conditions.kernels.block_graphs import keys_of_level, levels_of_nodes
from tocsin.conditions.kernels.shared_graph import share_conditions
from tocsin.conditions.kernels.shared_nodes import CHILDREN, NODES, no_nodes

_KIND = "nodes of a block"

BITS = 32
"""A place is block * 2^32 + number within the block: of a leaf as the block's table has it, of a node as
its graph has it."""


class BlockNodes(NamedTuple):
    """The graph of a block; node 0 is the constant, nodes 1 .. L the leaves.

    leaf          int32[L]     the predicate of leaf node l + 1, by its number in the block
    child_start   int64[N+1]   children of node i: child[child_start[i] : child_start[i+1]]
    child         int32[C]     references: 2 * node + sign
    mate          int32[N]     see kernels.shared_nodes
    level         int32[N]
    root          int32[n]     the reference of each rule; -1 when it holds free text
    """

    leaf: Ints
    child_start: Longs
    child: Ints
    mate: Ints
    level: Ints
    root: Ints

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.leaf)

    def on_level(self, level: int) -> Ints:
        """The nodes of a level above the leaves."""
        return np.flatnonzero(self.level == level).astype(np.int32)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        save_arrays(path, {"kind": _KIND}, list(self._asdict().items()))

    @staticmethod
    def open(path: str | os.PathLike[str]) -> BlockNodes:
        """Map what was saved, without reading it through."""
        _, arrays = open_arrays(path, verify=False)
        return BlockNodes(**arrays)


def places(block: int, numbers: NDArray[np.integer]) -> Longs:
    """The places of things of a block."""
    return (np.int64(block) << BITS) | numbers.astype(np.int64)


def share_block(block: Block, first_leaf: Longs) -> BlockNodes:
    """Share the conditions of a block that hold no free text; first_leaf[l] is the first place of leaf l."""
    leaves = len(first_leaf)
    order = np.argsort(first_leaf).astype(np.int32)
    rank = np.empty(leaves, np.int32)
    rank[order] = np.arange(leaves, dtype=np.int32)
    leaf_ref = np.repeat(2 * rank + 2, 2)
    leaf_ref[1::2] += 1
    root = np.full(block.rules, -1, np.int32)
    plain = np.flatnonzero(~block.with_text())
    step_start, which = some_spans(block.step_start, plain)
    found = np.empty(len(plain), np.int32)
    nodes = share_conditions(no_nodes(leaves), step_start, block.step[which], leaf_ref, found)
    root[plain] = found
    count = int(nodes.size[NODES])
    child_start, child = nodes.child_start[: count + 1], nodes.child[: nodes.size[CHILDREN]]
    level = levels_of_nodes(child_start, child, leaves)
    return BlockNodes(order, child_start, child, nodes.mate[:count], level, root)


def first_places(
    nodes: BlockNodes, block: int, first_leaf: Longs, found: Sequence[tuple[Ints, Longs]]
) -> Longs:
    """The first place of every node, given those of the leaves and what was found of some others."""
    first = places(block, np.arange(len(nodes.level)))
    first[1 : nodes.leaves + 1] = first_leaf[nodes.leaf]
    for numbers, firsts in found:
        first[numbers] = firsts
    return first


def level_keys(nodes: BlockNodes, level: int, first: Longs) -> tuple[Ints, Longs, Bytes]:
    """The nodes of a level, and starts and bytes of what each is: equal bytes, equal nodes, in any blocks.

    The first places of all nodes below the level have to be known.
    """
    wanted = nodes.on_level(level)
    start, key = keys_of_level(nodes.child_start, nodes.child, wanted, first)
    return wanted, 8 * start, key.view(np.uint8)


def find_firsts(keys: pa.LargeBinaryArray, place: Longs) -> tuple[Longs, Longs]:
    """Of things with keys: the places of those that are not the first of their key, and that first place.

    Equal keys are found by hash and confirmed by comparison.
    """
    start, data = text_arrays(keys)
    number, _, _ = number_pieces(data, start)
    first = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, number, place)
    others = first[number] != place
    return place[others], first[number[others]]
