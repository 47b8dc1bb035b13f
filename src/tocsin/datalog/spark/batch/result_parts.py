"""In a worker: sorted tuples in, a part of a file of results out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from tocsin.datalog.engine.result_files import lines_of_columns
from tocsin.datalog.spark.batch.result_frames import Writing
from tocsin.datalog.spark.batch.worker_batches import values_of


def write_part(writing: Writing, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the lines of all tuples to one file; its name, and how many symbols cannot be read back."""
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    path = Path(writing.folder, f"{writing.relation.name}-{number}-{uuid.uuid4().hex}")
    kinds = writing.relation.types
    unreadable = 0
    with path.open("xb") as stream:
        for batch in batches:
            if batch.num_rows:
                columns = [values_of(batch.column(place), kind) for place, kind in enumerate(kinds)]
                lines = lines_of_columns(columns, kinds, writing.delimiter, writing.quoted)
                unreadable += lines.unreadable
                stream.write(lines.text.encode())
    answer = {"part": number, "file": str(path), "unreadable": unreadable}
    schema = pa.schema([("part", pa.int32()), ("file", pa.string()), ("unreadable", pa.int64())])
    yield pa.RecordBatch.from_pylist([answer], schema=schema)
