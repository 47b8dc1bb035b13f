"""What happens to one micro-batch, in the driver.

    decide: rules and time ──> written down
    found rows ──> throttle ──> alerts ──> each sink
             └──> rejects ──> their folder
    tell ──> purge

A batch that is done again finds what was decided, and every step of it leaves the same behind. As a rule
it is one Spark job, the first sink's. The found rows are kept for further ones when such are to be expected;
else, should there be any, the rows are found again, and are the same.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from tocsin.spark.streaming.checkpoint import BatchRecord, Checkpoint
from tocsin.spark.streaming.found_rows import Wanted, alerts_of, rejects_of
from tocsin.spark.streaming.rule_versions import RuleVersion
from tocsin.spark.streaming.rule_watching import RuleWatch
from tocsin.spark.streaming.sink import Sink
from tocsin.spark.streaming.sinks.folder import FolderSink
from tocsin.spark.streaming.source import Source
from tocsin.spark.streaming.tally import Tally, TallyAccumulator
from tocsin.spark.streaming.throttling import throttled


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of a batch. Its counts may be too high when tasks had to be done again.

    again     whether the batch had been begun before, by a process that was stopped
    """

    batch: int
    version: int
    events: int
    matches: int
    rejects: int
    seconds: float
    again: bool


class StreamStoppedError(Exception):
    """Raised in a batch that begins when the stream is to stop; it will be done when it is started again."""


class BatchRunner:
    """Does batches, one after the other. Spark calls it."""

    def __init__(
        self,
        source: Source,
        rules: RuleWatch,
        wanted: Wanted,
        sinks: Sequence[Sink],
        rejects: Sink,
        checkpoint: Checkpoint,
        tally: TallyAccumulator,
        report: Callable[[BatchReport, RuleVersion, int], None],
    ) -> None:
        self._source = source
        self._rules = rules
        self._wanted = wanted
        self._sinks = sinks
        self._rejects = rejects
        self._checkpoint = checkpoint
        self._tally = tally
        self._report = report
        last = checkpoint.last_record()
        self._last_time = 0 if last is None else last.time
        self._at_work = threading.Lock()
        self._stopping = False
        self._had_rejects = False
        self.last: int | None = None
        self.failure: Exception | None = None

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Do a batch."""
        with self._at_work:
            if self._stopping:
                raise StreamStoppedError
            try:
                self._do(batch, number)
                self.last = number
            except Exception as error:
                self.failure = error
                raise

    def stop_after_batch(self) -> None:
        """Wait for the batch at work, and let no other begin."""
        self._stopping = True
        with self._at_work:
            pass

    def _do(self, batch: DataFrame, number: int) -> None:
        started = time.perf_counter()
        self._source.committed(number)
        record = self._checkpoint.record(number)
        again = record is not None
        if record is None:
            record = self._decide(number)
        rules = self._rules.version(record.version)
        self._tally.value = Tally()
        found = self._source.found(batch, rules, self._wanted.at(record.time), self._tally)
        is_read_again = again or self._is_read_again(record)
        if is_read_again:
            found = found.persist()
        try:
            with self._throttled(found, record) as sent:
                alerts = alerts_of(sent, self._carried, record.version, number)
                for sink in self._sinks:
                    sink.write(alerts, number)
            counted = self._tally.value
            if again or counted.rejects or not counted.tasks:
                # Sinks that have the batch already look at nothing, and so nothing was counted.
                self._rejects.write(rejects_of(found, number), number)
                counted = counted if counted.tasks else self._tally.value
        finally:
            if is_read_again:
                found.unpersist()
        self._had_rejects = counted.rejects > 0
        self._rules.purge(record.version)
        seconds = time.perf_counter() - started
        report = BatchReport(
            number, record.version, counted.events, counted.matches, counted.rejects, seconds, again
        )
        self._report(report, rules, counted.seen)

    def _decide(self, number: int) -> BatchRecord:
        """The rules as they are now, and the time, which never goes back."""
        version = self._rules.current().number
        self._last_time = max(time.time_ns() // 1_000, self._last_time)
        record = BatchRecord(number, version, self._last_time)
        self._checkpoint.decide(record)
        return record

    def _throttled(
        self, found: DataFrame, record: BatchRecord
    ) -> contextlib.AbstractContextManager[DataFrame]:
        """The found rows that are not held back."""
        if not self._rules.has_throttles(record.version):
            return contextlib.nullcontext(found)
        state = self._checkpoint.folder / "throttle"
        return throttled(found, state, record.batch, record.time)

    def _is_read_again(self, record: BatchRecord) -> bool:
        """Whether the found rows are likely to be asked for more than once, and so worth keeping."""
        reads_once = len(self._sinks) == 1 and isinstance(self._sinks[0], FolderSink)
        return not reads_once or self._had_rejects or self._rules.has_throttles(record.version)

    @property
    def _carried(self) -> list[str]:
        return [field.name for field in self._source.carried]
