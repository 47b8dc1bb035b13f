"""The steps of a plan as Spark's stateful processors.

Each call is for one key and one batch. State is written before anything is put out; what is written in a
task that fails is undone by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.spark.activation.initial import Setting
    from tocsin.spark.activation.keyed import Head, KeyedEngine
    from tocsin.spark.activation.rows import Change, Moved

OUT = "kind string, op string, relation string, tuple array<string>, seq bigint, time bigint, reason string"


class Joining(StatefulProcessor):
    """The units of a level: keyed.py."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        self._state = _StoredKey(handle, self._setting.mark)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Make the changes of a key."""
        unit, text = key
        if _passes(unit):
            return map(_passed, rows)
        engine = _engine(self._setting, unit)
        return map(_row, engine.change(text, self._state, map(_change, rows)))

    def close(self) -> None:
        """The engines stay, for the next batch."""


class Counting(StatefulProcessor):
    """The counted relations of a level: counting.py."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        self._count = _StoredValue(handle, "count", "given boolean, derivations bigint", self._setting.mark)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Count the derivations of a tuple."""
        from tocsin.spark.activation.counting import Count, count_at_start, counted
        from tocsin.spark.activation.texts import fact_of_text

        unit, text = key
        if _passes(unit):
            return map(_passed, rows)
        relation, texts = fact_of_text(text)
        start = count_at_start(self._setting.initial, relation, texts)
        stored = self._count.get()
        before = start if stored is None else Count(*stored)
        after, moved = counted(relation, texts, before, map(_change, rows))
        if after != start:
            self._count.update(after)
        elif stored is not None:
            self._count.clear()
        return map(_row, moved)

    def close(self) -> None:
        """There is nothing to close."""


class Living(StatefulProcessor):
    """Facts that have a time to live: lifetimes.py. `ttl` has it by relation, in milliseconds."""

    def __init__(self, setting: Setting, ttl: Mapping[str, int]) -> None:
        self._setting = setting
        self._ttl = dict(ttl)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        self._handle = handle
        self._life = _StoredValue(handle, "life", "given boolean, until bigint", self._setting.mark)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Make the changes of a fact."""
        from tocsin.spark.activation.lifetimes import Timed

        unit, text = key
        if _passes(unit):
            return map(_passed, rows)
        timed = [Timed(_change(row), row.time) for row in rows]
        return self._lived(text, timed, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Let a fact go whose time is over, unless the batch has changed that."""
        return self._lived(key[1], [], timerValues)

    def close(self) -> None:
        """There is nothing to close."""

    def _lived(self, text: str, timed: list[Any], timers: TimerValues) -> Iterator[Row]:
        from tocsin.spark.activation.lifetimes import Life, life_at_start, lived
        from tocsin.spark.activation.texts import fact_of_text

        relation, texts = fact_of_text(text)
        start = life_at_start(self._setting.initial, relation, texts)
        stored = self._life.get()
        before = start if stored is None else Life(*stored)
        watermark = timers.getCurrentWatermarkInMs()
        after, moved = lived(relation, texts, before, timed, self._ttl[relation], watermark)
        if after.until != before.until:
            if before.until is not None:
                self._handle.deleteTimer(before.until)
            if after.until is not None:
                self._handle.registerTimer(after.until)
        if after != start:
            self._life.update(after)
        elif stored is not None:
            self._life.clear()
        return map(_row, moved)


class _StoredValue:
    """A value in Spark's store, with the mark of the program that it was written for."""

    def __init__(self, handle: StatefulProcessorHandle, name: str, columns: str, mark: str) -> None:
        self._value = handle.getValueState(name, f"{columns}, program string")
        self._mark = mark

    def get(self) -> tuple[Any, ...] | None:
        """The value, None if there is none."""
        stored = self._value.get()
        if stored is None:
            return None
        *value, mark = stored
        if mark != self._mark:
            raise UsageError("this checkpoint was written by another program: start with an empty one")
        return tuple(value)

    def update(self, value: tuple[Any, ...]) -> None:
        """Set the value."""
        self._value.update((*value, self._mark))

    def clear(self) -> None:
        """Have no value any more."""
        self._value.clear()


class _StoredKey:
    """A key's state in Spark's store: keyed.KeyState."""

    def __init__(self, handle: StatefulProcessorHandle, mark: str) -> None:
        self._head = _StoredValue(handle, "head", "head string", mark)
        self._facts = handle.getMapState("facts", "fact string", "given boolean")

    def head(self) -> Head | None:
        from tocsin.spark.activation.keyed import Head

        stored = self._head.get()
        return None if stored is None else Head.from_json(stored[0])

    def facts(self) -> Iterable[str]:
        return (fact for (fact,) in self._facts.keys())  # noqa: SIM118

    def write(self, head: Head, changed: Mapping[str, bool]) -> None:
        for fact, given in changed.items():
            if given:
                self._facts.updateValue((fact,), (True,))
            else:
                self._facts.removeKey((fact,))
        self._head.update((head.to_json(),))

    def is_empty(self) -> bool:
        return not self._facts.exists()

    def clear(self) -> None:
        self._head.clear()
        self._facts.clear()


_out: Any = Row("kind", "op", "relation", "tuple", "seq", "time", "reason")
"""Makes a row that leaves a step."""

_engines: dict[tuple[Setting, int], KeyedEngine] = {}
"""The engines of this worker."""

ENGINES = 64
"""So many a worker keeps; a worker outlives a query, and may see many."""


def _engine(setting: Setting, unit: int) -> KeyedEngine:
    from tocsin.spark.activation.keyed import KeyedEngine

    found = _engines.pop((setting, unit), None)
    if found is None:
        found = KeyedEngine(setting, setting.plan.units[unit])
        while len(_engines) >= ENGINES:
            del _engines[next(iter(_engines))]
    _engines[setting, unit] = found
    return found


def _passes(unit: int) -> bool:
    """Whether rows of this unit go on as they are."""
    from tocsin.spark.activation.steps import PASS

    return unit == PASS


def _change(row: Row) -> Change:
    from tocsin.spark.activation.rows import Change

    return Change(row.kind, row.op, row.port, tuple(row.tuple), row.seq)


def _row(moved: Moved) -> Any:
    return _out(moved.kind, moved.op, moved.relation, list(moved.tuple), moved.seq, None, None)


def _passed(row: Row) -> Any:
    return _out(row.kind, row.op, row.port, row.tuple, row.seq, row.time, row.reason)
