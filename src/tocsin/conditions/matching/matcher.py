"""The compiled index at work: batches in, numbers of rules out."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import entry_point
from tocsin.arrays.packed import joined, starts
from tocsin.arrays.pinned import pin
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.kernels.bitmap_store import LATER, WORDS, Planes
from tocsin.conditions.kernels.cell_sort import RADIX, Runs, Sorter
from tocsin.conditions.kernels.deferred_planes import kinds_of
from tocsin.conditions.kernels.event_block import evaluate_block
from tocsin.conditions.kernels.leaf_planes import DRAFTS
from tocsin.conditions.kernels.leaves import Cells, OneEvent
from tocsin.conditions.kernels.literal_bitmap import no_marks
from tocsin.conditions.kernels.match_counts import (
    Living,
    add_frequencies,
    count_events,
    count_rules,
    list_living,
)
from tocsin.conditions.kernels.match_lists import ROWS, SQUARES, write_matches
from tocsin.conditions.kernels.single_event import SingleTables, match_single
from tocsin.conditions.language.tree import Path
from tocsin.conditions.matching.batch_matches import BatchMatches as BatchMatches
from tocsin.conditions.matching.resolver import Resolver
from tocsin.events import EventBatch
from tocsin.text import EventDocuments, TextMatcher

SCRATCH_BYTES = 1 << 30
"""Memory for the planes of a block, at most; every batch that is being matched has so much of its own.

What is really used is what the events need, and mostly far less. An index so large that a block of
4,096 events might need more is matched in smaller blocks.
"""

MATCHES_AT_ONCE = 1 << 25
"""Matches that are written together, at most, unless 64 events have more."""


ASKED_AT_ONCE = 1 << 20
"""Matches that are asked for deferred conjuncts together, at most, unless 64 events have more."""


class _BlockScratch:
    """What matching in blocks writes to: one for every batch that is being matched at a time."""

    __slots__ = ("hits", "living", "planes", "rules", "squares")

    def __init__(self, index: CompiledIndex) -> None:
        rules = index.rule_count
        self.planes: Planes | None = None
        self.hits = np.zeros(index.leaf_count, np.uint8)
        self.living = Living(
            np.zeros(rules + ROWS + 1, np.int32),
            np.zeros(rules + 1, np.uint64),
            np.zeros(rules + 1, np.uint32),
        )
        self.squares = np.empty(ROWS * SQUARES, np.uint64)
        self.rules = np.empty(0, np.int32)

    def room_for(self, matches: int) -> Ints:
        """Room for the rules of so many matches."""
        if len(self.rules) < matches:
            self.rules = np.empty(matches + matches // 4, np.int32)
        return self.rules[:matches]


class _SingleScratch(threading.local):
    """What matching one event needs and writes to, for each thread its own, made when first needed."""

    pinned: tuple[SingleTables, Longs] | None = None
    match: Callable[[OneEvent, Longs], int]


_NO_VALUES = OneEvent(np.zeros(4, np.int64), np.empty(0, np.uint8), np.empty(0, np.int32))


class _Block(NamedTuple):
    """A block that is evaluated: its planes, and how many rules each of its events matches.

    The planes have so many words, and are stored in the first `used` words of their room.
    """

    scratch: _BlockScratch
    planes: Planes
    words: int
    used: np.uint64
    per_event: Longs


class LayerMatcher(ABC):
    """Finds the rules of a layer, by their places in it, by way of an index. Threads may share it."""

    def __init__(self, index: CompiledIndex) -> None:
        self._index = index
        self._resolver = Resolver(index)

    def with_texts(self, index: CompiledIndex) -> Self:
        """The same for an index that differs in the weights of words alone; scratch memory is shared."""
        made = copy(self)
        made._index = index
        made._resolver = self._resolver.with_texts(index)
        return made

    @property
    def texts(self) -> TextMatcher:
        """The free text of the rules."""
        return self._resolver.texts

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, in order."""
        return self._resolver.fields

    @property
    @abstractmethod
    def most_scratch(self) -> int:
        """Bytes that one thread uses, about, besides the matches."""

    def match_event(self, event: object, documents: EventDocuments) -> Ints:
        """The rules that an event satisfies, ascending. Its documents are told to `documents`."""
        return self.match_read(self.read_event(event, documents), documents)

    def read_event(self, event: object, documents: EventDocuments) -> OneEvent:
        """The first step of match_event: what the event holds."""
        return self._resolver.resolve_event(event, documents)

    @abstractmethod
    def match_read(self, values: OneEvent, documents: EventDocuments) -> Ints:
        """The step after reading: the rules that match, ascending."""

    def match_batch(
        self,
        batch: EventBatch,
        documents: EventDocuments | None = None,
        *,
        write: bool = True,
        per_rule: Longs | None = None,
    ) -> BatchMatches:
        """Match a batch in blocks; `documents` are the batch's; `per_rule`, when given, is added to."""
        rules: list[Ints] = []
        per_event: list[Longs] = []
        for found in self.match_slices(batch, documents, write=write, per_rule=per_rule):
            rules.append(found.rule.copy())
            per_event.append(found.per_event)
        return BatchMatches(joined(rules, np.int32), joined(per_event, np.int64))

    @abstractmethod
    def match_slices(
        self,
        batch: EventBatch,
        documents: EventDocuments | None = None,
        *,
        write: bool = True,
        per_rule: Longs | None = None,
        most_matches: int | None = None,
        kept: bool = False,
    ) -> Iterator[BatchMatches]:
        """The matches of a batch, some events at a time: 64 of them, or more with at most so many matches.

        Without a number it is MATCHES_AT_ONCE; an engine may give more. The rules of a slice are to be looked
        at before the next slice is asked for, as they may be written to the same memory again, unless they
        are to be `kept`.
        """


class Matcher(LayerMatcher):
    """Matches events against the shared graph of a compiled index."""

    def __init__(self, index: CompiledIndex, scratch_bytes: int = SCRATCH_BYTES) -> None:
        super().__init__(index)
        self._idle: list[_BlockScratch] = []
        self._single = _SingleScratch()
        weight = np.bincount(index.graph.root, minlength=index.plane_count + 2).astype(np.int32)
        self._root = np.flatnonzero(weight).astype(np.int32)
        self._weight = weight[self._root]
        self._most_planes = (
            index.plane_count
            + index.leaf_count  # those of numbers, when a block has both decimals and others
            + len(index.leaves.posting_start)
            + len(index.ranges.middle_leaf)
            + 2 * len(index.group_path)
            + 2
        )
        scratch_words = min(scratch_bytes // 8, int(LATER))
        self._words = int(np.clip(scratch_words // self._most_planes - 3, 1, WORDS))

    @cached_property
    def _kind(self) -> Bytes:
        index = self._index
        return kinds_of(index.graph, index.leaf_count + len(index.graph.false_leaf))

    @property
    def block(self) -> int:
        """Events that are matched together."""
        return 64 * self._words

    @property
    def most_scratch(self) -> int:
        """Bytes that one thread uses for a block, besides the matches, when every event needs all planes."""
        return 8 * self._most_planes * (self._words + 3) + 16 * self._index.rule_count

    def match_slices(
        self,
        batch: EventBatch,
        documents: EventDocuments | None = None,
        *,
        write: bool = True,
        per_rule: Longs | None = None,
        most_matches: int | None = None,
        kept: bool = False,
    ) -> Iterator[BatchMatches]:
        """See LayerMatcher."""
        documents = EventDocuments(batch) if documents is None else documents
        row = 0
        for block in self._blocks(batch, documents):
            if self.texts.has_deferred:
                for asked in self._written(block, min(most_matches or ASKED_AT_ONCE, ASKED_AT_ONCE)):
                    found = self._with_deferred(documents, row, asked)
                    row += len(found.per_event)
                    if per_rule is not None:
                        per_rule += np.bincount(found.rule, minlength=len(per_rule))
                    yield found if write else found._replace(rule=found.rule[:0])
                continue
            if per_rule is not None:
                count_rules(self._index.graph.root, block.words, block.planes, per_rule)
            if write:
                yield from self._written(block, most_matches, kept=kept)
            else:
                yield BatchMatches(np.empty(0, np.int32), block.per_event)

    def _with_deferred(self, documents: EventDocuments, row: int, found: BatchMatches) -> BatchMatches:
        """Of the matches of events `row`, `row + 1`, ... those that satisfy deferred conjuncts as well."""
        rows = np.repeat(np.arange(row, row + len(found.per_event)), found.per_event)
        keeps = self.texts.keeps(documents, rows, found.rule)
        kept_before = starts(keeps, np.int64)[starts(found.per_event, np.int64)]
        return BatchMatches(found.rule[keeps], np.diff(kept_before))

    def _written(
        self, block: _Block, most_matches: int | None, *, kept: bool = False
    ) -> Iterator[BatchMatches]:
        """The matches of a block that is evaluated, some events at a time."""
        scratch = block.scratch
        count = list_living(self._index.graph.root, block.planes, scratch.living)
        for first, last in _word_runs(block.per_event, most_matches or MATCHES_AT_ONCE):
            counts = block.per_event[64 * first : 64 * last]
            limit = np.zeros(len(block.per_event), np.int64)
            limit[64 * first : 64 * last] = np.cumsum(counts)
            matches = int(counts.sum())
            rule = np.empty(matches, np.int32) if kept else scratch.room_for(matches)
            write_matches(
                scratch.living,
                count,
                block.planes.word,
                first,
                last,
                limit - block.per_event,
                limit,
                scratch.squares,
                rule,
            )
            yield BatchMatches(rule, counts)

    def _blocks(self, batch: EventBatch, documents: EventDocuments) -> Iterator[_Block]:
        """Evaluate a batch block by block. Its scratch memory is this batch's own until the end."""
        index = self._index
        cells = self._resolver.resolve(batch, documents)
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = _BlockScratch(index)
        try:
            planes = self._planes(scratch, len(cells.found_start))
            sorter = _sorter(cells, scratch.hits)
            cursor = cells.group_start[:-1].copy()
            for base in range(0, batch.length, self.block):
                per_event = np.zeros(min(self.block, batch.length - base), np.int64)
                words = -(-len(per_event) // 64)
                used = evaluate_block(
                    index.leaves,
                    index.ranges,
                    index.graph,
                    self._kind,
                    cells,
                    cursor,
                    base,
                    len(per_event),
                    planes,
                    sorter,
                )
                count_events(self._root, self._weight, words, planes, per_event)
                yield _Block(scratch, planes, words, used, per_event)
        finally:
            self._idle.append(scratch)

    def frequencies(self, batch: EventBatch) -> NDArray[np.float32]:
        """For how many events of a batch each plane holds."""
        index = self._index
        held = np.zeros(index.plane_count, np.float32)
        for block in self._blocks(batch, EventDocuments(batch)):
            add_frequencies(index.graph, index.leaf_count, block.words, block.planes, block.used, held)
        return held

    def _planes(self, scratch: _BlockScratch, found: int) -> Planes:
        """Room for a block, with so many rows of found leaves; memory that no plane needs is not touched."""
        room = (self._most_planes + found) * (self._words + 1)
        if scratch.planes is None or len(scratch.planes.word) < room:
            word = np.empty(room, np.uint64)
            mask = np.empty(self._index.plane_count + 2, np.uint64)
            mask.fill(0)  # np.zeros would not ask the system for large pages, and every look here is a jump
            at = np.empty(self._index.plane_count + 2, np.uint32)
            at.fill(0)
            scratch.planes = Planes(mask, at, word)
        return scratch.planes

    def match_read(self, values: OneEvent, documents: EventDocuments) -> Ints:
        """The step after reading: the rules that match, ascending."""
        single = self._single
        tables, block = single.pinned or self._pinned()
        rule = tables.marks.rule[: single.match(values, block)].copy()
        if not self.texts.has_deferred:
            return rule
        return rule[self.texts.keeps(documents, np.zeros(len(rule), np.int64), rule)]

    def _pinned(self) -> tuple[SingleTables, Longs]:
        """What this thread matches single events with; it is there as a whole or not at all."""
        index, single = self._index, self._single
        inner = len(index.graph.is_and)
        marks = no_marks(index.plane_count, inner, index.rule_count, len(index.group_path))
        tables = SingleTables(
            index.literals, index.bounds, index.leaves, index.ranges, index.graph, index.links, marks
        )
        block = pin(tables)
        match_single(_NO_VALUES, block)
        single.match = entry_point(match_single)
        single.pinned = tables, block
        return tables, block


def _word_runs(per_event: Longs, most_matches: int) -> Iterator[tuple[int, int]]:
    """Runs of machine words, each 64 events, with at most so many matches; one word at least."""
    per_word = np.add.reduceat(per_event, np.arange(0, len(per_event), 64))
    ends = starts(per_word, np.int64)
    first = 0
    while first < len(per_word):
        last = int(np.searchsorted(ends, ends[first] + most_matches, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


def _sorter(cells: Cells, hits: Bytes) -> Sorter:
    most = int(np.diff(cells.group_start).max(initial=0))
    by_slot, other = np.empty((2, most), np.int32)
    by_posting, by_found = (Runs(*np.empty((3, most), np.int32)) for _ in range(2))
    tally, drafts = np.empty(RADIX, np.int64), np.empty(DRAFTS, np.uint64)
    return Sorter(by_posting, by_found, by_slot, other, tally, hits, drafts)
