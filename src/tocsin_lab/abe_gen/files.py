"""A workload on disk: rules and events, each as Parquet and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin_lab.abe_gen.texts import joined, side_by_side
from tocsin_lab.abe_gen.workloads import RULE_SCHEMA

FORMATS = ("parquet", "jsonl")


def write_rules(
    batches: Iterable[pa.RecordBatch],
    folder: Path,
    formats: tuple[str, ...],
    progress: Callable[[int], None],
) -> None:
    """rules.parquet and rules.jsonl, a portion after the other; `progress` hears how many are written.

    Batches are of RULE_SCHEMA.
    """
    written = 0
    parquet = pq.ParquetWriter(folder / "rules.parquet", RULE_SCHEMA) if "parquet" in formats else None
    lines = (folder / "rules.jsonl").open("wb") if "jsonl" in formats else None
    try:
        for batch in batches:
            if parquet is not None:
                parquet.write_batch(batch)
            if lines is not None:
                lines.write(_lines_of(batch))
            written += batch.num_rows
            progress(written)
    finally:
        for file in (parquet, lines):
            if file is not None:
                file.close()


def write_events(
    table: pa.Table, rows: Iterable[Mapping[str, Any]], folder: Path, name: str, formats: tuple[str, ...]
) -> None:
    """name.parquet from a table of events, and name.jsonl from the same events as rows."""
    if "parquet" in formats:
        pq.write_table(table, folder / f"{name}.parquet")
    if "jsonl" in formats:
        with (folder / f"{name}.jsonl").open("w") as lines:
            lines.writelines(f"{json.dumps(row)}\n" for row in rows)


def _lines_of(batch: pa.RecordBatch) -> bytes:
    """Rules as JSON lines. Neither ids nor conditions of a workload hold a character to escape."""
    lines = side_by_side('{"id": "', batch["id"], '", "when": "', batch["when"], '"}\n')
    return bytes(joined(lines, np.array([0, len(lines)]), "")[0].as_buffer())
