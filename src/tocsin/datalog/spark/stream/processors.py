"""The steps of a plan as Spark's stateful processors.

Each call is for one bucket and one batch. State is written before anything is put out; what is written in a
task that fails is undone by Spark.
"""

from __future__ import annotations

from abc import abstractmethod
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

from tocsin.errors import TocsinError, UsageError

if TYPE_CHECKING:
    from tocsin.datalog.spark.stream.bucket_journal import Head
    from tocsin.datalog.spark.stream.buckets import Bucket, Contents
    from tocsin.datalog.spark.stream.initial_facts import Setting
    from tocsin.datalog.spark.stream.plan_steps import Step
    from tocsin.datalog.spark.stream.step_rows import Change, Moved

HELD = 2_000_000
"""A worker keeps buckets of so many facts in memory for the next batch."""


class _Stepping(StatefulProcessor):
    """A step of the plan; `following` is the next one, None behind the last."""

    def __init__(self, setting: Setting, following: Step | None) -> None:
        self._setting = setting
        self._following = following

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        from tocsin.datalog.spark.stream.routes import Router

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
        from tocsin.datalog.spark.stream.plan_steps import PASS
        from tocsin.datalog.spark.stream.routes import unpack, unpack_passing

        unit, bucket = key
        packed = (row.rows for row in rows)
        if unit == PASS:
            return self._sent(unpack_passing(packed))
        return self._sent(self._changed(unit, bucket, unpack(packed), timerValues.getCurrentWatermarkInMs()))

    def close(self) -> None:
        """The buckets stay, for the next batch."""

    def _changed(self, unit: int, bucket: int, changes: list[Change], watermark: int) -> list[Moved]:
        return self._held(unit, bucket).change(self._store, changes, watermark)

    def _held(self, unit: int, bucket: int) -> Bucket:
        """What this worker has of a bucket."""
        from tocsin.datalog.spark.stream.buckets import Bucket

        key = (self._setting, type(self).__name__, unit, bucket)
        found = _buckets.pop(key, None) or Bucket(self._contents(unit, bucket))
        _make_room()
        _buckets[key] = found
        return found

    @abstractmethod
    def _contents(self, unit: int, bucket: int) -> Contents:
        """What a worker is to hold of a bucket."""

    def _sent(self, rows: Iterable[Moved]) -> Iterator[Row]:
        return (_out(*packed) for packed in self._router.pack(rows))


class Joining(_Stepping):
    """The units of a level: keyed_stage.py."""

    def _contents(self, unit: int, bucket: int) -> Contents:
        from tocsin.datalog.spark.stream.keyed_stage import Facts

        return Facts(self._setting, self._setting.plan.units[unit], bucket)


class Counting(_Stepping):
    """The counted relations of a level: derivation_counts.py."""

    def _contents(self, unit: int, bucket: int) -> Contents:  # noqa: ARG002
        from tocsin.datalog.spark.stream.derivation_counts import Counts

        return Counts(self._setting.initial)


class Living(_Stepping):
    """Facts that have a time to live: lifetimes.py. `ttl` has it by relation, in milliseconds."""

    def __init__(self, setting: Setting, following: Step | None, ttl: Mapping[str, int]) -> None:
        super().__init__(setting, following)
        self._ttl = dict(ttl)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Let facts go whose time is over, unless the batch has changed that."""
        unit, bucket = key
        return self._sent(self._changed(unit, bucket, [], timerValues.getCurrentWatermarkInMs()))

    def _contents(self, unit: int, bucket: int) -> Contents:  # noqa: ARG002
        from tocsin.datalog.spark.stream.lifetimes import Lives

        return Lives(self._setting.initial, self._ttl)

    def _changed(self, unit: int, bucket: int, changes: list[Change], watermark: int) -> list[Moved]:
        moved = super()._changed(unit, bucket, changes, watermark)
        end = self._held(unit, bucket).contents.next_end
        if end is not None:
            self._wake(end, watermark)
        return moved

    def _wake(self, end: int, watermark: int) -> None:
        """Have Spark call when the watermark has come so far; timers that are due already are listed, too."""
        to_come = [moment for moment in self._handle.listTimers() if moment > watermark]
        if not to_come or end < min(to_come):
            self._handle.registerTimer(end)


class _Stored:
    """The journal of the bucket at hand in Spark's store: journal.Store."""

    def __init__(self, handle: StatefulProcessorHandle, mark: str) -> None:
        columns = "token string, first int, end int, kept bigint, added bigint"
        lists = "marks array<string>, before array<string>, tail array<string>"
        self._head = handle.getValueState("head", f"{columns}, {lists}, program string")
        self._pieces = handle.getMapState("pieces", "number int", "text string")
        self._mark = mark

    def head(self) -> Head | None:
        from tocsin.datalog.spark.stream.bucket_journal import Head

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
