"""Slices of event files to whole rows as Python has them, for tables whose rows are kept and joined."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from tocsin.errors import InputError
from tocsin.events.csv_files import ColumnType, CsvFile, long_integers, open_plain_or_gz, typed_column
from tocsin.events.event_files import BATCH_ROWS, portions
from tocsin.events.json_lines import parse_lines, record_lines
from tocsin.events.rejects import Reject
from tocsin.events.slices import Slice


class RowChunk(NamedTuple):
    """Some records of a slice: the rows, each with its number, and the records that are none."""

    numbers: list[int]
    rows: list[dict[str, Any]]
    rejects: list[Reject]


def read_rows(piece: Slice) -> Iterator[RowChunk]:
    """The rows of a slice, in order; InputError when the file cannot be read."""
    readers = {"jsonl": _of_json, "csv": _of_csv, "parquet": _of_parquet}
    try:
        yield from readers[piece.format](piece)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, pa.ArrowException) as error:
        raise InputError(f"{piece.file}: cannot be read: {error}") from error


def _of_json(piece: Slice) -> Iterator[RowChunk]:
    first = piece.first_row
    with open_plain_or_gz(piece.file) as stream:
        stream.seek(piece.start)
        for lines in portions(record_lines(stream, piece.start, piece.stop), BATCH_ROWS):
            parsed = parse_lines(lines, first)
            yield RowChunk(parsed.rows, parsed.events, parsed.rejects)
            first += len(lines)


def _of_csv(piece: Slice) -> Iterator[RowChunk]:
    types = dict(piece.layout)
    with CsvFile(piece.file) as opened:
        for records in opened.batches(piece.first_row, BATCH_ROWS):
            columns = [_csv_values(records.column(at), types[name]) for at, name in enumerate(opened.names)]
            rows = [dict(zip(opened.names, row, strict=True)) for row in zip(*columns, strict=True)]
            yield RowChunk(records.rows, rows, records.rejects)


def _csv_values(texts: pa.Array, column_type: ColumnType) -> list[Any]:
    if column_type is not ColumnType.LONG_INTEGER:
        values: list[Any] = typed_column(texts, column_type).to_pylist()
        return values
    integers: list[Any] = [None] * len(texts)
    for place, integer in zip(*long_integers(texts), strict=True):
        integers[place] = integer
    return integers


def _of_parquet(piece: Slice) -> Iterator[RowChunk]:
    first = piece.first_row
    with pq.ParquetFile(piece.file) as opened:
        groups = list(range(piece.start, opened.num_row_groups if piece.stop is None else piece.stop))
        for batch in opened.iter_batches(BATCH_ROWS, groups):
            chunk = RowChunk([], [], [])
            for at, row in enumerate(_values_of(batch)):
                if isinstance(row, str):
                    chunk.rejects.append(Reject(first + at, row, ""))
                else:
                    chunk.numbers.append(first + at)
                    chunk.rows.append(row)
            yield chunk
            first += batch.num_rows


def _values_of(batch: pa.RecordBatch) -> list[dict[str, Any] | str]:
    """The rows of a batch, or why one cannot be read; only when some cannot are they read one by one."""
    try:
        return _rows_of(batch)
    except (UnicodeDecodeError, ValueError, OverflowError) as error:
        if batch.num_rows == 1:
            return [f"a value cannot be read: {error}"]
        return [row for at in range(batch.num_rows) for row in _values_of(batch.slice(at, 1))]


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
