"""Slices of event files to chunks: cells to match, columns to keep, and the records that are no events.

The same code reads a slice whether Spark hands it out or a loop does. Memory stays bounded: a chunk
is at most `batch_rows` records, and some 32 MB unless a single one is larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError
from tocsin.events.arrow_tables import batch_of_table
from tocsin.events.cells import Path
from tocsin.events.csv_chunks import Wanted, read_records
from tocsin.events.csv_columns import (
    TEXT,
    ColumnType,
    long_integers,
    typed_column,
)
from tocsin.events.event_chunk import CHUNK_BYTES, EventChunk, line_portions, table_of
from tocsin.events.json_chunks import json_chunks
from tocsin.events.slices import Slice
from tocsin.tables import (
    Parsed,
    Reject,
    RowGroup,
    checked_size,
    column_names,
    open_records,
    parse_lines,
    reading,
    record_lines,
    table_without_views,
)

BATCH_ROWS = 8_192
_BUFFER_BYTES = 2**20
"""Read of a column at a time: a row group may have any size, and is never in memory as a whole."""


def read_slice(
    piece: Slice, fields: Iterable[Path], keep: Sequence[str] = (), batch_rows: int = BATCH_ROWS
) -> Iterator[EventChunk]:
    """The events of a slice, with the cells of `fields` and the top-level columns `keep`.

    InputError when the file cannot be read, or a table has no column that is to be kept.
    """
    readers = {"jsonl": json_chunks, "csv": _csv_chunks, "parquet": _parquet_chunks}
    with reading(piece.file):
        yield from readers[piece.format](piece, list(fields), list(keep), batch_rows)


class RowChunk(NamedTuple):
    """Some records of a slice: whole rows as Python has them, with their numbers, and what is no row."""

    numbers: list[int]
    rows: list[dict[str, Any]]
    rejects: list[Reject]


def read_rows(piece: Slice) -> Iterator[RowChunk]:
    """The rows of a slice whole, for tables that keep and join them; InputError when it cannot be read."""
    readers = {"jsonl": _json_rows, "csv": _csv_rows, "parquet": _parquet_rows}
    with reading(piece.file):
        yield from readers[piece.format](piece)


def _parsed_lines(piece: Slice, batch_rows: int) -> Iterator[tuple[int, Parsed]]:
    """The events of JSON lines, and the row number of the first record of each portion."""
    first_row = piece.first_row
    with open_records(piece.file) as stream:
        if piece.start:
            stream.seek(piece.start)
        for lines in line_portions(record_lines(stream, piece.start, piece.stop), batch_rows):
            yield first_row, parse_lines(lines, first_row)
            first_row += len(lines)


def _json_rows(piece: Slice) -> Iterator[RowChunk]:
    for _, parsed in _parsed_lines(piece, BATCH_ROWS):
        yield RowChunk(parsed.rows, parsed.objects, parsed.rejects)


def _csv_chunks(piece: Slice, fields: list[Path], keep: list[str], batch_rows: int) -> Iterator[EventChunk]:
    types = dict(piece.layout)
    _check_kept(piece, keep, types)
    names = {field[0]: types[field[0]] for field in fields if len(field) == 1 and field[0] in types}
    first_row = piece.first_row
    for records in read_records(piece.file, Wanted(names, keep), first_row, batch_rows):
        length = len(records.rows)
        kept = {
            name: typed_column(records.texts.get(name, pa.nulls(length, TEXT)), types[name]) for name in keep
        }
        yield EventChunk(first_row, records.rows, records.events, table_of(kept, length), records.rejects)
        first_row += length + len(records.rejects)


def _csv_rows(piece: Slice) -> Iterator[RowChunk]:
    types = dict(piece.layout)
    for records in read_records(piece.file, Wanted(texts=list(types)), piece.first_row, BATCH_ROWS):
        columns = [_csv_values(texts, types[name]) for name, texts in records.texts.items()]
        rows = [dict(zip(records.texts, row, strict=True)) for row in zip(*columns, strict=True)]
        yield RowChunk(records.rows.tolist(), rows, records.rejects)


def _csv_values(texts: pa.Array, column_type: ColumnType) -> list[Any]:
    if column_type is not ColumnType.LONG_INTEGER:
        values: list[Any] = typed_column(texts, column_type).to_pylist()
        return values
    integers: list[Any] = [None] * len(texts)
    for place, integer in zip(*long_integers(texts), strict=True):
        integers[place] = integer
    return integers


def _parquet_chunks(
    piece: Slice, fields: list[Path], keep: list[str], batch_rows: int
) -> Iterator[EventChunk]:
    first_row = piece.first_row
    if keep:
        _check_kept(piece, keep, column_names(piece.file))
    for batch in _parquet_batches(piece, {*keep, *(field[0] for field in fields)}, batch_rows):
        yield _table_chunk(batch, fields, keep, first_row)
        first_row += batch.num_rows


def _parquet_batches(piece: Slice, names: set[str] | None, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of a slice with the columns of these names, or all; LimitError when they are too much."""
    with pq.ParquetFile(piece.file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as opened:
        groups = list(range(piece.start, opened.num_row_groups if piece.stop is None else piece.stop))
        rows = [batch_rows]
        for group in groups:
            size = checked_size(piece.file, [RowGroup(piece.file, opened.metadata, group)], names)
            if count := opened.metadata.row_group(group).num_rows:
                rows.append(max(1, CHUNK_BYTES * count // max(1, size)))  # some 32 MB; texts may be long
        yield from _batches_of_groups(opened, groups, min(rows), None if names is None else list(names))


def _batches_of_groups(
    opened: pq.ParquetFile, groups: list[int], size: int, names: list[str] | None
) -> Iterator[pa.RecordBatch]:
    """The rows of row groups. When one cannot be read, those before it come first, and then the error."""
    seen = 0
    try:
        for batch in opened.iter_batches(size, groups, columns=names):
            yield batch
            seen += batch.num_rows
        return
    except (OSError, pa.ArrowException):
        pass  # a batch may span groups, so that good ones fail with it: they are read one by one below
    for group in groups:
        for batch in opened.iter_batches(size, [group], columns=names):
            known = min(seen, batch.num_rows)
            seen -= known
            if known < batch.num_rows:
                yield batch.slice(known)


def _table_chunk(batch: pa.RecordBatch, fields: list[Path], keep: list[str], first_row: int) -> EventChunk:
    """A chunk of a table, without the rows that cannot be read."""
    table = pa.Table.from_batches([batch])
    rows: Longs = np.arange(first_row, first_row + batch.num_rows, dtype=np.int64)
    unreadable: dict[int, str] = {}
    events = batch_of_table(batch, fields, unreadable)
    rejects = [Reject(first_row + row, reason, "") for row, reason in sorted(unreadable.items())]
    if rejects:
        good = np.delete(np.arange(batch.num_rows), sorted(unreadable))
        table, rows = table_without_views(table).take(pa.array(good)), rows[good]
        events = batch_of_table(table, fields)
    return EventChunk(first_row, rows, events, table.select(keep), rejects)


def _check_kept(piece: Slice, keep: list[str], names: Iterable[str]) -> None:
    known = list(names)
    for name in keep:
        if known.count(name) != 1:
            how_many = "no column" if name not in known else f"{known.count(name)} columns"
            raise InputError(f"{piece.file}: there is {how_many} named {name!r} to keep")


def _parquet_rows(piece: Slice) -> Iterator[RowChunk]:
    first = piece.first_row
    for batch in _parquet_batches(piece, None, BATCH_ROWS):
        chunk = RowChunk([], [], [])
        for number, row in enumerate(rows_of_batch(batch), first):
            if isinstance(row, str):
                chunk.rejects.append(Reject(number, row, ""))
            else:
                chunk.numbers.append(number)
                chunk.rows.append(row)
        yield chunk
        first += batch.num_rows


def rows_of_batch(batch: pa.RecordBatch) -> list[dict[str, Any] | str]:
    """The rows of a batch, or why one cannot be read; only when some cannot are they read one by one."""
    try:
        return _rows_of(batch)
    except (UnicodeDecodeError, ValueError, OverflowError) as error:
        if batch.num_rows == 1:
            return [f"a value cannot be read: {error}"]
        return [row for at in range(batch.num_rows) for row in rows_of_batch(batch.slice(at, 1))]


def _rows_of(batch: pa.RecordBatch) -> list[dict[str, Any] | str]:
    columns = [_column_values(column) for column in batch.columns]
    names = batch.schema.names
    if not columns:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _column_values(column: pa.Array) -> list[Any]:
    """The values of a column; instants that Python's own cannot hold as NumPy has them."""
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
        return values
    except (ValueError, OverflowError):
        if not pt.is_timestamp(column.type):
            raise
        return list(column.to_numpy(zero_copy_only=False))
