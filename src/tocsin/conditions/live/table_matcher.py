"""A table matched portion by portion, by one thread or several, all against one version of the rules.

table ──> portions ──> cells ──> numbers of rules ──> rows, in batches of so many bytes
          │            └─────────── a thread's work ─────────────┘        │
          └── of a stream: how many events to take next <─────────────────┘

A table's matches are all in memory in the end, so its portions are as large as blocks can be, and as many
for each thread. Of a stream no more is matched ahead than fits: its portions go by what those before gave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from threading import Event, get_ident
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin.conditions.kernels.bitmap_store import BLOCK
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.portions import (
    EVENTS_AT_ONCE,
    MATCHES_AIMED_AT,
    even_size,
    first_size,
    next_size,
)
from tocsin.conditions.matching.results import TABLE_SCHEMA, Counts, MatchedRows
from tocsin.conditions.matching.threads import in_order, thread_count
from tocsin.errors import tell
from tocsin.events import batch_of_table

BYTES_AT_ONCE = 1 << 26
"""Bytes in a batch of results, at most, but for a single row that is larger."""

MATCHES_IN_FLIGHT = 4 * MATCHES_AIMED_AT
"""Matches that threads may have found before they are taken, about."""

Made = TypeVar("Made")


class _Portion(NamedTuple):
    """Events to match: those of `rows`, of which the first is event `first`."""

    first: int
    rows: pa.Table | pa.RecordBatch


class _Done(NamedTuple, Generic[Made]):
    """A portion that is matched: how many events and matches, and what was made of these."""

    events: int
    matches: int
    made: Sequence[Made]


class TableMatching:
    """A table, or a stream of batches, against one version. A table of one portion needs no threads."""

    def __init__(
        self, version: Snapshot, table: pa.Table | pa.RecordBatch | pa.RecordBatchReader, threads: int | None
    ) -> None:
        self._version = version
        self._fields = version.fields
        self._table = table
        self._threads = thread_count(threads, (each.matcher for each in version.layers))
        self._size = first_size(version.count)
        self._ahead = self._threads
        self._given_up = Event()
        self._learns = True
        if not isinstance(table, pa.RecordBatchReader) and table.num_rows <= self._size:
            self._threads = 1

    def table(self) -> pa.Table:
        """The matches by event, then in the rules' order."""
        if self._threads > 1:
            self._share_out()
        rows = [piece for found in self._found(MatchedRows.of) for piece in found.pieces(BYTES_AT_ONCE)]
        names = self._version.dictionary.columns([piece.rule for piece in rows])
        batches = [piece.batches(columns) for piece, columns in zip(rows, names, strict=True)]
        return pa.Table.from_batches(chain.from_iterable(batches), TABLE_SCHEMA)

    def stream(self) -> Iterator[pa.RecordBatch]:
        """The same as it is found. What waits to be taken are the numbers of rules, not yet rows."""
        dictionary = self._version.dictionary
        try:
            for first, found in self._found(_numbers):
                for piece in MatchedRows.of(first, found).pieces(BYTES_AT_ONCE):
                    yield from piece.batches(dictionary.stream_columns(piece.rule))
        except MemoryError as error:
            tell(error, "matching a table")

    def _found(self, make: Callable[[int, BatchMatches], Made]) -> Iterator[Made]:
        """What is made, by a thread, of the matches of some events, of which the first has this number."""
        if self._threads == 1:
            self._size = EVENTS_AT_ONCE
            for portion in self._portions():
                yield from self._match(portion, make)
            return

        def match(portion: _Portion) -> _Done[Made]:
            made: list[Made] = []
            matches = 0
            for some, each in self._match(
                portion, lambda first, found: (len(found.rule), make(first, found))
            ):
                matches += some
                made.append(each)
                if self._given_up.is_set():
                    break
            return _Done(portion.rows.num_rows, matches, made)

        for done in self._each(match):
            yield from done.made

    def _match(self, portion: _Portion, make: Callable[[int, BatchMatches], Made]) -> Iterator[Made]:
        first = portion.first
        for found in self._version.match_slices(batch_of_table(portion.rows, self._fields), kept=True):
            if len(found.rule):
                yield make(first, found)
            first += len(found.per_event)

    def counts(self) -> Counts:
        """Only how many matches each event and each rule has."""
        per_rule: dict[int, Longs] = defaultdict(lambda: np.zeros(self._version.count, np.int64))

        def count(portion: _Portion) -> _Done[Longs]:
            cells = batch_of_table(portion.rows, self._fields)
            found = self._version.count_cells(cells, per_rule[get_ident()])
            return _Done(portion.rows.num_rows, len(found.rule), [found.per_event])

        no_match_is_written = self._version.live == self._version.count
        if no_match_is_written and self._threads == 1:
            self._size = EVENTS_AT_ONCE
        elif no_match_is_written:
            self._share_out()
        per_event = [each for done in self._each(count) for each in done.made]
        total = sum(per_rule.values(), np.zeros(self._version.count, np.int64))
        return Counts(
            pa.array(np.concatenate([np.empty(0, np.int64), *per_event])),
            pa.array(total[self._version.numbers()]),
        )

    def _each(self, work: Callable[[_Portion], _Done[Made]]) -> Iterator[_Done[Made]]:
        for done in in_order(work, self._portions(), self._threads, lambda: self._ahead, self._given_up):
            if self._learns:
                self._learn(done.events, done.matches)
            yield done

    def _share_out(self) -> None:
        """As many portions for each thread, and none larger than a block."""
        if isinstance(self._table, pa.RecordBatchReader):
            self._size = BLOCK
        else:
            self._size = even_size(self._table.num_rows, self._threads)
        self._learns = False

    def _portions(self) -> Iterator[_Portion]:
        """A table is cut by events, not by its chunks, which may be as small as one row."""
        first = 0
        for batch in self._table if isinstance(self._table, pa.RecordBatchReader) else [self._table]:
            start = 0
            while start < batch.num_rows:
                rows = min(
                    self._size, batch.num_rows - start
                )  # Arrow would slice a table without columns too far
                yield _Portion(first + start, batch.slice(start, rows))
                start += rows
            first += batch.num_rows

    def _learn(self, events: int, matches: int) -> None:
        """What a portion gave says how large the next is, and how many may be under way.

        Together the portions under way are to give no more than one alone would, as long as each is
        a full block: a smaller one costs as much.
        """
        alone = next_size(self._size, events, matches)
        self._size = max(min(alone, BLOCK), next_size(self._size, events, self._threads * matches))
        self._ahead = max(1, min(self._threads + 1, MATCHES_IN_FLIGHT // max(1, matches)))


def _numbers(first: int, found: BatchMatches) -> tuple[int, BatchMatches]:
    return first, found
