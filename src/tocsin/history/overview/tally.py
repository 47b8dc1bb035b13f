"""What one task notes of the events that it sees; put out in pieces of bounded size.

Matches are looked at a slice at a time and as arrays, and none is written out: what a task holds grows
with the rules, never with the matches. What it holds is put out, and begun anew, whenever that is much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.conditions.language import Path
from tocsin.conditions.live import Snapshot
from tocsin.conditions.matching import BatchMatches
from tocsin.events import EventBatch, RowTexts, seconds_of
from tocsin.history.overview.samples import Samples, event_hashes
from tocsin.history.overview.score_codes import CODES, score_codes
from tocsin.history.overview.task_tally import (
    BUCKET,
    EVENT,
    EVENTS,
    HITS,
    MATCHED,
    MATCHES,
    REJECTS,
    SAMPLE,
    SCORE,
    SEEN,
    TIME,
    TOTAL,
    fact_rows,
)
from tocsin.history.overview.time_buckets import WIDTHS, bucket_numbers, bucket_start, width_for
from tocsin.history.overview.value_summaries import FieldSummary, add_events

MATCHES_AT_ONCE = 1 << 22
BYTES_OF_COUNTS = 64 << 20
"""Counts of rules by time that are held, at most; one stretch of time has them of all rules."""
MOST_SAMPLES = 1 << 22
MOST_SCORES = 1 << 20

_NO_BUCKET = np.iinfo(np.int64).min

Number = TypeVar("Number", np.int32, np.int64)


@dataclass(frozen=True, slots=True)
class TallySettings:
    """What is wanted of an overview. Made to be pickled.

    time      the field that tells an event's time
    width     seconds in a stretch of time; None to let the history choose
    samples   events to show for each rule
    """

    time: Path | None = None
    width: int | None = None
    samples: int = 5


class Tally:
    """Takes the events of one partition. `fields` are those to find the cells of."""

    def __init__(self, rules: Snapshot, settings: TallySettings) -> None:
        self.rejects = 0
        self.fields: list[Path] = rules.fields
        self._rules = rules
        self._samples_wanted = settings.samples > 0
        self._time = settings.time
        self._tested = frozenset(self.fields)
        self._seen = {path: FieldSummary() for path in self.fields}
        if self._time is not None and self._time not in self._tested:
            self.fields = [*self.fields, self._time]
        self._hits = np.zeros(rules.count, np.int64)
        self._totals = {EVENTS: 0, MATCHED: 0, MATCHES: 0}
        self._by_time = _ByTime(rules.count, settings.width)
        self._scores = _Scores()
        self._samples = Samples(rules.count, settings.samples)

    def add(self, events: EventBatch, places: Longs, texts: RowTexts) -> Iterator[pa.RecordBatch]:
        """Note a batch whose events stand at these places, ascending; what has become too much is put out."""
        tested = self._only_tested(events)
        add_events(self._seen, tested)
        hashes = event_hashes(tested) if self._samples_wanted else np.empty(0, np.int64)
        seconds = self._seconds(events)
        first = 0
        for found in self._rules.match_slices(tested, MATCHES_AT_ONCE):
            last = first + len(found.per_event)
            self._note(found)
            self._by_time.add(
                None if seconds is None else (seconds[0][first:last], seconds[1][first:last]), found
            )
            if self._samples_wanted:
                row = np.repeat(np.arange(first, last), found.per_event)
                self._samples.add(found.rule, row, hashes, places, texts)
            first = last
            yield from self._too_much()

    def _only_tested(self, events: EventBatch) -> EventBatch:
        if len(events.columns) <= len(self._tested) and self._tested.issuperset(events.columns):
            return events
        columns = {path: column for path, column in events.columns.items() if path in self._tested}
        return EventBatch(events.length, columns)

    def _seconds(self, events: EventBatch) -> tuple[Flags, Longs] | None:
        """Which events have a time, and what it is; None when no time is asked for."""
        if self._time is None:
            return None
        known = np.zeros(events.length, np.bool_)
        seconds = np.zeros(events.length, np.int64)
        column = events.columns.get(self._time)
        if column is not None:
            rows, found = seconds_of(column)
            known[rows] = True
            seconds[rows] = found
        return known, seconds

    def _note(self, found: BatchMatches) -> None:
        self._hits += np.bincount(found.rule, minlength=len(self._hits))
        self._totals[EVENTS] += len(found.per_event)
        self._totals[MATCHED] += int(np.count_nonzero(found.per_event))
        self._totals[MATCHES] += len(found.rule)
        if found.score is not None:
            self._scores.add(found.rule, found.score)

    def _too_much(self) -> Iterator[pa.RecordBatch]:
        if self._by_time.bytes > BYTES_OF_COUNTS:
            yield from self._by_time.take()
        if self._samples.noted > MOST_SAMPLES:
            yield from self._sample_rows()
        if self._scores.noted > MOST_SCORES:
            yield from self._scores.take()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left at the end of the partition."""
        rules = np.flatnonzero(self._hits)
        yield fact_rows(HITS, rules, number=self._hits[rules])
        yield from self._by_time.take()
        yield from self._scores.take()
        yield from self._sample_rows()
        for what, number in {**self._totals, REJECTS: self.rejects}.items():
            yield fact_rows(TOTAL, what, number=number)
        for number, seen in enumerate(self._seen.values()):
            if seen.present:
                yield fact_rows(SEEN, number, text=[seen.to_json()])

    def _sample_rows(self) -> Iterator[pa.RecordBatch]:
        chosen = self._samples.take()
        yield fact_rows(SAMPLE, chosen.rule, key=chosen.hash, place=chosen.place)
        once, first = np.unique(chosen.hash, return_index=True)
        texts = [chosen.texts[each] for each in once.tolist()]
        yield fact_rows(EVENT, key=once, place=chosen.place[first], text=texts)


class _ByTime:
    """Counts by stretches of time: of every rule, and of all.

    per_rule   for each bucket int32[rules]
    totals     for each bucket: events, events with a match, matches
    """

    def __init__(self, rules: int, width: int | None) -> None:
        self._rules = rules
        self._is_chosen = width is not None
        self._width = WIDTHS[0] if width is None else width
        self._per_rule: dict[int, Ints] = {}
        self._totals: dict[int, Longs] = {}
        self._span: tuple[int, int] | None = None

    @property
    def bytes(self) -> int:
        return 4 * self._rules * len(self._per_rule)

    def add(self, seconds: tuple[Flags, Longs] | None, found: BatchMatches) -> None:
        """Note the matches of events of which it is known which have a time, and what it is."""
        if seconds is None or not seconds[0].any():
            return
        known, second = seconds
        self._make_room(int(second[known].min()), int(second[known].max()))
        bucket = np.where(known, bucket_numbers(second, self._width), _NO_BUCKET)
        numbers, slot = np.unique(bucket, return_inverse=True)
        slot_of_match = np.repeat(
            slot.astype(np.int16 if len(numbers) < 1 << 15 else np.int64), found.per_event
        )
        ordered = found.rule[np.argsort(slot_of_match, kind="stable")] if len(numbers) > 1 else found.rule
        ends = np.cumsum(np.bincount(slot_of_match, minlength=len(numbers)))
        events = np.bincount(slot, minlength=len(numbers))
        matched = np.bincount(slot[found.per_event > 0], minlength=len(numbers))
        for place, number in enumerate(numbers.tolist()):
            if number == _NO_BUCKET:
                continue
            some = ordered[ends[place - 1] if place else 0 : ends[place]]
            totals = self._totals.setdefault(number, np.zeros(3, np.int64))
            totals += (events[place], matched[place], len(some))
            if len(some):
                counts = self._per_rule.setdefault(number, np.zeros(self._rules, np.int32))
                counts += np.bincount(some, minlength=self._rules).astype(np.int32)

    def _make_room(self, first: int, last: int) -> None:
        """Widen the buckets when there would be too many of them."""
        if self._is_chosen:
            return
        if self._span is not None:
            first, last = min(first, self._span[0]), max(last, self._span[1])
        self._span = first, last
        width = width_for(first, last, self._width)
        if width == self._width:
            return
        factor = width // self._width
        self._per_rule, self._totals = _widened(self._per_rule, factor), _widened(self._totals, factor)
        self._width = width

    def take(self) -> Iterator[pa.RecordBatch]:
        """All counts, which are forgotten here."""
        for number, counts in self._per_rule.items():
            rules = np.flatnonzero(counts)
            start = bucket_start(number, self._width)
            yield fact_rows(
                BUCKET, rules, key=start, place=self._width, number=counts[rules].astype(np.int64)
            )
        for number, totals in self._totals.items():
            what = np.array([EVENTS, MATCHED, MATCHES], np.int32)
            yield fact_rows(
                TIME, what, key=bucket_start(number, self._width), place=self._width, number=totals
            )
        self._per_rule, self._totals = {}, {}


def _widened(counts: dict[int, NDArray[Number]], factor: int) -> dict[int, NDArray[Number]]:
    """The counts by buckets that are so many times as wide."""
    wide: dict[int, NDArray[Number]] = {}
    for number, each in counts.items():
        wide[number // factor] = each + wide[number // factor] if number // factor in wide else each
    return wide


class _Scores:
    """How often each rule had each score: `key` is the rule and the score's code in one number."""

    def __init__(self) -> None:
        self._keys: list[Longs] = []
        self._counts: list[Longs] = []
        self.noted = 0

    def add(self, rule: Ints, score: Doubles) -> None:
        has_score = ~np.isnan(score)
        if not has_score.any():
            return
        codes = score_codes(score[has_score])
        keys, counts = np.unique(rule[has_score].astype(np.int64) * CODES + codes, return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        self.noted += len(keys)

    def take(self) -> Iterator[pa.RecordBatch]:
        """All counts, which are forgotten here."""
        if not self._keys:
            return
        keys, place = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, place, np.concatenate(self._counts))
        rule, code = np.divmod(keys, CODES)
        yield fact_rows(SCORE, rule, key=code, number=counts)
        self._keys, self._counts, self.noted = [], [], 0
