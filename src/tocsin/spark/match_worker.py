"""What runs in a Spark worker: batches of events in, batches of matches out, both of bounded size.

    shipped batch ──> cells ──> numbers of rules, slice by slice ──> rows, cut by their bytes

Rows go out before they fill the memory of this process or of the Java process that reads them. A task
matches in the one thread that Spark has given it: it is Spark that shares out the cores.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import Path
from tocsin.conditions.live import Index, Snapshot
from tocsin.conditions.matching import BYTES_OF_ROW, Scores, cuts, match_batch, row_bytes
from tocsin.errors import EventError
from tocsin.events import EventBatch, batch_of_table
from tocsin.spark.event_columns import Layout

BYTES_IN_TASK = 16 << 20
"""Bytes in a batch of results, but for a single row that is larger."""

MATCHES_IN_TASK = 1 << 22
"""Matches that are written out together, at most, unless 64 events have more."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers that the GNU C library gives these settings."""

LARGEST_KEPT = 32 << 20
"""Bytes of one array, at most: a larger one is the system's again when it is freed."""

MOST_KEPT = 64 << 20
"""Free bytes at the end of the heap that a process keeps, at most."""


def match_batches(
    indexes: Iterable[Index], layout: Layout, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The matches of the events in `batches` with all indexes: the kept columns, rule, score."""
    keep_freed_memory()
    versions = [index.version for index in indexes]
    id_bytes = [row_bytes(rules.ids_of(rules.numbers())) for rules in versions]
    for batch in batches:
        for rules, sizes in zip(versions, id_bytes, strict=True):
            yield from _match_batch(rules, sizes, layout, batch)


def _match_batch(
    rules: Snapshot, id_bytes: Longs, layout: Layout, batch: pa.RecordBatch
) -> Iterator[pa.RecordBatch]:
    start = 0
    for found in rules.match_slices(cells_of_batch(rules.fields, layout, batch), MATCHES_IN_TASK):
        portion = batch.slice(start, len(found.per_event))
        events = np.repeat(np.arange(portion.num_rows, dtype=np.int64), found.per_event)
        weights = BYTES_OF_ROW + id_bytes[found.rule] + _kept_bytes(layout, portion)[events]
        for first, last in cuts(weights, BYTES_IN_TASK):
            scores = None if found.score is None else found.score[first:last]
            yield _result(rules, layout, portion, events[first:last], found.rule[first:last], scores)
        start += portion.num_rows


def _kept_bytes(layout: Layout, portion: pa.RecordBatch) -> Longs:
    total = np.zeros(portion.num_rows, np.int64)
    for column, _ in layout.kept:
        total += row_bytes(portion.column(column))
    return total


def cells_of_batch(
    fields: Sequence[Path],
    layout: Layout,
    portion: pa.RecordBatch,
    unreadable: dict[int, str] | None = None,
) -> EventBatch:
    """The events as cells, under the names that rules use; see batch_of_table."""
    columns = [portion.column(column) for column, _ in layout.tested]
    if not columns:
        return EventBatch(portion.num_rows, {})
    table = pa.RecordBatch.from_arrays(columns, names=[name for _, name in layout.tested])
    try:
        return batch_of_table(table, fields, unreadable)
    except EventError as error:
        raise EventError(error.reason) from None  # rows have no numbers on Spark


def _result(
    rules: Snapshot, layout: Layout, portion: pa.RecordBatch, events: Longs, numbers: Ints, scores: Scores
) -> pa.RecordBatch:
    found = match_batch(events, numbers, rules.names, scores)
    places = pa.array(events)
    columns = [portion.column(column).take(places) for column, _ in layout.kept]
    kept = [portion.schema.field(column).with_name(name) for column, name in layout.kept]
    schema = pa.schema([*kept, found.schema.field("rule"), found.schema.field("score")])
    return pa.RecordBatch.from_arrays([*columns, found.column("rule"), found.column("score")], schema=schema)


@cache
def keep_freed_memory() -> None:
    """Let memory that one batch has used be kept for the next: tell the C library, once in a process.

    The arrays of a batch are some megabytes, and the C library would take each from the system and give it
    back. The system then clears every page again, which can take a fourth of the time of matching. A library
    that knows of no such setting is left as it is.
    """
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, LARGEST_KEPT)
        library.mallopt(_TRIM_THRESHOLD, MOST_KEPT)
