"""A rule tried on events of one kind: what satisfies it, the best kept with what is to be shown of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Longs
from tocsin.conditions.language import Path, field_named, print_field
from tocsin.conditions.live import Preparation
from tocsin.events import EventBatch, EventPortion, EventSource, StringCells, time_field
from tocsin.history.overview.overview import index_of
from tocsin.history.trial.event_days import EventDays
from tocsin.history.trial.test_run import Ranking, TestRun
from tocsin.history.trial.tried_rule import READ, WITHOUT, TriedRule
from tocsin.rules import OLD


class _Shown(NamedTuple):
    """What is to be shown of a hit, in the order of the ranking."""

    minus_score: float
    event: int
    texts: tuple[str, ...]


class EventRun:
    """A run under way: what the portions so far gave."""

    def __init__(self, tried: TriedRule, preparation: Preparation, time: Path | None, top: int | None):
        self._tried = tried
        self._rules = index_of(tried.matched_rules(), preparation).version
        self._days = EventDays(time)
        self._top = top
        self._events = self._olds = 0
        self._rejects = 0
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._shown: list[_Shown] = []

    @property
    def fields(self) -> list[Path]:
        """The fields to find the cells of."""
        asked = [] if self._tried.text is None else [self._tried.text.field]
        times = [] if self._days.time is None else [self._days.time]
        olds = [(OLD,)] if self._tried.asks_old else []
        return list(dict.fromkeys([*sorted(self._rules.fields), *asked, *times, *olds]))

    def add(self, portion: EventPortion) -> None:
        """Match a portion, and keep what the ranking needs."""
        self._events += len(portion.rows)
        self._rejects += portion.rejects
        self._olds += count_olds(portion.events)
        day = self._days.of_batch(portion.events)
        found = self._rules.match_cells(portion.events)
        matched = np.repeat(np.arange(len(found.per_event)), found.per_event)
        always = np.full(portion.events.length, self._tried.text is None)
        always[matched[found.rule == WITHOUT]] = True
        is_read = found.rule == READ
        row = matched[is_read]
        score = np.full(len(row), np.nan) if found.score is None else found.score[is_read]
        event = portion.rows[row]
        self._parts.append((event, score, always[row], day[row]))
        minus = np.where(np.isnan(score), 0.0, -score)
        best = np.lexsort((event, minus))[: self._top]
        texts = self._texts(portion, row[best])
        shown = map(_Shown, minus[best].tolist(), event[best].tolist(), texts)
        self._shown = [*self._shown, *shown]
        if self._top is not None:
            self._shown = sorted(self._shown)[: self._top]

    def _texts(self, portion: EventPortion, rows: Longs) -> list[tuple[str, ...]]:
        if self._tried.text is not None:
            return _documents(portion.events, self._tried.text.field, rows)
        return [() if text is None else (text,) for text in portion.texts(rows.tolist())]

    def result(self) -> TestRun:
        """The run as a whole."""
        event, score, always, day = (
            np.concatenate([np.empty(0, kind), *(part[place] for part in self._parts)])
            for place, kind in enumerate((np.int64, np.float64, np.bool_, np.int32))
        )
        texts = [each.texts for each in sorted(self._shown)]
        time = self._days.time
        return TestRun(
            tried=self._tried,
            events=self._events,
            rejects=self._rejects,
            time=None if time is None else print_field(time),
            first_day=self._days.first,
            last_day=self._days.last,
            ranking=Ranking(event, score, always, day, np.empty((len(event), 0), np.int64), texts).sorted(),
            olds=self._olds if self._tried.asks_old else None,
        )


def run_on_events(
    tried: TriedRule,
    source: EventSource,
    preparation: Preparation,
    time: str | None,
    top: int | None,
    advance: Callable[[int], None] | None,
) -> TestRun:
    """Try a rule on all events; `advance` is called with how many are done."""
    run = EventRun(tried, preparation, time_field(source) if time is None else field_named(time), top)
    done = 0
    for portion in source.portions(run.fields, show=() if tried.text is not None else None):
        run.add(portion)
        done += len(portion.rows) + portion.rejects
        if advance is not None:
            advance(done)
    return run.result()


def count_olds(events: EventBatch) -> int:
    """How many events have an object `old`, of a batch in which that was asked for."""
    column = events.columns.get((OLD,))
    return 0 if column is None else len(column.present)


def _documents(events: EventBatch, path: Path, rows: Longs) -> list[tuple[str, ...]]:
    """The texts that some events have in a field."""
    column = events.columns.get(path)
    strings: StringCells | None = None if column is None else column.strings
    if strings is None:
        return [()] * len(rows)
    first = np.searchsorted(strings.row, rows)
    last = np.searchsorted(strings.row, rows, side="right")
    return [
        tuple(strings.texts[code].as_py() for code in strings.code[start:end].tolist())
        for start, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
