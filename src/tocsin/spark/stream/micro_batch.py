"""What happens to one micro-batch, in the driver.

    decide: rules and time ──> written down
    found rows ──> throttle ──> alerts ──> each sink
             └──> rejects ──> their folder
    learn: the documents' words into the next version of the dictionaries
    tell ──> purge

A batch that is done again finds what was decided, and every step of it leaves the same behind.

With one folder of Parquet as the sink, and no throttles, a batch is one Spark job: the tasks that find the
rows write them to files. Otherwise Spark has the rows, and keeps them where they are to be read again. A
batch that is done again goes this way always, since a part of it may be there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark import Accumulator
from pyspark.sql import DataFrame

from tocsin.errors import TocsinError
from tocsin.spark.sinks.folder_parts import FoundParts
from tocsin.spark.sinks.folder_sink import FolderSink
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.checkpoint import BatchRecord, Checkpoint
from tocsin.spark.stream.document_counts import DocumentCounts
from tocsin.spark.stream.match_columns import Wanted, alerts_of, rejects_of
from tocsin.spark.stream.rule_history import RuleWatch
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.source import Onward, Search, Source, Tally
from tocsin.spark.stream.stream_throttle import throttled
from tocsin.spark.stream.word_history import WordHistory, WordVersion


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of a batch. Its counts may be too high when tasks had to be done again.

    again        whether the batch had been begun before, by a process that was stopped
    dictionary   the version of the dictionaries, of a stream that learns
    """

    batch: int
    version: int
    events: int
    matches: int
    rejects: int
    seconds: float
    again: bool
    dictionary: int | None = None


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
        rejects: FolderSink,
        checkpoint: Checkpoint,
        tally: Accumulator[Tally],
        report: Callable[[BatchReport, RuleVersion, int], None],
        words: WordHistory | None = None,
    ) -> None:
        self._source, self._rules, self._wanted = source, rules, wanted
        self._sinks, self._rejects = sinks, rejects
        self._checkpoint, self._tally, self._report = checkpoint, tally, report
        self._words = words
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
        record = self._checkpoint.record(number)
        again = record is not None
        if record is None:
            record = self._decide(number)
        rules = self._rules.version(record.version)
        self._tally.value = Tally()
        wanted = replace(self._wanted, batch_time=record.time)
        words, counts = self._learning(record, rules)

        def found(onward: Onward) -> DataFrame:
            return self._source.found(batch, Search(rules, wanted, self._tally, onward, words, counts))

        folder = None if again else self._folder_of_parts(record)
        if folder is not None:
            self._write_parts(found, folder, record)
        else:
            self._write_rows(found(Onward()), record, again)
        counted = self._tally.value
        self._had_rejects = counted.rejects > 0
        if self._words is not None and words is not None and counts is not None:
            self._words.learn(words, counts)
            self._words.purge(words.number)
        self._rules.purge(record.version)
        seconds = time.perf_counter() - started
        report = BatchReport(
            number,
            record.version,
            counted.events,
            counted.matches,
            counted.rejects,
            seconds,
            again,
            record.dictionary,
        )
        self._report(report, rules, counted.seen)

    def _decide(self, number: int) -> BatchRecord:
        """The rules as they are now, and the time, which never goes back."""
        version = self._rules.current().number
        self._last_time = max(time.time_ns() // 1_000, self._last_time)
        dictionary = None if self._words is None else self._words.latest
        record = BatchRecord(number, version, self._last_time, dictionary)
        self._checkpoint.decide(record)
        return record

    def _learning(
        self, record: BatchRecord, rules: RuleVersion
    ) -> tuple[WordVersion | None, DocumentCounts | None]:
        """The dictionaries of a batch, and what its documents are counted with."""
        if self._words is None or record.dictionary is None:
            return None, None
        counts = self._words.counting(record.batch, rules.texts) if rules.texts else None
        return self._words.version(record.dictionary), counts

    def _throttled(
        self, found: DataFrame, record: BatchRecord
    ) -> contextlib.AbstractContextManager[DataFrame]:
        """The found rows that are not held back."""
        if not self._rules.has_throttles(record.version):
            return contextlib.nullcontext(found)
        state = self._checkpoint.folder / "throttle"
        return throttled(found, state, record.batch, record.time)

    def _folder_of_parts(self, record: BatchRecord) -> FolderSink | None:
        """The only sink, when tasks can write to it all that they find."""
        only = self._sinks[0] if len(self._sinks) == 1 else None
        if not isinstance(only, FolderSink) or not only.takes_parts:
            return None
        return None if self._rules.has_throttles(record.version) else only

    def _write_parts(
        self, found: Callable[[Onward], DataFrame], folder: FolderSink, record: BatchRecord
    ) -> None:
        """One job, whose tasks write the files."""
        alerts, rejects = folder.draft(record.batch), self._rejects.draft(record.batch)
        if alerts is None or rejects is None:
            raise TocsinError(
                f"{self._checkpoint.folder} knows nothing of batch {record.batch}, and its files are there"
            )
        parts = FoundParts(
            str(alerts.folder),
            str(rejects.folder),
            record.version,
            record.batch,
            folder.json_columns,
            record.dictionary,
        )
        reports = found(parts).collect()
        rejects.settle([report.rejects for report in reports if report.rejects is not None])
        alerts.settle([report.alerts for report in reports if report.alerts is not None])

    def _write_rows(self, found: DataFrame, record: BatchRecord, again: bool) -> None:
        """A job for each sink, and one for rejects when there are any."""
        is_read_again = again or self._is_read_again(record)
        if is_read_again:
            found = found.persist()
        try:
            if record.dictionary is not None:
                found.count()  # sinks that have the batch already look at nothing
            with self._throttled(found, record) as sent:
                alerts = alerts_of(sent, record.version, record.batch, record.dictionary)
                for sink in self._sinks:
                    sink.write(alerts, record.batch)
            counted = self._tally.value
            if again or counted.rejects or not counted.tasks:
                # Sinks that have the batch already look at nothing, and so nothing was counted.
                self._rejects.write(rejects_of(found, record.batch), record.batch)
            if counted.tasks:
                self._tally.value = counted  # and not what was read again for the rejects
        finally:
            if is_read_again:
                found.unpersist()

    def _is_read_again(self, record: BatchRecord) -> bool:
        """Whether the found rows are likely to be asked for more than once, and so worth keeping."""
        reads_once = len(self._sinks) == 1 and isinstance(self._sinks[0], FolderSink)
        return (
            record.dictionary is not None
            or not reads_once
            or self._had_rejects
            or self._rules.has_throttles(record.version)
        )
