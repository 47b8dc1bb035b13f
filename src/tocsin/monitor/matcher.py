"""The compiled index at work: batches in, numbers of rules out."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import EventBatch
from tocsin.grammar.tree import Path
from tocsin.index.compiled import CompiledIndex
from tocsin.index.packing import joined, starts
from tocsin.index.resolve import Resolver
from tocsin.kernels.block import evaluate_block
from tocsin.kernels.leaves import RADIX, Sorter
from tocsin.kernels.matches import count_events, count_rules, write_matches
from tocsin.kernels.rows import WORDS, Chunk, Planes
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

    planes: Planes | None = None
    hits: NDArray[np.uint8] | None = None
    stamps: Stamps | None = None
    single: NDArray[np.int32] | None = None


class Matcher:
    """Matches events against a compiled index; threads may share it."""

    def __init__(self, index: CompiledIndex) -> None:
        self._index = index
        self._resolver = Resolver(index)
        self._scratch = _Scratch()
        weight = np.bincount(index.graph.root, minlength=index.plane_count + 2).astype(np.int32)
        self._root = np.flatnonzero(weight).astype(np.int32)
        self._weight = weight[self._root]
        self._words = WORDS

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, in order."""
        return self._resolver.fields

    def match_batch(
        self, batch: EventBatch, *, write: bool = True, per_rule: NDArray[np.int64] | None = None
    ) -> BatchMatches:
        """Match a batch in blocks; `per_rule`, when given, is added to."""
        index, scratch = self._index, self._scratch
        cells = self._resolver.resolve(batch)
        planes = self._planes(len(cells.found_start))
        if scratch.hits is None:
            scratch.hits = np.zeros(index.leaf_count, np.uint8)
        most = int(np.diff(cells.group_start).max(initial=0))
        sorter = Sorter(*np.empty((4, most), np.int32), np.empty(RADIX, np.int64), scratch.hits)
        cursor = cells.group_start[:-1].copy()
        per_event = np.zeros(batch.length, np.int64)
        rules: list[NDArray[np.int32]] = []
        for base in range(0, batch.length, 64 * self._words):
            counts = per_event[base : base + 64 * self._words]
            evaluate_block(
                index.leaves,
                index.ranges,
                index.graph,
                cells,
                cursor,
                base,
                self._words,
                planes,
                sorter,
                len(counts),
            )
            count_events(self._root, self._weight, self._words, planes, counts)
            if per_rule is not None:
                count_rules(index.graph.root, self._words, planes, per_rule)
            if write:
                place = starts(counts, np.int64)
                found = np.empty(place[-1], np.int32)
                write_matches(index.graph.root, self._words, planes, 0, self._words, place, found)
                rules.append(found)
        return BatchMatches(joined(rules, np.int32), per_event)

    def _planes(self, found: int) -> Planes:
        """Room for a block, with so many rows of found leaves; memory that no plane needs is not touched."""
        index, scratch = self._index, self._scratch
        most = (
            index.plane_count
            + len(index.leaves.posting_start)
            + len(index.ranges.middle_leaf)
            + 2 * len(index.group_path)
            + found
            + 2
        )
        room = most * (self._words + 1)
        if scratch.planes is None or len(scratch.planes.word) < room:
            word = np.empty(room, np.uint64)
            scratch.planes = Planes(
                np.zeros(2 * (index.plane_count + 2), np.uint64),
                word.view(Chunk),
                word,
            )
        return scratch.planes

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
