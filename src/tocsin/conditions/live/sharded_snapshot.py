"""The rules of an index in parts at one moment, numbered through: part by part, each in its own order.

    part     0            1               2
    rule     0 1 2 3      0 1 2 3 4       0 1
    number   0 1 2 3      4 5 6 7 8       9 10
    start    0            4               9         11

Who asks by number sees one index. The parts are matched side by side, some events at a time, and what they
find is put together by event, so that every event comes once with all its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.packed import starts
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.snapshot import Version
from tocsin.conditions.matching.matcher import MATCHES_AT_ONCE, BatchMatches
from tocsin.events.cells import EventBatch
from tocsin.rules.rule_metadata import concat_metadata
from tocsin.text.text_base import TextBase


class VersionInParts:
    """The versions of all parts as one: it answers as a Version of all rules does, in the order of the parts.

    start   int64[parts + 1]: the number of the first rule of each part, and how many rules there are
    """

    def __init__(self, parts: Sequence[Version]) -> None:
        self.parts = tuple(parts)
        self.start = starts([part.count for part in self.parts], np.int64)
        self.names = NamesInParts(self.parts, self.start)

    @property
    def count(self) -> int:
        """Rules written so far in all parts, dead ones included."""
        return int(self.start[-1])

    @cached_property
    def fields(self) -> list[Path]:
        """The fields that the rules name."""
        return sorted({field for part in self.parts for field in part.fields})

    @property
    def texts(self) -> TextBase:
        """The dictionaries and settings that free text goes by: all parts have the same."""
        return self.parts[0].texts if self.parts else TextBase()

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the rules, in order."""
        numbered = zip(self.parts, self.start[:-1], strict=True)
        return np.concatenate([np.zeros(0, np.int64), *(part.numbers() + first for part, first in numbered)])

    def ids_of(self, numbers: NDArray[np.int64]) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""
        return _texts([part.ids_of(some) for part, some in self._by_part(numbers)])

    def whens_of(self, numbers: NDArray[np.int64]) -> pa.LargeStringArray:
        """The conditions of these ascending numbers."""
        return _texts([part.whens_of(some) for part, some in self._by_part(numbers)])

    def metadata_of(self, numbers: NDArray[np.int64]) -> pa.Table | None:
        """What the rules of these ascending numbers carry besides, a row for each; None when nothing."""
        return concat_metadata([(part.metadata_of(some), len(some)) for part, some in self._by_part(numbers)])

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        return _by_event([part.match_cells(batch) for part in self.parts], self.start, batch.length)

    def match_slices(self, batch: EventBatch, most_matches: int | None = None) -> Iterator[BatchMatches]:
        """The same, some events at a time: as many as all parts have matched. See Version.match_slices."""
        most = max(1, (most_matches or MATCHES_AT_ONCE) // max(1, len(self.parts)))
        runs = [_Run(part.match_slices(batch, most)) for part in self.parts]
        first = 0
        while first < batch.length:
            last = min((run.reach(first) for run in runs), default=batch.length)
            yield _by_event([run.between(first, last) for run in runs], self.start, last - first)
            first = last

    def _by_part(self, numbers: NDArray[np.int64]) -> Iterator[tuple[Version, NDArray[np.int64]]]:
        """For each part those of ascending numbers that are its own, as it has them."""
        bounds = np.searchsorted(numbers, self.start)
        for place, part in enumerate(self.parts):
            yield part, numbers[bounds[place] : bounds[place + 1]] - self.start[place]


AnyVersion = Version | VersionInParts
"""The rules at one moment, of an index that is whole or in parts."""


class NamesInParts:
    """The rules' ids by the rules' numbers."""

    def __init__(self, parts: Sequence[Version], start: NDArray[np.int64]) -> None:
        self._parts = parts
        self._start = start

    def column(self, numbers: NDArray[np.int32]) -> pa.StringArray:
        """The ids of these numbers; ArrowCapacityError when they are too much for one Arrow column."""
        part_of = np.searchsorted(self._start, numbers, side="right") - 1
        order = np.argsort(part_of, kind="stable")
        bounds = np.searchsorted(part_of[order], np.arange(len(self._parts) + 1))
        columns = [pa.array([], pa.string())]
        for place, part in enumerate(self._parts):
            some = numbers[order[bounds[place] : bounds[place + 1]]] - self._start[place]
            columns.append(part.names.column(some.astype(np.int32)))
        behind = np.empty(len(order), np.int64)
        behind[order] = np.arange(len(order))
        return pa.concat_arrays(columns).take(pa.array(behind))


class _Run:
    """The slices of one part, of which pieces may be taken: it holds the one at hand."""

    def __init__(self, slices: Iterator[BatchMatches]) -> None:
        self._slices = slices
        self._first = self._last = 0
        self._found = _nothing(0)

    def reach(self, first: int) -> int:
        """Up to which event the part is matched, when all before `first` have been looked at."""
        if self._last == first:
            self._found = next(self._slices)
            self._first, self._last = first, first + len(self._found.per_event)
        return self._last

    def between(self, first: int, last: int) -> BatchMatches:
        """The matches of events of the slice at hand."""
        found = self._found
        if (first, last) == (self._first, self._last):
            return found
        bound = starts(found.per_event, np.int64)
        low, high = bound[first - self._first], bound[last - self._first]
        score = None if found.score is None else found.score[low:high]
        return BatchMatches(
            found.rule[low:high], found.per_event[first - self._first : last - self._first], score
        )


def _by_event(found: Sequence[BatchMatches], start: NDArray[np.int64], events: int) -> BatchMatches:
    """The matches of all parts by event; rule r of part p is number start[p] + r."""
    if len(found) < 2:
        return found[0] if found else _nothing(events)
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


def _nothing(events: int) -> BatchMatches:
    return BatchMatches(np.zeros(0, np.int32), np.zeros(events, np.int64))


def _texts(columns: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    return pa.concat_arrays([pa.array([], pa.large_string()), *columns])
