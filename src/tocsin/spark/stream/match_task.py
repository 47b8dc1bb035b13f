"""In a worker: events past the rules, and out come found rows, in batches of bounded size.

    events ──> key, time ──> matches, slice by slice ──> found rows, cut by their bytes
      └──> rejects: no key, no time

Only of events that some rule matches more is looked at than the rules' fields: the kept values, and those
that the texts of alerts and the dedup fields name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql.types import DoubleType, LongType, StringType, TimestampType

from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.conditions.live import Snapshot
from tocsin.conditions.matching import BYTES_OF_ROW, BatchMatches, cuts, row_bytes, score_column
from tocsin.events import EventBatch, Path, json_texts, path_text, plain
from tocsin.spark.match_worker import BYTES_IN_TASK, MATCHES_IN_TASK, keep_freed_memory
from tocsin.spark.stream.alert_values import keys_of, mended, times_of
from tocsin.spark.stream.document_counts import TaskCounter
from tocsin.spark.stream.match_columns import FOUND, KEPT, Wanted
from tocsin.spark.stream.rule_actions import RuleActions
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.source import Tally
from tocsin.spark.stream.word_history import WordVersion, weighed

TIME = pa.timestamp("us", tz="UTC")
_BYTES_OF_OTHERS = 48
"""Of a found row, beside the texts that are counted: times, numbers, offsets."""

Fires = Callable[[Longs, Ints], Flags]
"""Which matches count, given the event's row and the rule's number of each."""


class Events(NamedTuple):
    """Some events of a source, in order.

    cells     the cells of Finder.fields
    place     string[n]: where each stands in the source; its key, unless a field is
    ordinal   string[n]: sorts as the events stand in the source
    columns   by name, what they hold of Finder.columns; JSON texts are marked (kept.JSON)
    others    the source's carried columns, then the kept ones, in the types of the found rows; when None,
              there are no carried ones, and those to keep are JSON texts of `columns`
    teaches   bool[n]: which of them a stream that learns counts the documents of; None: all
    """

    cells: EventBatch
    place: pa.Array
    ordinal: pa.Array
    columns: Mapping[str, pa.Array]
    others: Mapping[str, pa.Array] | None = None
    teaches: Flags | None = None


class Rejected(NamedTuple):
    """A record that is no event."""

    place: str
    ordinal: str
    reason: str
    text: str | None = None


class Finder:
    """Rules, ready to be asked in one task. What it counts is in `tally`; `counter` counts words."""

    def __init__(
        self,
        rules: RuleVersion,
        wanted: Wanted,
        others: pa.Schema,
        words: WordVersion | None = None,
        counter: TaskCounter | None = None,
    ) -> None:
        keep_freed_memory()
        self._rules, self._id_bytes, self._actions = prepared(rules)
        self._matching = self._rules if words is None else weighed(rules, words)
        self._counter = counter
        self._wanted = wanted
        self.carry(others)
        self.tally = Tally(tasks=1)
        asked = [wanted.time] if wanted.time is not None else []
        self.fields: list[Path] = list(dict.fromkeys([*self._rules.fields, *asked]))
        """The fields whose cells events must have."""
        keys = [wanted.key[0]] if wanted.key is not None else []
        self.columns = list(dict.fromkeys([*wanted.keep, *keys, *rules.named]))
        """The top-level columns that events must have, as far as there are such."""

    def carry(self, others: pa.Schema) -> None:
        """Give found rows these columns beside their own: the source's, then the kept ones."""
        self._telling = ["key", "rule", *(name for name in others.names if name not in self._wanted.keep)]
        self._others = pa.schema([field.with_name(self._found_name(field.name)) for field in others])

    @property
    def rule_count(self) -> int:
        """How many rules there are to be asked."""
        return self._rules.count

    def rejected(self, rejects: Iterable[Rejected]) -> Iterator[pa.RecordBatch]:
        """Records that are no events, as found rows."""
        listed = list(rejects)
        self.tally.rejects += len(listed)
        weights = np.array([len(each.text or "") + len(each.place) for each in listed], np.int64)
        for first, last in cuts(weights, BYTES_IN_TASK):
            some = listed[first:last]
            yield self.batch(
                last - first,
                {
                    "reject": pa.array([each.reason for each in some], pa.string()),
                    "raw": pa.array([each.text for each in some], pa.string()),
                    "key": pa.array([each.place for each in some], pa.string()),
                    "ordinal": pa.array([each.ordinal for each in some], pa.string()),
                },
            )

    def rows(self, events: Events, fires: Fires | None = None) -> Iterator[pa.RecordBatch]:
        """The matches of events as found rows, and those of the events that have no key or no time."""
        count = events.cells.length
        wanted = self._wanted
        columns, bad = _readable(events.columns)
        key, time = events.place, np.full(count, wanted.batch_time, np.int64)
        if wanted.key is not None:
            key, unknown = keys_of(columns.get(wanted.key[0]), wanted.key, count)
            bad = unknown | bad
        if wanted.time is not None:
            time, untimed = times_of(events.cells.columns.get(wanted.time), wanted.time, count)
            bad = untimed | bad
        events = events._replace(columns=columns)
        self.tally.events += count - len(bad)
        has = (field in events.cells.columns for field in self._rules.fields)
        self.tally.seen |= sum(found << place for place, found in enumerate(has))
        if bad:
            yield from self.rejected(
                Rejected(events.place[row].as_py(), events.ordinal[row].as_py(), reason)
                for row, reason in sorted(bad.items())
            )
        good = np.ones(count, np.bool_)
        good[list(bad)] = False
        first = 0
        if self._counter is not None:
            self._counter.add(events.cells, good if events.teaches is None else good & events.teaches)
        for found in self._matching.match_slices(events.cells, MATCHES_IN_TASK):
            row = np.repeat(np.arange(first, first + len(found.per_event)), found.per_event)
            first += len(found.per_event)
            keep = good[row]
            if fires is not None:
                keep &= fires(row, found.rule)
            if not keep.all():
                score = None if found.score is None else found.score[keep]
                found, row = BatchMatches(found.rule[keep], found.per_event, score), row[keep]
            self.tally.matches += len(row)
            if len(row):
                yield from self._matches(events, key, time, row, found)

    def _matches(
        self, events: Events, key: pa.Array, time: Longs, row: Longs, found: BatchMatches
    ) -> Iterator[pa.RecordBatch]:
        """Found rows; from here on events are numbered among those that have a match."""
        matched, event = np.unique(row, return_inverse=True)
        taken = pa.array(matched)
        columns = {name: column.take(taken) for name, column in events.columns.items()}
        by_event = {
            "key": key.take(taken),
            "ordinal": events.ordinal.take(taken),
            "time": pa.array(time[matched]).cast(TIME),
            **self._other_columns(events, columns, taken),
        }
        of_event = sum((row_bytes(each) for each in by_event.values()), np.zeros(len(matched), np.int64))
        weights = BYTES_OF_ROW + _BYTES_OF_OTHERS + self._id_bytes[found.rule] + of_event[event]
        for first, last in cuts(weights, BYTES_IN_TASK):
            rule = found.rule[first:last]
            score = None if found.score is None else found.score[first:last]
            places = pa.array(event[first:last])
            yield self.batch(
                last - first,
                {
                    **{name: column.take(places) for name, column in by_event.items()},
                    "rule": self._rules.names.column(rule),
                    "score": score_column(score, last - first),
                    **self._actions.columns(rule, event[first:last], score, columns),
                },
            )

    def _other_columns(
        self, events: Events, columns: Mapping[str, pa.Array], taken: pa.Array
    ) -> dict[str, pa.Array]:
        if events.others is not None:
            return {self._found_name(name): column.take(taken) for name, column in events.others.items()}
        return {
            self._found_name(name): pa.array(json_texts(columns[name]), pa.string())
            for name in self._wanted.keep
            if name in columns
        }

    def _found_name(self, name: str) -> str:
        """The name in found rows of a column that the source carries or the user keeps."""
        return KEPT + name if name in self._wanted.keep else name

    def batch(self, count: int, columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
        """Found rows, null in the columns that are not given; matches get their ids here."""
        schema = pa.schema([*_OWN, *self._others])
        if "rule" in columns:
            told_by = {name: columns[name] for name in self._telling if name in columns}
            columns = {**columns, "alert": alert_ids(told_by)}
        arrays = [
            columns[field.name] if field.name in columns else pa.nulls(count, field.type) for field in schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _readable(columns: Mapping[str, pa.Array]) -> tuple[dict[str, pa.Array], dict[int, str]]:
    """Columns whose texts can be read, and why some rows cannot."""
    readable: dict[str, pa.Array] = {}
    bad: dict[int, str] = {}
    for name, column in columns.items():
        good, wrong = mended(column)
        readable[name] = plain(good, name)
        bad |= {row: reason.format(path_text((name,))) for row, reason in wrong.items()}
    return readable, bad


class Prepared(NamedTuple):
    """A version of the rules, and what found rows need of it; shared by the tasks of a process."""

    version: Snapshot
    id_bytes: Longs
    actions: RuleActions


@lru_cache(maxsize=2)
def prepared(rules: RuleVersion) -> Prepared:
    """Made once in a process for each version."""
    version = rules.open().version
    ids = version.names.column(np.arange(version.count, dtype=np.int32))
    return Prepared(version, row_bytes(ids), RuleActions.of(version))


_ARROW = {StringType: pa.string(), DoubleType: pa.float64(), LongType: pa.int64(), TimestampType: TIME}
_OWN = pa.schema([(field.name, _ARROW[type(field.dataType)]) for field in FOUND])
"""The found rows' own columns."""


# ---- Ids

_BYTES = 16
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)], "S2").view(np.uint16)
"""The two digits of each byte, as they lie in memory."""


def alert_ids(columns: Mapping[str, pa.Array]) -> pa.StringArray:
    """The ids of alerts by the columns that make them what they are; a null adds nothing.

        id = digest(key) xor digest(rule) xor digest of each carried column    128 bits, 32 hexadecimal digits

    A digest depends on the name of the column as well as on the value. So an id depends on what the alert is
    about and on nothing else, neither on the batch nor on the version of the rules: whoever is told twice can
    see that it is the same. A value is digested once in a batch of rows, however many matches it has.
    """
    length = len(next(iter(columns.values())))
    total = np.zeros((length, _BYTES), np.uint8)
    for name, column in columns.items():
        coded = column.dictionary_encode()
        digests = _digests(name, coded.dictionary)
        total ^= digests[coded.indices.fill_null(len(digests) - 1).to_numpy()]
    offsets = np.arange(length + 1, dtype=np.int32) * (2 * _BYTES)
    return pa.StringArray.from_buffers(length, pa.py_buffer(offsets), pa.py_buffer(_HEX[total]))


def _digests(name: str, texts: pa.StringArray) -> Bytes:
    """The digests of texts, and behind them zeros, for null."""
    made = [
        blake2b(text.encode(), digest_size=_BYTES, key=name.encode()).digest() for text in texts.to_pylist()
    ]
    return np.frombuffer(b"".join([*made, bytes(_BYTES)]), np.uint8).reshape(-1, _BYTES)
