"""The folder in which a build keeps its blocks, from the first that is read until the index is written.

    block-3-ab12           rules of block 3, read (rule_block.py)
    nodes-3-cd34           their graph (block_nodes.py)
    level-0/block=3/...    Parquet: number, first: predicates of block 3 that another block has first
    level-2/block=3/...    the same of nodes of level 2

Whoever makes a block or its nodes may be stopped and started again, so file names end in something random,
and a file counts when it is named here. Small, and made to be pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.blocks.block_nodes import BlockNodes, first_places, level_keys, places
from tocsin.conditions.blocks.rule_block import Block
from tocsin.conditions.graph.predicate_table import keys_of_predicates


@dataclass(frozen=True, slots=True)
class Work:
    """What is there: `levels` says how many levels, of predicates first, have been put together."""

    folder: Path
    block_files: Sequence[str] = ()
    node_files: Sequence[str] = ()
    levels: int = 0

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.block_files)

    def block(self, number: int) -> Block:
        """A block of rules."""
        return Block.open(self.folder / self.block_files[number])

    def nodes(self, number: int) -> BlockNodes:
        """The graph of a block."""
        return BlockNodes.open(self.folder / self.node_files[number])

    def level_folder(self, level: int) -> Path:
        """Where the first places of a level are."""
        return self.folder / f"level-{level}"

    def first_leaf(self, number: int, leaves: int) -> Longs:
        """The first places of a block's predicates."""
        first = places(number, np.arange(leaves))
        numbers, firsts = self._found(0, number)
        first[numbers] = firsts
        return first

    def first_node(self, number: int, nodes: BlockNodes) -> Longs:
        """The first places of a block's nodes, as far as they are known."""
        found = [self._found(level, number) for level in range(1, self.levels)]
        return first_places(nodes, number, self.first_leaf(number, nodes.leaves), found)

    def keys(self, level: int, number: int) -> tuple[pa.LargeBinaryArray, Longs]:
        """What the predicates (level 0) or the nodes of a level of a block are, and their places.

        Equal keys mean equal things, whatever their blocks. All lower levels have to be put together.
        """
        if level == 0:
            start, data = keys_of_predicates(self.block(number).table)
            numbers = np.arange(len(start) - 1, dtype=np.int32)
        else:
            nodes = self.nodes(number)
            numbers, start, data = level_keys(nodes, level, self.first_node(number, nodes))
        keys = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(numbers), [None, pa.py_buffer(start), pa.py_buffer(data)]
        )
        return keys, places(number, numbers)

    def _found(self, level: int, number: int) -> tuple[Ints, Longs]:
        folder = self.level_folder(level) / f"block={number}"
        if not folder.is_dir():
            return np.empty(0, np.int32), np.empty(0, np.int64)
        tables = [pq.ParquetFile(file).read(["number", "first"]) for file in sorted(folder.glob("*.parquet"))]
        numbers = [table.column("number").to_numpy() for table in tables]
        firsts = [table.column("first").to_numpy() for table in tables]
        return np.concatenate(numbers).astype(np.int32), np.concatenate(firsts)
