"""The engines as matchers of slices: what each wants to read, and how it matches that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tocsin.events.cells import Path
from tocsin.events.files import EventChunk
from tocsin.events.json_lines import parse_lines
from tocsin.monitor.index import Index
from tocsin.monitor.kept import JSON
from tocsin.monitor.matcher import BatchMatches
from tocsin.monitor.rows import rows_of_batch
from tocsin.monitor.scan import ScanIndex


class IndexOnSlices:
    """The shared index, with the rules that it has at this moment: it wants cells."""

    columns: Sequence[str] = ()

    def __init__(self, index: Index) -> None:
        self.index = index
        self._version = index.version
        self.fields: Sequence[Path] = self._version.fields

    def __len__(self) -> int:
        return self._version.count

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        return self._version.names.column(np.arange(self._version.count, dtype=np.int32))

    def match(self, chunk: EventChunk, _columns: Mapping[str, pa.Array]) -> BatchMatches:
        """Match the cells of a chunk."""
        return self._version.match_cells(chunk.events)


class ScanOnSlices:
    """The engine scan: it wants the values of whole columns, as Python objects."""

    def __init__(self, index: ScanIndex) -> None:
        self._index = index
        self.fields: Sequence[Path] = index.fields
        self.columns: Sequence[str] = sorted({path[0] for path in index.fields})

    def __len__(self) -> int:
        return len(self._index)

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        return self._index.ids.cast(pa.string())

    def match(self, chunk: EventChunk, columns: Mapping[str, pa.Array]) -> BatchMatches:
        """Match the rows of the columns one by one."""
        wanted = {name: columns[name] for name in self.columns if name in columns}
        found = [self._index.match(event).numbers for event in _events(wanted, len(chunk.rows))]
        rule = np.concatenate([np.zeros(0, np.int32), *found])
        return BatchMatches(rule, np.array([len(each) for each in found], np.int64))


def _events(columns: Mapping[str, pa.Array], length: int) -> Iterator[Mapping[str, object]]:
    """The rows of columns; JSON texts are read by the parser that read them before."""
    texts = {name: column.storage.to_pylist() for name, column in columns.items() if column.type == JSON}
    typed = {name: column for name, column in columns.items() if name not in texts}
    rows = rows_of_batch(pa.RecordBatch.from_pydict(typed), typed) if typed else iter([{}] * length)
    for number, row in enumerate(rows):
        members = [
            f"{json.dumps(name)}: {column[number]}"
            for name, column in texts.items()
            if column[number] is not None
        ]
        (event,) = parse_lines([f"{{{', '.join(members)}}}".encode()]).events
        yield event | row
