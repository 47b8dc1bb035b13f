"""The documents of a batch, counted by the tasks that match it: in how many each word is.

Each task leaves a file of its own, which is there whole or not; one that is done again replaces it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.arrays.dtypes import Flags
from tocsin.events import cells
from tocsin.history.statistics import WordCounter
from tocsin.spark.numbered_tasks import partition_number

COUNTS = pa.schema([("field", pa.int32()), ("word", pa.large_string()), ("documents", pa.int64())])
_DOCUMENTS = b"tocsin.documents"


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """What the tasks of one attempt at a batch count, and where. Small, and made to be pickled."""

    folder: str
    fields: tuple[cells.Path, ...]

    def counter(self) -> TaskCounter:
        """In a worker: what a task counts with."""
        return TaskCounter(self)

    def parts(self) -> Iterator[tuple[list[int], pa.Table]]:
        """Of each task the documents of each field, and the words."""
        for path in sorted(Path(self.folder).glob("[0-9]*.parquet")):
            table = pq.read_table(path)
            yield json.loads((table.schema.metadata or {})[_DOCUMENTS]), table.replace_schema_metadata()


class TaskCounter:
    """The documents of the events of one task."""

    def __init__(self, counts: DocumentCounts) -> None:
        self._counts = counts
        self._counters = [WordCounter(0) for _ in counts.fields]
        self._counted = [COUNTS.empty_table()]

    def add(self, events: cells.EventBatch, good: Flags) -> None:
        """Count the documents of those events that are good."""
        for number, path in enumerate(self._counts.fields):
            column = events.columns.get(path)
            if column is not None:
                self._counters[number].add(column, np.arange(events.length), good)
                if self._counters[number].is_full:
                    self._count(number)

    def write(self) -> None:
        """Leave the file of this task, unless it has seen no document."""
        documents = [each.documents for each in self._counters]
        if not any(documents):
            return
        for number in range(len(self._counters)):
            self._count(number)
        whole = pa.concat_tables(self._counted)
        table = whole.replace_schema_metadata({_DOCUMENTS: json.dumps(documents).encode()})
        target = Path(self._counts.folder) / f"{partition_number():08d}.parquet"
        draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        pq.write_table(table, draft)
        draft.replace(target)

    def _count(self, number: int) -> None:
        words = self._counters[number].count().select(["word", "documents"])
        field = pa.array(np.full(len(words), number, np.int32))
        self._counted.append(words.add_column(0, "field", field).cast(COUNTS))
