"""A build in blocks, done in one process: what Spark's tasks do, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.conditions.blocks import BITS, Refused, Work, find_firsts, read_rows


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


def compared(work: Work, buckets: int = 3) -> Work:
    """The work with the first places of predicates found, their keys spread over buckets."""
    found = [work.keys(number) for number in range(work.count)]
    keys = pa.chunked_array([keys for keys, _ in found], pa.large_binary()).combine_chunks()
    place = np.concatenate([place for _, place in found])
    bucket = np.array([hash(key) % buckets for key in keys.to_pylist()], np.int64)
    for number in range(buckets):
        chosen = np.flatnonzero(bucket == number)
        others, firsts = find_firsts(keys.take(pa.array(chosen)), place[chosen])
        for block in np.unique(others >> BITS).tolist():
            rows = others >> BITS == block
            folder = work.firsts_folder / f"block={block}"
            folder.mkdir(parents=True, exist_ok=True)
            numbers = (others[rows] & ((1 << BITS) - 1)).astype(np.int32)
            pq.write_table(pa.table({"number": numbers, "first": firsts[rows]}), folder / f"{number}.parquet")
    return work
