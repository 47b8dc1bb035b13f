"""Compile the kernels of blocks before tasks need them, or load them from the cache."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa

from tocsin.conditions.blocks.assembly import assemble
from tocsin.conditions.blocks.block_nodes import find_firsts, share_block
from tocsin.conditions.blocks.build_folder import Work
from tocsin.conditions.blocks.rule_rows import read_rows


def warm_up() -> None:
    """Take one small block all the way."""
    rows = pa.table({"id": ["1", "2"], "when": ["a = 1 and (b = 2 xor c = 3)", "contains(t, 'x') and a = 1"]})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        block = read_rows(rows).block
        block.save(folder / "block")
        work = Work(folder, ["block"], ["nodes"], 1)
        share_block(block, work.first_leaf(0, len(block.table.field))).save(folder / "nodes")
        for level in range(2):
            find_firsts(*work.keys(level, 0))
        assemble(work)
