"""What runs in a Spark worker: batches of events in, batches of matches out, both of bounded size.

    shipped batch ──> portions ──> cells ──> numbers of rules ──> rows, cut by their bytes

How many rules an event matches is not known before, and may be all of them. So a portion starts
small and grows or shrinks by what the one before it gave, and rows go out before they fill the
memory of this process or of the Java process that reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from tocsin.errors import EventError
from tocsin.events.arrow import batch_of_table
from tocsin.events.cells import EventBatch
from tocsin.monitor.index import ROWS_AT_ONCE, Index
from tocsin.spark.columns import Layout
from tocsin.spark.shipping import ShippedIndex

MATCHES_AIMED_AT = 1 << 20
"""Matches that a portion is meant to give."""
MATCHES_AT_FIRST = 1 << 25
"""Matches that the first portion may give, if all rules match all of its events."""
FEWEST_EVENTS = 64
EVENTS_AT_FIRST = 1_024
BYTES_AT_ONCE = 16 << 20
"""Bytes in a batch of results, but for a single row that is larger."""
FIXED_BYTES = 16
"""What a row takes beside its rule's id and the kept columns."""


def match_batches(
    shipped: ShippedIndex, layout: Layout, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The matches of the events in `batches`: the kept columns, rule, score."""
    index = shipped.open()
    id_bytes = _id_bytes(index)
    size = max(FEWEST_EVENTS, min(EVENTS_AT_FIRST, MATCHES_AT_FIRST // max(1, len(index))))
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            portion = batch.slice(start, size)
            found = index.match_cells(_cells(index, layout, portion))
            events = np.repeat(np.arange(portion.num_rows, dtype=np.int64), found.per_event)
            weights = FIXED_BYTES + id_bytes[found.rule] + _kept_bytes(layout, portion)[events]
            for first, last in cuts(weights, BYTES_AT_ONCE):
                yield _result(index, layout, portion, events[first:last], found.rule[first:last])
            start += portion.num_rows
            size = next_size(size, portion.num_rows, len(events))


def next_size(size: int, rows: int, matches: int) -> int:
    """How many events to take next, when `rows` of them gave `matches`."""
    wanted = MATCHES_AIMED_AT * rows // max(1, matches)
    return max(FEWEST_EVENTS, min(wanted, 4 * size, ROWS_AT_ONCE))


def cuts(weights: NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Runs of places whose weights add up to at most `limit`, as long as can be; one place at least."""
    ends = np.cumsum(weights)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield first, last
        first = last


def row_bytes(column: pa.Array) -> NDArray[np.int64]:
    """About how many bytes each value of a column takes."""
    if pt.is_null(column.type):
        return np.zeros(len(column), np.int64)
    if pt.is_string(column.type) or pt.is_large_string(column.type) or pt.is_binary(column.type):
        lengths: NDArray[np.int64] = pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
        return lengths
    try:
        return np.full(len(column), -(-column.type.bit_width // 8), np.int64)
    except ValueError:  # of no fixed width: lists, structs and maps
        return np.array([column.slice(row, 1).nbytes for row in range(len(column))], np.int64)


def _id_bytes(index: Index) -> NDArray[np.int64]:
    every = np.arange(len(index), dtype=np.int32)
    return row_bytes(index.rows_of(np.zeros(len(every), np.int64), every).column("rule"))


def _kept_bytes(layout: Layout, portion: pa.RecordBatch) -> NDArray[np.int64]:
    total = np.zeros(portion.num_rows, np.int64)
    for column, _ in layout.kept:
        total += row_bytes(portion.column(column))
    return total


def _cells(index: Index, layout: Layout, portion: pa.RecordBatch) -> EventBatch:
    """The events as cells, under the names that rules use."""
    columns = [portion.column(column) for column, _ in layout.tested]
    if not columns:
        return EventBatch(portion.num_rows, {})
    table = pa.RecordBatch.from_arrays(columns, names=[name for _, name in layout.tested])
    try:
        return batch_of_table(table, index.fields)
    except EventError as error:
        raise EventError(error.reason) from None  # rows have no numbers on Spark


def _result(
    index: Index,
    layout: Layout,
    portion: pa.RecordBatch,
    events: NDArray[np.int64],
    rules: NDArray[np.int32],
) -> pa.RecordBatch:
    found = index.rows_of(events, rules)
    places = pa.array(events)
    columns = [portion.column(column).take(places) for column, _ in layout.kept]
    kept = [portion.schema.field(column).with_name(name) for column, name in layout.kept]
    schema = pa.schema([*kept, found.schema.field("rule"), found.schema.field("score")])
    return pa.RecordBatch.from_arrays([*columns, found.column("rule"), found.column("score")], schema=schema)
