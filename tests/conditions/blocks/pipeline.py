"""A build in blocks, done in one process: what Spark's tasks do, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.conditions.blocks.block_nodes import BITS, find_firsts, share_block
from tocsin.conditions.blocks.build_folder import Work
from tocsin.conditions.blocks.rule_rows import Refused, read_rows


def blocks_of(tables: Sequence[pa.Table], folder: Path) -> tuple[Work, list[Refused]]:
    """Read tables of rules as one block each."""
    refused: list[Refused] = []
    last_id = None
    files = []
    for number, table in enumerate(tables):
        read = read_rows(table, last_id=last_id)
        read.block.save(folder / f"block-{number}")
        files.append(f"block-{number}")
        refused += read.refused
        last_id = read.last_id
    return Work(folder, files), refused


def put_level_together(work: Work, level: int, buckets: int = 3) -> Work:
    """Find the first places of one level, with the keys spread over buckets."""
    found = [work.keys(level, number) for number in range(len(work.block_files))]
    keys = pa.chunked_array([keys for keys, _ in found], pa.large_binary()).combine_chunks()
    place = np.concatenate([place for _, place in found])
    bucket = np.array([hash(key) % buckets for key in keys.to_pylist()], np.int64)
    for number in range(buckets):
        chosen = np.flatnonzero(bucket == number)
        others, firsts = find_firsts(keys.take(pa.array(chosen)), place[chosen])
        for block in np.unique(others >> BITS).tolist():
            rows = others >> BITS == block
            folder = work.level_folder(level) / f"block={block}"
            folder.mkdir(parents=True, exist_ok=True)
            numbers = (others[rows] & ((1 << BITS) - 1)).astype(np.int32)
            pq.write_table(pa.table({"number": numbers, "first": firsts[rows]}), folder / f"{number}.parquet")
    return replace(work, levels=level + 1)


def put_together(work: Work, most_levels: int | None = None) -> Work:
    """All levels, or the first few; the others are left to the assembly."""
    work = put_level_together(work, 0)
    files = []
    deepest = 0
    for number in range(len(work.block_files)):
        block = work.block(number)
        nodes = share_block(block, work.first_leaf(number, len(block.table.field)))
        nodes.save(work.folder / f"nodes-{number}")
        files.append(f"nodes-{number}")
        deepest = max(deepest, int(nodes.level.max(initial=0)))
    work = replace(work, node_files=files)
    for level in range(1, min(deepest, most_levels or deepest) + 1):
        work = put_level_together(work, level)
    return work
