"""The engines as matchers of slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tocsin.events.cells import Path
from tocsin.events.files import EventChunk
from tocsin.events.json_lines import parse_lines
from tocsin.grammar.tree import Condition, Predicate
from tocsin.monitor.index import Index
from tocsin.monitor.kept import JSON, json_texts
from tocsin.monitor.matcher import BatchMatches
from tocsin.monitor.scan import ScanIndex


class IndexOnSlices:
    """The shared index: it wants cells."""

    columns: Sequence[str] = ()

    def __init__(self, index: Index) -> None:
        self._index = index
        self.fields: Sequence[Path] = index.fields

    def __len__(self) -> int:
        return len(self._index)

    def match(self, chunk: EventChunk, columns: Mapping[str, pa.Array]) -> BatchMatches:
        """Match the cells of a chunk."""
        return self._index.match_cells(chunk.events)
