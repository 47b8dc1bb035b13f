"""The day of each event of a history."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import Path
from tocsin.events import EventBatch, EventSource, seconds_of

NO_DAY = np.iinfo(np.int32).min
"""The day of an event whose time is not known."""

_SECONDS_A_DAY = 86_400


class EventDays:
    """Days since 1970, by a field that tells an event's time; and the first and the last day there is."""

    def __init__(self, time: Path | None) -> None:
        self.time = time
        self.first: int | None = None
        self.last: int | None = None

    def of_batch(self, events: EventBatch) -> Ints:
        """The day of each event of a batch."""
        day = np.full(events.length, NO_DAY, np.int32)
        column = None if self.time is None else events.columns.get(self.time)
        if column is None:
            return day
        rows, seconds = seconds_of(column)
        days = (seconds // _SECONDS_A_DAY).astype(np.int32)
        day[rows] = days
        if len(days):
            first, last = int(days.min()), int(days.max())
            self.first = first if self.first is None else min(first, self.first)
            self.last = last if self.last is None else max(last, self.last)
        return day

    def of_rows(self, source: EventSource, rows: Longs) -> Ints:
        """The day of each of these rows of a source, all of which is gone through."""
        day = np.full(len(rows), NO_DAY, np.int32)
        if self.time is None:
            return day
        for portion in source.portions([self.time]):
            days = self.of_batch(portion.events)
            if len(portion.rows):
                place = np.clip(np.searchsorted(portion.rows, rows), 0, len(portion.rows) - 1)
                here = portion.rows[place] == rows
                day[here] = days[place[here]]
        return day
