"""The steps of a plan as Spark's stateful processors.

Each call is for one bucket and one batch. State is written before anything is put out; what is written in a
task that fails is undone by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import choice
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.datalog.spark.stream.bucket_journal import Head
from tocsin.errors import TocsinError, UsageError

if TYPE_CHECKING:
    from tocsin.datalog.spark.stream.buckets import Bucket
    from tocsin.datalog.spark.stream.initial_facts import Setting
    from tocsin.datalog.spark.stream.plan_steps import Step
    from tocsin.datalog.spark.stream.step_rows import Moved

HELD = 2_000_000
"""A worker keeps buckets of so many facts in memory for the next batch."""


class Stepping(StatefulProcessor):
    """A step of the plan that does some `work`; `following` is the next one, None behind the last.

    `ttl` has the time to live of relations, in milliseconds.
    """

    def __init__(self, setting: Setting, work: str, following: Step | None, ttl: Mapping[str, int]) -> None:
        self._setting = setting
        self._work = work
        self._following = following
        self._ttl = dict(ttl)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        from tocsin.datalog.spark.stream.plan_steps import Router

        self._handle = handle
        self._store = _Stored(handle, self._setting.mark)
        self._router = Router(self._following)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Make the changes of a bucket."""
        from tocsin.datalog.spark.stream.plan_steps import PASS, unpack

        came = unpack(row.rows for row in rows)
        return self._sent(came) if key[0] == PASS else self._changed(key, came, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Let facts go whose time is over, unless the batch has changed that."""
        return self._changed(key, [], timerValues)

    def close(self) -> None:
        """The buckets stay, for the next batch."""

    def _changed(self, key: tuple[int, int], changes: list[Moved], timer: TimerValues) -> Iterator[Row]:
        watermark = timer.getCurrentWatermarkInMs()
        bucket = self._held(*key)
        moved = bucket.change(self._store, changes, watermark)
        end = bucket.contents.next_end
        if end is not None:
            self._wake(end, watermark)
        return self._sent(moved)

    def _held(self, unit: int, bucket: int) -> Bucket:
        """What this worker has of a bucket."""
        from tocsin.datalog.spark.stream.bucket_contents import contents_of
        from tocsin.datalog.spark.stream.buckets import Bucket

        key = (self._setting, self._work, unit, bucket)
        found = _buckets.pop(key, None)
        if found is None:
            found = Bucket(contents_of(self._setting, self._work, unit, bucket, self._ttl))
        _make_room()
        _buckets[key] = found
        return found

    def _wake(self, end: int, watermark: int) -> None:
        """Have Spark call when the watermark has come so far; timers that are due already are listed, too."""
        to_come = [moment for moment in self._handle.listTimers() if moment > watermark]
        if not to_come or end < min(to_come):
            self._handle.registerTimer(end)

    def _sent(self, rows: Iterable[Moved]) -> Iterator[Row]:
        return (_out(*packed) for packed in self._router.pack(rows))


class _Stored:
    """The journal of the bucket at hand in Spark's store: bucket_journal.Store."""

    def __init__(self, handle: StatefulProcessorHandle, mark: str) -> None:
        columns = "token string, first int, end int, kept bigint, added bigint"
        lists = "marks array<string>, before array<string>, tail array<string>"
        self._head = handle.getValueState("head", f"{columns}, {lists}, program string")
        self._pieces = handle.getMapState("pieces", "number int", "text string")
        self._mark = mark

    def head(self) -> Head | None:
        stored = self._head.get()
        if stored is None:
            return None
        *head, mark = stored
        if mark != self._mark:
            raise UsageError("this checkpoint was written by another program: start with an empty one")
        return Head._make(head)

    def set_head(self, head: Head) -> None:
        self._head.update((*head, self._mark))

    def piece(self, number: int) -> str:
        stored = self._pieces.getValue((number,))
        if stored is None:
            raise TocsinError("the state lacks a part of a bucket: the checkpoint is damaged")
        return str(stored[0])

    def set_piece(self, number: int, text: str) -> None:
        self._pieces.updateValue((number,), (text,))

    def remove_piece(self, number: int) -> None:
        self._pieces.removeKey((number,))


_out: Any = Row("unit", "bucket", "rows")
"""Makes a row that leaves a step."""

_buckets: dict[tuple[Setting, str, int, int], Bucket] = {}
"""The buckets that this worker has."""


def _make_room() -> None:
    """Give up buckets while there are too many facts in them; a worker outlives a query, and may see many.

    Any of them: every batch goes through all buckets, so that the one used longest ago comes next.
    """
    taken = sum(bucket.contents.size for bucket in _buckets.values())
    while taken > HELD:
        taken -= _buckets.pop(choice(list(_buckets))).contents.size
