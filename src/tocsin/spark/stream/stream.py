"""ts.stream: events past rules that may change, into sinks, for as long as it is wanted."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time as clock
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tocsin.errors import RuleError, TocsinError, TocsinWarning, UsageError
from tocsin.printable import first_few, number_of
from tocsin.spark.failures import reason_of
from tocsin.spark.file_urls import to_write
from tocsin.spark.session import session as running_session
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.checkpoint import Checkpoint
from tocsin.spark.stream.match_columns import ALERTS, DICTIONARY, Wanted, alert_schema
from tocsin.spark.stream.schemes import sink_of, source_of
from tocsin.storage import temporary_folder
from tocsin.syntax import parse_duration

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

    from tocsin.conditions.live import Preparation
    from tocsin.rules import Trigger
    from tocsin.spark.sinks.folder_sink import FolderSink
    from tocsin.spark.stream.micro_batch import BatchReport, BatchRunner
    from tocsin.spark.stream.rule_history import RuleFiles, RuleWatch
    from tocsin.spark.stream.rule_version import RuleVersion
    from tocsin.spark.stream.source import Source

PathLike = str | os.PathLike[str]

ENOUGH_EVENTS = 1_000
"""After so many events a field that none of them has had is worth a warning."""
_COMMIT_SECONDS = 10.0
_LOOK_SECONDS = 0.05


class Listener(Protocol):
    """Who is told what happens to a stream, from the thread that does the batches."""

    def batch(self, report: BatchReport) -> None:
        """A batch is done."""

    def refused(self, errors: Sequence[TocsinError]) -> None:
        """The rules have changed, and cannot be taken; the version before goes on."""
        shown = "\n".join(map(str, errors))
        self.warn(f"the rules have changed and are refused: {shown}")

    def warn(self, text: str) -> None:
        """Something is odd."""
        warnings.warn(text, TocsinWarning, stacklevel=2)


class Warnings(Listener):
    """Tells by Python's warnings, and nothing of batches."""

    def batch(self, report: BatchReport) -> None:
        """Nothing is told."""


class Stream:
    """A stream that runs until it is stopped, fails, or has seen all there is (`once`)."""

    def __init__(
        self,
        query: StreamingQuery,
        runner: BatchRunner,
        rules: RuleWatch,
        checkpoint: Checkpoint,
        closing: Sequence[Callable[[], None]],
        lines: Sequence[str],
    ) -> None:
        self.query = query
        """Spark's own handle."""
        self._runner = runner
        self._rules = rules
        self._checkpoint = checkpoint
        self._closing = closing
        self._lines = lines
        self._stopped = False
        self._is_finished = False

    @property
    def checkpoint(self) -> Path:
        """The folder that it can be started again from."""
        return self._checkpoint.folder

    @property
    def version(self) -> int:
        """The version of the rules that was taken up last."""
        return 0 if self._rules.latest is None else self._rules.latest.version

    @property
    def is_active(self) -> bool:
        """Whether it runs."""
        return bool(self.query.isActive)

    def explain(self) -> str:
        """What goes where, and what is promised."""
        return "\n".join(self._lines)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it ends, or so many seconds; whether it has ended. Raises why it failed, if it did."""
        try:
            ended = self._wait_for(seconds)
        except (PySparkException, Py4JError, OSError) as error:
            self._finish()
            if self._stopped:
                return True
            raise self._failure(error) from error
        if ended:
            self._finish()
        return bool(ended)

    def stop(self, *, at_once: bool = False) -> None:
        """End it, after the batch at work, or at once; then that batch is done again at the next start."""
        self._stopped = True
        with contextlib.suppress(PySparkException, Py4JError, OSError):
            if not at_once:
                self._runner.stop_after_batch()
                self._wait_for_commit()
            self.query.stop()
        self._finish()

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been through; for tests and notebooks."""
        try:
            self.query.processAllAvailable()
        except (PySparkException, Py4JError, OSError) as error:
            raise self._failure(error) from error

    def _wait_for(self, seconds: float | None) -> bool:
        """Spark waits for whole seconds only, and not to be interrupted meanwhile."""
        deadline = None if seconds is None else clock.monotonic() + seconds
        while self.query.isActive:
            if deadline is not None and clock.monotonic() >= deadline:
                return False
            clock.sleep(_LOOK_SECONDS)
        return self.query.awaitTermination(1) is not False

    def _wait_for_commit(self) -> None:
        """Give Spark the time to note that the last batch is done, or it would be done again."""
        last = self._runner.last
        deadline = clock.monotonic() + _COMMIT_SECONDS
        while last is not None and not self._checkpoint.is_done(last) and self.query.isActive:
            if clock.monotonic() > deadline:
                return
            clock.sleep(0.01)

    def _finish(self) -> None:
        """Close what is open, once: whoever waits and whoever stops it come by here."""
        if not self._is_finished:
            self._is_finished = True
            for close in self._closing:
                close()

    def _failure(self, error: Exception) -> TocsinError:
        if not isinstance(error, PySparkException):  # nobody answers
            return TocsinError("the Java process of Spark has ended; a new process can go on with the stream")
        known = self._runner.failure
        if isinstance(known, TocsinError):
            return known
        return TocsinError(f"the stream has stopped: {reason_of(str(known or error))}")


def stream(
    source: DataFrame | str,
    rules: PathLike | Sequence[PathLike],
    sink: str | Sink | Sequence[str | Sink],
    *,
    checkpoint: PathLike | None = None,
    key: str | None = None,
    time: str | None = None,
    keep: Sequence[str] = (),
    rejects: PathLike | None = None,
    every: str | None = None,
    once: bool = False,
    learn: bool = False,
    session: SparkSession | None = None,
    preparation: Preparation | None = None,
    listener: Listener | None = None,
) -> Stream:
    """Start a stream: match the events of a source as they come, and send alerts into one or more sinks.

    `source` is a streaming DataFrame or a URI, `sink` a URI or several (schemes.py).
    `rules` are files or folders, or a saved index; they are looked at before every batch, and a new version
    is taken up without a restart, or refused when it is broken.

    `checkpoint` is a folder that the driver and all workers reach: a stream that was stopped or killed goes
    on from there, exactly once into folders and PostgreSQL. Without one it stands beside the first folder
    among the sinks, as NAME.checkpoint.

    `key` and `time` name fields of the events, as conditions write them; without them an event is known by
    its place in the source, and its time is that of its batch. `keep` names top-level fields that alerts
    carry. Records that are no events go to the folder `rejects`, in the checkpoint without one.

    With `learn` the words of each batch's documents, in the fields that free text asks, are counted into the
    dictionaries that the next batch is scored with; alerts have the version of those of their batch as
    `dictionary`. They begin with those of `preparation`, and then with what the checkpoint has.

    `every` ('5 seconds') says how often to look for events; `once` ends when all that is there has been
    through. `preparation` is for free text (conditions/live/build_settings.py). Raises UsageError, InputError
    or RuleErrors when something is wrong before it starts.
    """
    from tocsin.conditions.live import Preparation
    from tocsin.spark.sinks.folder_sink import FolderSink
    from tocsin.spark.stream.micro_batch import BatchRunner
    from tocsin.spark.stream.rule_history import RuleFiles, RuleWatch
    from tocsin.spark.stream.source import TALLY_PARAM, Tally
    from tocsin.spark.stream.word_history import WordHistory
    from tocsin.warmup import is_warm, warm_up

    if once and every is not None:
        raise UsageError("once and every do not go together: once looks one time")
    pace = None if every is None else milliseconds_of(every)
    if not is_warm():
        warm_up()
    wanted = _wanted(key, time, keep, learn)
    sinks = _sinks(sink)
    origin = source_of(source)
    if session is None:
        session = source.sparkSession if isinstance(source, DataFrame) else running_session()
    place = Checkpoint(_checkpoint_folder(checkpoint, sinks))
    dropped = FolderSink(Path(rejects or place.folder / "rejects").absolute(), "jsonl")
    _check_apart(origin, sinks, dropped, place.folder)
    told = _Told(listener or Warnings(), place.folder / "refused.jsonl", origin, is_told_at_end=once)
    stream_id = place.open(_identity(origin, sinks, wanted, learn))
    try:
        settings = preparation or Preparation.of()
        files = RuleFiles(_paths(rules), settings)
        has_begun = place.last_record() is not None
        words = WordHistory(place.words, settings.dictionaries, has_begun=has_begun) if learn else None
        check = partial(_checked, origin, wanted, files if learn else None)
        watched = RuleWatch(
            files, place.rules, check, told.refused, joins=_no_joins if learn else origin.joins
        )
        schema = alert_schema(origin.carried, check(watched.start()), learns=learn)
        for each in (*sinks, dropped):
            each.open(session, stream_id, schema)
        tally = session.sparkContext.accumulator(Tally(), TALLY_PARAM)
        runner = BatchRunner(origin, watched, wanted, sinks, dropped, place, tally, told.batch, words)
        query = _start(session, origin, runner, place, pace, once)
    except BaseException:
        place.close()
        raise
    told.warn_of_passed_over()
    lines = _explained(origin, sinks, dropped, place, wanted, files.paths, watched)
    if words is not None:
        lines.append(f"learning    from each batch, dictionary version {words.latest}")
    closing = [told.finish, *(each.close for each in (*sinks, dropped)), place.close]
    return Stream(query, runner, watched, place, closing, lines)


def milliseconds_of(every: str) -> int:
    """The time from one look to the next, as exactly as Spark counts; UsageError when it is none."""
    try:
        length = parse_duration(every, "it", "5 seconds")
        if length % 1_000:
            raise ValueError("it is a whole number of milliseconds")
    except ValueError as error:
        raise UsageError(f"every: {error}") from error
    return length // 1_000


def _start(
    session: SparkSession,
    source: Source,
    runner: BatchRunner,
    checkpoint: Checkpoint,
    pace: int | None,
    once: bool,
) -> StreamingQuery:
    try:
        writer = (
            source.stream(session, checkpoint.folder)
            .writeStream.foreachBatch(runner)
            .option("checkpointLocation", to_write(checkpoint.spark))
        )
        if once:
            writer = writer.trigger(availableNow=True)
        elif pace is not None:
            writer = writer.trigger(processingTime=f"{pace} milliseconds")
        return writer.start()
    except (PySparkException, Py4JError, ValueError) as error:
        raise TocsinError(f"the stream does not start: {reason_of(str(error))}") from error


def _no_joins(_trigger: Trigger) -> bool:
    """A stream that learns takes no triggers that compare rows: their documents are not counted."""
    return False


def _checked(
    source: Source, wanted: Wanted, learning: RuleFiles | None, rules: RuleVersion
) -> Sequence[StructField]:
    """What the source says of a version; UsageError when nothing can be learnt from there on."""
    saved = None if learning is None else learning.saved_index()
    base = rules.open().version.texts if saved is not None else None
    if base is not None and (base.is_counted().any() or (base.words.idf != 0).any()):
        raise UsageError(
            f"{saved} says how much words weigh and not in how many documents they are, so nothing can be"
            " learnt from there on: give the rules, with their history or dictionaries"
        )
    return source.check(wanted, rules)


def _wanted(key: str | None, time: str | None, keep: Sequence[str], learn: bool) -> Wanted:
    from tocsin.conditions.language import field_named

    if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
        raise UsageError("keep takes a list of field names")
    for name in keep:
        if name.lower() in ALERTS.names or (learn and name.lower() == DICTIONARY.name):
            raise UsageError(f"cannot keep a field named {name!r}: alerts have their own {name.lower()}")
    if len({name.lower() for name in keep}) < len(keep):
        raise UsageError("keep names a field twice")
    return Wanted(
        None if key is None else field_named(key), None if time is None else field_named(time), tuple(keep)
    )


def _sinks(given: str | Sink | Sequence[str | Sink]) -> list[Sink]:
    listed = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if not listed:
        raise UsageError("a stream needs at least one sink")
    sinks = [sink_of(each) if isinstance(each, str) else each for each in listed]
    if len({json.dumps(each.identity(), sort_keys=True) for each in sinks}) < len(sinks):
        raise UsageError("the same sink is given twice")
    return sinks


def _paths(rules: PathLike | Sequence[PathLike]) -> list[str]:
    listed = [rules] if isinstance(rules, str | os.PathLike) else list(rules)
    if not listed:
        raise UsageError("a stream needs rules: files or folders, or a saved index")
    return [os.fspath(each) for each in listed]


def _checkpoint_folder(given: PathLike | None, sinks: Sequence[Sink]) -> Path:
    from tocsin.spark.sinks.console_sink import ConsoleSink

    if given is not None:
        return Path(given)
    for folder in _folders(sinks):
        return folder.with_name(f"{folder.name}.checkpoint")
    if all(isinstance(sink, ConsoleSink) for sink in sinks):
        return temporary_folder("checkpoint")
    raise UsageError("without a folder among the sinks a checkpoint is needed: a folder for what is done")


def _folders(sinks: Sequence[Sink]) -> list[Path]:
    from tocsin.spark.sinks.folder_sink import FolderSink

    return [sink.folder for sink in sinks if isinstance(sink, FolderSink)]


def _check_apart(source: Source, sinks: Sequence[Sink], rejects: FolderSink, checkpoint: Path) -> None:
    """UsageError when what a stream writes would come back to it as events, or to readers as alerts."""
    from tocsin.spark.stream.folder_source import is_seen_in

    written = [*_folders(sinks), rejects.folder, checkpoint]
    for folder in written:
        if source.reads(folder):
            raise UsageError(
                f"{folder} is in the folder that events are read from, {source.name}: what the stream"
                " writes there would be taken for events"
            )
    if rejects.folder == checkpoint / "rejects":
        written.remove(rejects.folder)
    for one, other in permutations(written, 2):
        if is_seen_in(other, one):
            raise UsageError(f"{other} and {one} cannot be the same folder, nor one in the other")


def _identity(source: Source, sinks: Sequence[Sink], wanted: Wanted, learn: bool) -> dict[str, Any]:
    return {
        "source": source.identity(),
        "sinks": [sink.identity() for sink in sinks],
        "key": wanted.key,
        "time": wanted.time,
        "keep": wanted.keep,
        "learn": learn or None,
    }


def _explained(
    source: Source,
    sinks: Sequence[Sink],
    rejects: Sink,
    checkpoint: Checkpoint,
    wanted: Wanted,
    rules: Sequence[str],
    watched: RuleWatch,
) -> list[str]:
    from tocsin.events import path_text

    latest = watched.latest
    known = "" if latest is None else f", version {latest.version}: {number_of(latest.rules, 'rule')}"
    return [
        f"events      {source.name}",
        f"rules       {', '.join(rules)}{known}",
        *(
            f"alerts      {sink.name}, {'exactly' if sink.exactly_once else 'at least'} once"
            for sink in sinks
        ),
        f"rejects     {rejects.name}",
        f"checkpoint  {checkpoint.folder}",
        f"key         {'the place in the source' if wanted.key is None else path_text(wanted.key)}",
        f"time        {'that of the batch' if wanted.time is None else path_text(wanted.time)}",
    ]


class _Told:
    """Tells of batches, of rules that are refused, which it writes down too, and once each of files that are
    passed over and of fields that no event has had."""

    def __init__(self, listener: Listener, refused: Path, source: Source, *, is_told_at_end: bool) -> None:
        self._listener = listener
        self._refused = refused
        self._passed_over = source.passed_over()
        self._looking = threading.Lock()
        self._is_told_at_end = is_told_at_end
        self._events = 0
        self._seen: set[tuple[str, ...]] = set()
        self._rules: RuleVersion | None = None
        self._told: set[tuple[str, ...]] = set()

    def refused(self, errors: Sequence[TocsinError]) -> None:
        """The rules have changed, and cannot be taken."""
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        with contextlib.suppress(OSError), self._refused.open("a", encoding="utf-8") as lines:
            for error in errors:
                known: dict[str, str | None] = {"time": now, "reason": str(error)}
                if isinstance(error, RuleError):
                    known |= {"reason": error.reason, "rule": error.rule, "place": error.place}
                lines.write(json.dumps(known, ensure_ascii=False) + "\n")
        self._listener.refused(errors)

    def batch(self, report: BatchReport, rules: RuleVersion, seen: int) -> None:
        """A batch is done; `seen` has a bit for each of the rules' fields that some event had."""
        if rules != self._rules or seen:
            fields = rules.open().fields
            self._seen |= {field for place, field in enumerate(fields) if seen >> place & 1}
        self._rules = rules
        before, self._events = self._events, self._events + report.events
        self._listener.batch(report)
        self.warn_of_passed_over()
        if before < ENOUGH_EVENTS <= self._events:
            self._tell()

    def warn_of_passed_over(self) -> None:
        """Tell of the names in a folder of events that Spark passes over, each once."""
        if self._passed_over is not None:
            with self._looking:  # the first look may meet the first batch's
                for text in self._passed_over.new():
                    self._listener.warn(text)

    def finish(self) -> None:
        """No more batches will come."""
        if self._is_told_at_end and self._events > 0:
            self._tell()

    def _tell(self) -> None:
        from tocsin.events import path_text

        if self._rules is None:
            return
        unseen = sorted(set(self._rules.open().fields) - self._seen - self._told)
        self._told |= set(unseen)
        if unseen:
            shown = first_few(list(map(path_text, unseen)))
            self._listener.warn(f"rules name fields that no event so far has had: {shown}")
