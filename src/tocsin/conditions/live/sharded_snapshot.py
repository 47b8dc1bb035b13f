"""The rules of an index in shards at one moment, numbered through: shard by shard, each in its own order.

    shard     0            1               2
    rule     0 1 2 3      0 1 2 3 4       0 1
    number   0 1 2 3      4 5 6 7 8       9 10
    start    0            4               9         11

Who asks by number sees one index. The shards are matched side by side, some events at a time, and what they
find is put together by event, so that every event comes once with all its rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.index_statistics import Statistics, sum_of_statistics
from tocsin.conditions.live.layers import Layer
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.conditions.matching.matcher import MATCHES_AT_ONCE, BatchMatches
from tocsin.conditions.matching.rule_dictionary import MadeDictionary, RuleDictionary
from tocsin.events import EventBatch
from tocsin.rules import Rule, concat_metadata
from tocsin.text import Dictionary, TextBase


class ShardedSnapshot:
    """The snapshots of all shards as one: it answers as one of all rules does, in the order of the shards.

    start   int64[shards + 1]: the number of the first rule of each shard, and how many rules there are
    """

    def __init__(self, shards: Sequence[Snapshot]) -> None:
        self.shards = tuple(shards)
        self.start = starts([shard.count for shard in self.shards], np.int64)
        self.names = ShardedNames(self.shards, self.start)
        self._ids: MadeDictionary = []

    @property
    def dictionary(self) -> RuleDictionary:
        """The ids of the rules for tables of matches."""
        return RuleDictionary(self, self._ids)

    @property
    def count(self) -> int:
        """Rules written so far in all shards, dead ones included."""
        return int(self.start[-1])

    @property
    def change(self) -> int:
        """How many changes the shards know."""
        return sum(shard.change for shard in self.shards)

    @property
    def live(self) -> int:
        """Rules there are in all shards."""
        return sum(shard.live for shard in self.shards)

    @property
    def layers(self) -> list[Layer]:
        """The layers of all shards."""
        return [layer for shard in self.shards for layer in shard.layers]

    @cached_property
    def fields(self) -> list[Path]:
        """The fields that the rules name."""
        return sorted({field for shard in self.shards for field in shard.fields})

    @property
    def text_fields(self) -> list[Path]:
        """The fields that free text asks."""
        return sorted({field for shard in self.shards for field in shard.text_fields})

    @property
    def texts(self) -> TextBase:
        """The dictionaries and settings that free text goes by: all shards have the same."""
        return self.shards[0].texts if self.shards else TextBase()

    def reweighed(self, dictionaries: Mapping[Path, Dictionary]) -> ShardedSnapshot:
        """The same rules under the same numbers, with other dictionaries."""
        return ShardedSnapshot([shard.reweighed(dictionaries) for shard in self.shards])

    def numbers(self) -> Longs:
        """The numbers of the rules, in order."""
        numbered = zip(self.shards, self.start[:-1], strict=True)
        return np.concatenate(
            [np.zeros(0, np.int64), *(shard.numbers() + first for shard, first in numbered)]
        )

    def ids_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""
        return _texts([shard.ids_of(some) for shard, some in self._by_shard(numbers)])

    def whens_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The conditions of these ascending numbers."""
        return _texts([shard.whens_of(some) for shard, some in self._by_shard(numbers)])

    def metadata_of(self, numbers: Longs) -> pa.Table | None:
        """What the rules of these ascending numbers carry besides, a row for each; None when nothing."""
        return concat_metadata(
            [(shard.metadata_of(some), len(some)) for shard, some in self._by_shard(numbers)]
        )

    def find(self, rule: object) -> int | None:
        """The number of a rule by its id."""
        for shard, first in zip(self.shards, self.start[:-1].tolist(), strict=True):
            number = shard.find(rule)
            if number is not None:
                return int(first + number)
        return None

    def rule(self, number: int) -> Rule:
        """A rule as it was written."""
        place = _shard_of(self.start, number)
        return self.shards[place].rule(number - int(self.start[place]))

    def match_event(self, event: Mapping[str, object]) -> tuple[Ints, Doubles | None]:
        """The numbers of the rules that an event satisfies, ascending, and their scores."""
        each = [shard.match_event(event) for shard in self.shards]
        found = [BatchMatches(numbers, np.array([len(numbers)]), scores) for numbers, scores in each]
        together = _by_event(found, self.start, 1)
        return together.rule, together.score

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""
        return _by_event([shard.match_cells(batch) for shard in self.shards], self.start, batch.length)

    def match_slices(
        self, batch: EventBatch, most_matches: int | None = None, *, kept: bool = False
    ) -> Iterator[BatchMatches]:
        """The same, some events at a time: as many as all shards have matched. See Snapshot.match_slices."""
        kept = kept and len(self.shards) == 1  # else they are put together in new memory
        most = max(1, (most_matches or MATCHES_AT_ONCE) // max(1, len(self.shards)))
        runs = [_Run(shard.match_slices(batch, most, kept=kept)) for shard in self.shards]
        first = 0
        while first < batch.length:
            last = min((run.reach(first) for run in runs), default=batch.length)
            yield _by_event([run.between(first, last) for run in runs], self.start, last - first)
            first = last

    def count_cells(self, batch: EventBatch, per_rule: Longs) -> BatchMatches:
        """Count the matches of events; `per_rule`, by number, is added to."""
        found = [
            shard.count_cells(batch, per_rule[self.start[place] : self.start[place + 1]])
            for place, shard in enumerate(self.shards)
        ]
        rules = [each.rule + first for each, first in zip(found, self.start[:-1], strict=True)]
        per_event: Longs = np.add.reduce(
            [np.zeros(batch.length, np.int64), *(each.per_event for each in found)]
        )
        return BatchMatches(np.concatenate([np.zeros(0, np.int32), *rules]).astype(np.int32), per_event)

    def statistics(self) -> Statistics:
        """The sum over the shards, with what two of them share counted twice."""
        return sum_of_statistics([shard.statistics() for shard in self.shards])

    def _by_shard(self, numbers: Longs) -> Iterator[tuple[Snapshot, Longs]]:
        """For each shard those of ascending numbers that are its own, as it has them."""
        bounds = np.searchsorted(numbers, self.start)
        for place, shard in enumerate(self.shards):
            yield shard, numbers[bounds[place] : bounds[place + 1]] - self.start[place]


class ShardedNames:
    """The rules' ids by the rules' numbers."""

    def __init__(self, shards: Sequence[Snapshot], start: Longs) -> None:
        self._shards = shards
        self._start = start

    def name(self, number: int) -> str:
        """One id."""
        place = _shard_of(self._start, number)
        return self._shards[place].names.name(number - int(self._start[place]))

    def column(self, numbers: Ints) -> pa.StringArray:
        """The ids of each shard, and then in the order of the numbers; see RuleNames."""
        place_of = np.searchsorted(self._start, numbers, side="right") - 1
        order = np.argsort(place_of, kind="stable")
        bounds = np.searchsorted(place_of[order], np.arange(len(self._shards) + 1))
        columns = [pa.array([], pa.string())]
        for place, shard in enumerate(self._shards):
            some = numbers[order[bounds[place] : bounds[place + 1]]] - self._start[place]
            columns.append(shard.names.column(some.astype(np.int32)))
        behind = np.empty(len(order), np.int64)
        behind[order] = np.arange(len(order))
        return pa.concat_arrays(columns).take(pa.array(behind))


def _shard_of(start: Longs, number: int) -> int:
    """The shard that has a number; shards may be empty."""
    return int(np.searchsorted(start, number, side="right")) - 1


class _Run:
    """The slices of one shard, of which pieces may be taken: it holds the one at hand."""

    def __init__(self, slices: Iterator[BatchMatches]) -> None:
        self._slices = slices
        self._first = self._last = 0
        self._found = _nothing(0)

    def reach(self, first: int) -> int:
        """Up to which event the shard is matched, when all before `first` have been looked at."""
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


def _by_event(found: Sequence[BatchMatches], start: Longs, events: int) -> BatchMatches:
    """The matches of all shards by event; rule r of shard p is number start[p] + r."""
    if len(found) < 2:
        return found[0] if found else _nothing(events)
    event = np.concatenate([np.repeat(np.arange(events), shard.per_event) for shard in found])
    order = np.argsort(event, kind="stable")
    rules = [shard.rule + first for shard, first in zip(found, start[:-1], strict=True)]
    score = None
    if any(shard.score is not None for shard in found):
        score = np.concatenate(
            [np.full(len(shard.rule), np.nan) if shard.score is None else shard.score for shard in found]
        )[order]
    per_event: Longs = np.add.reduce([shard.per_event for shard in found], dtype=np.int64)
    return BatchMatches(np.concatenate(rules)[order].astype(np.int32), per_event, score)


def _nothing(events: int) -> BatchMatches:
    return BatchMatches(np.zeros(0, np.int32), np.zeros(events, np.int64))


def _texts(columns: Sequence[pa.LargeStringArray]) -> pa.LargeStringArray:
    return pa.concat_arrays([pa.array([], pa.large_string()), *columns])
