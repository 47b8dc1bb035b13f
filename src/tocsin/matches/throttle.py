"""Which alerts of a batch are sent, given when others were.

An alert at time t of a rule with a throttle is sent when no alert of its group (the rule, and the value of
its dedup field) was sent before, or the last one was sent at t - throttle or earlier. So an alert whose
time is before the last one sent is not sent. Within a batch, alerts come by their time, and those of one
time as their events stand in the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.matches.kernels.throttle_order import pick_sent
from tocsin.matches.sent_alerts import NOTHING, SCHEMA, last_sent


class Alerts(NamedTuple):
    """Alerts with a throttle, sorted by hash, group, and their order within the group.

    hash       int64[n]   of the group
    group      text[n]
    time       int64[n]   microseconds
    throttle   int64[n]   microseconds
    """

    hash: Longs
    group: pa.LargeStringArray
    time: Longs
    throttle: Longs


class _Open(NamedTuple):
    """The group that the alerts so far have ended in, and which may go on."""

    hash: int
    group: str
    last: int
    throttle: int
    was_sent: bool


class Throttling:
    """Decides about sorted alerts, portion by portion; a group may go on in the next portion."""

    def __init__(self, before: Sequence[pa.RecordBatch], now: int) -> None:
        """What was sent before, as pieces of runs, and the time of the batch that the alerts are of."""
        self._before = before
        self._now = now
        self._open: _Open | None = None
        self._closed: list[pa.RecordBatch] = []

    def decide(self, alerts: Alerts) -> Flags:
        """Which of these alerts are sent."""
        sent = np.zeros(len(alerts.hash), np.bool_)
        if not len(sent):
            return sent
        groups = alerts.group
        starts = _starts(alerts.hash, groups)
        first = np.flatnonzero(starts)
        last = last_sent(self._before, alerts.hash[first], groups.take(pa.array(first)))
        if self._open is not None and groups[0].as_py() == self._open.group:
            last[0] = self._open.last
        else:
            self._close()
        number = np.cumsum(starts, dtype=np.int64) - 1
        pick_sent(number, np.array(alerts.time), np.array(alerts.throttle), last, sent)
        any_sent = np.logical_or.reduceat(sent, first)
        if self._open is not None:
            any_sent[0] |= self._open.was_sent
        throttle = alerts.throttle[np.append(first[1:], len(sent)) - 1]
        done = np.flatnonzero(any_sent[:-1])
        ended = groups.take(pa.array(first[done]))
        self._closed.append(self._entries(alerts.hash[first[done]], ended, last[done], throttle[done]))
        self._open = _Open(
            int(alerts.hash[-1]), groups[-1].as_py(), int(last[-1]), int(throttle[-1]), bool(any_sent[-1])
        )
        return sent

    def entries(self) -> pa.RecordBatch:
        """When alerts of which groups were sent: only those that were sent here. Nothing follows."""
        self._close()
        return pa.concat_batches([NOTHING, *self._closed])

    def _close(self) -> None:
        ended, self._open = self._open, None
        if ended is not None and ended.was_sent:
            self._closed.append(self._entries([ended.hash], [ended.group], [ended.last], [ended.throttle]))

    def _entries(self, hashes: object, groups: object, last: object, throttle: object) -> pa.RecordBatch:
        columns = zip((hashes, groups, last, throttle), SCHEMA.types, strict=False)
        arrays = [pa.array(values, kind) for values, kind in columns]
        written = pa.repeat(pa.scalar(self._now, pa.int64()), len(arrays[0]))
        return pa.RecordBatch.from_arrays([*arrays, written], schema=SCHEMA)


def _starts(hashes: Longs, groups: pa.LargeStringArray) -> Flags:
    """Where another group begins."""
    changes = pc.not_equal(groups[1:], groups[:-1]).to_numpy(zero_copy_only=False)
    return np.concatenate([[True], changes | (hashes[1:] != hashes[:-1])])
