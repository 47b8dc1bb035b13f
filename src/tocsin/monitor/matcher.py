"""The compiled index at work: batches in, numbers of rules out."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import EventBatch
from tocsin.grammar.tree import Path
from tocsin.index.compiled import CompiledIndex
from tocsin.index.resolve import Resolver
from tocsin.kernels.block import match_blocks
from tocsin.kernels.leaves import RADIX, WORDS, Sorter
from tocsin.kernels.single import Stamps, match_single


class BatchMatches(NamedTuple):
    """Matches of a batch: the rules of event 0, then of event 1, ..., each ascending.

    rule        int32[m]   empty when only counts were asked for
    per_event   int64[n]
    """

    rule: NDArray[np.int32]
    per_event: NDArray[np.int64]


class _Scratch(threading.local):
    """What matching writes to, for each thread its own, made when first needed."""

    planes: NDArray[np.uint64] | None = None
    alive: NDArray[np.uint8] | None = None
    stamps: Stamps | None = None
    single: NDArray[np.int32] | None = None


class Matcher:
    """Matches events against a compiled index; threads may share it."""

    def __init__(self, index: CompiledIndex) -> None:
        self._index = index
        self._resolver = Resolver(index)
        self._scratch = _Scratch()

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, in order."""
        return self._resolver.fields

    def match_batch(
        self, batch: EventBatch, *, write: bool = True, per_rule: NDArray[np.int64] | None = None
    ) -> BatchMatches:
        """Match a batch in blocks; `per_rule`, when given, is added to."""
        index, scratch = self._index, self._scratch
        if scratch.planes is None or scratch.alive is None:
            scratch.planes = np.empty((index.plane_count + 2, WORDS), np.uint64)
            scratch.alive = np.empty(index.plane_count + 2, np.uint8)
        cells = self._resolver.resolve(batch)
        most = int(np.diff(cells.group_start).max(initial=0))
        per_event = np.zeros(batch.length, np.int64)
        rule = match_blocks(
            index.leaves,
            index.ranges,
            index.graph,
            cells,
            batch.length,
            index.leaf_count,
            scratch.planes,
            scratch.alive,
            Sorter(np.empty(most, np.int32), np.empty(most, np.int32), np.empty(RADIX, np.int64)),
            per_event,
            np.zeros(index.rule_count, np.int64) if per_rule is None else per_rule,
            write,
        )
        return BatchMatches(rule, per_event)

    def match_one(self, batch: EventBatch) -> NDArray[np.int32]:
        """The rules that the only event of a batch satisfies, ascending."""
        index, scratch = self._index, self._scratch
        if scratch.stamps is None or scratch.single is None:
            inner = len(index.graph.is_and)
            scratch.stamps = Stamps(
                np.zeros(1, np.int64),
                np.zeros(index.plane_count, np.int64),
                np.zeros(len(index.group_path), np.int64),
                np.empty(index.plane_count - inner, np.int32),
                np.zeros(inner, np.int64),
                np.empty(inner, np.int32),
                np.zeros(max(1, len(index.graph.level_start) - 1), np.int32),
            )
            scratch.single = np.empty(index.rule_count, np.int32)
        count = match_single(
            self._resolver.resolve_one(batch),
            index.literals,
            index.bounds,
            index.leaves,
            index.ranges,
            index.graph,
            index.wakes,
            scratch.stamps,
            scratch.single,
        )
        return np.sort(scratch.single[:count])
