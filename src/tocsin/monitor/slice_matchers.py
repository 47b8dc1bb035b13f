"""The engines as matchers of slices: each keeps to the rules that it has at this moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.events.cells import EventBatch, Path
from tocsin.index.packing import starts
from tocsin.monitor.engine_index import EngineIndex
from tocsin.monitor.index import Index
from tocsin.monitor.index_in_parts import IndexInParts
from tocsin.monitor.matcher import BatchMatches


class IndexOnSlices:
    """The shared index, which may be changed meanwhile, or one in parts, with the rules part by part."""

    def __init__(self, index: Index | IndexInParts) -> None:
        self.index = index
        parts = index.parts if isinstance(index, IndexInParts) else (index,)
        self._versions = [part.version for part in parts]
        self._start = starts([version.count for version in self._versions], np.int64)
        self.fields: Sequence[Path] = sorted({field for part in self._versions for field in part.fields})

    def __len__(self) -> int:
        return int(self._start[-1])

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        columns = [each.names.column(np.arange(each.count, dtype=np.int32)) for each in self._versions]
        return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)

    def match(self, events: EventBatch) -> BatchMatches:
        """Match the cells of a chunk."""
        found = [version.match_cells(events) for version in self._versions]
        return found[0] if len(found) == 1 else _merged(found, self._start)


def _merged(found: Sequence[BatchMatches], start: NDArray[np.int64]) -> BatchMatches:
    """The matches of all parts by event; rule r of part p is number start[p] + r."""
    events = len(found[0].per_event)
    event = np.concatenate([np.repeat(np.arange(events), part.per_event) for part in found])
    order = np.argsort(event, kind="stable")
    rules = [part.rule + first for part, first in zip(found, start[:-1], strict=True)]
    score = None
    if any(part.score is not None for part in found):
        score = np.concatenate(
            [np.full(len(part.rule), np.nan) if part.score is None else part.score for part in found]
        )[order]
    per_event: NDArray[np.int64] = np.add.reduce([part.per_event for part in found], dtype=np.int64)
    return BatchMatches(np.concatenate(rules)[order].astype(np.int32), per_event, score)


class EngineOnSlices:
    """Any other engine."""

    def __init__(self, index: EngineIndex) -> None:
        self.index = index
        self.fields: Sequence[Path] = index.fields

    def __len__(self) -> int:
        return len(self.index)

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        return self.index.ids.cast(pa.string())

    def match(self, events: EventBatch) -> BatchMatches:
        """Match the cells of a chunk."""
        return self.index.match_cells(events)
