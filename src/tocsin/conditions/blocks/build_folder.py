"""The folder in which a build keeps its blocks, from the first that is read until the index is written.

    block-3-ab12          rules of block 3, read (rule_block.py)
    firsts/block=3/...    Parquet: number, first: predicates of block 3 that another block has first

Whoever makes a block may be stopped and started again, so file names end in something random, and a file
counts when it is named here. Small, and made to be pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Longs
from tocsin.arrays.packed import text_arrays
from tocsin.conditions.blocks.rule_block import Block
from tocsin.conditions.graph.predicate_table import keys_of_predicates

BITS = 32
"""The place of a predicate is block * 2^32 + its number in the block's table."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is there."""

    folder: Path
    block_files: Sequence[str] = ()

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.block_files)

    @property
    def firsts_folder(self) -> Path:
        """Where the first places of predicates are."""
        return self.folder / "firsts"

    def block(self, number: int) -> Block:
        """A block of rules."""
        return Block.open(self.folder / self.block_files[number])

    def first_places(self, number: int, predicates: int) -> Longs:
        """The first places of a block's predicates."""
        first = _places(number, predicates)
        folder = self.firsts_folder / f"block={number}"
        for file in sorted(folder.glob("*.parquet")):
            found = pq.ParquetFile(file).read(["number", "first"])
            first[found.column("number").to_numpy()] = found.column("first").to_numpy()
        return first

    def keys(self, number: int) -> tuple[pa.LargeBinaryArray, Longs]:
        """What the predicates of a block are, and their places: equal keys mean equal predicates."""
        start, data = keys_of_predicates(self.block(number).table)
        keys = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(start) - 1, [None, pa.py_buffer(start), pa.py_buffer(data)]
        )
        return keys, _places(number, len(keys))


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


def _places(block: int, predicates: int) -> Longs:
    return (np.int64(block) << BITS) | np.arange(predicates, dtype=np.int64)
