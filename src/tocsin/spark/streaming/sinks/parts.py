"""In a worker: the rows of one task as a file of a folder of alerts.

An attempt at a task writes under a name that no other has, and tells it when the file is whole. The file is
hidden (`.name`) until the driver, which knows whose attempt counts, gives it its name: one that was given up
and still writes shows nothing to any reader.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_REPORT = pa.schema([("name", pa.string())])


def write_part(batches: Iterable[pa.RecordBatch], folder: str, file_format: str) -> Iterator[pa.RecordBatch]:
    """Write the rows; the name of the file, unless there are none. JSON lines are one column of texts."""
    filled = (batch for batch in batches if batch.num_rows)
    first = next(filled, None)
    if first is None:
        return
    name = f"part-{uuid.uuid4().hex}.{file_format}"
    path = Path(folder) / hidden(name)
    write = _write_lines if file_format == "jsonl" else _write_parquet
    write(path, first, filled)
    yield pa.RecordBatch.from_pylist([{"name": name}], schema=_REPORT)


def hidden(name: str) -> str:
    """The name of a file that readers of the folder leave out."""
    return f".{name}"


def _write_parquet(path: Path, first: pa.RecordBatch, others: Iterable[pa.RecordBatch]) -> None:
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in others:
            writer.write_batch(batch)


def _write_lines(path: Path, first: pa.RecordBatch, others: Iterable[pa.RecordBatch]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for batch in chain((first,), others):
            file.writelines(f"{line}\n" for line in batch.column(0).to_pylist())
