"""The engines as matchers of slices: each keeps to the rules that it has at this moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tocsin.conditions.live.sharded_index import RuleIndex
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.engines.engine_index import EngineIndex
from tocsin.events.cells import EventBatch, Path


class IndexOnSlices:
    """The shared index, whole or in parts; it may be changed meanwhile."""

    def __init__(self, index: RuleIndex) -> None:
        self.index = index
        self._rules = index.version
        self.fields: Sequence[Path] = sorted(self._rules.fields)

    def __len__(self) -> int:
        return self._rules.count

    def names(self) -> pa.StringArray:
        """The rules' ids, by their numbers."""
        return self._rules.names.column(np.arange(self._rules.count, dtype=np.int32))

    def match(self, events: EventBatch) -> BatchMatches:
        """Match the cells of a chunk."""
        return self._rules.match_cells(events)


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
