"""Files of facts as DataFrames: read by the workers, with the code that reads them without Spark.

    r.facts   ->  pieces of some megabytes, from a line's start to a line's end  ->  a task each

What is packed (.gz) or may have quoted line ends (a .csv with commas) is one piece. A line that is no tuple
becomes a row that says so, and which line of which piece it is: its number in the file is counted only when
somebody has to be told. Parquet is read by Spark itself. Every worker must be able to read the files.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StringType, StructField

from tocsin.datalog.engine.fact_files import (
    BadLine,
    Layout,
    file_of,
    layout_of,
    of_relation,
    read_facts,
    read_lines,
)
from tocsin.datalog.language.directives import Transfer
from tocsin.datalog.language.syntax import Relation
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.datalog.spark.batch.stored_frames import Frame, Storage
from tocsin.datalog.spark.batch.value_columns import FAILURE, columns_inside, taken, word_type
from tocsin.datalog.spark.batch.worker_batches import ARROW
from tocsin.errors import InputError, LimitError
from tocsin.spark.failures import reason_of
from tocsin.spark.file_urls import to_read
from tocsin.storage import UNPACKED_LIMIT, UNPACKED_TIMES, is_packed, open_unpacked
from tocsin.tables import BYTE_ORDER_MARK, checked_dataset

PIECE_BYTES = 32 << 20
PIECE, LINE, TEXT = "piece", "line", "text"

_FIRST_LINE = 1 << 20
"""The first line of a file, which may name its columns, is looked for in so many bytes."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of a file that start in `start` <= byte < `stop`."""

    file: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A file, called `name` in messages, in pieces that a task each reads."""

    name: str
    relation: Relation
    layout: Layout
    pieces: tuple[Piece, ...]
    unpacked_limit: int = UNPACKED_LIMIT


def read_fact_file(
    session: SparkSession,
    storage: Storage,
    source: Transfer,
    folder: Path,
    relation: Relation,
    on_bad: Callable[[BadLine], None],
    unpacked_limit: int = UNPACKED_LIMIT,
) -> Frame:
    """The facts that an `.input` names, stored. `on_bad` is told of each line that is no tuple, in order.

    A packed text of more than `unpacked_limit` bytes is an InputError: one worker reads it as a whole.
    Parquet may have UNPACKED_TIMES the size of its files if that is more; beyond it is a LimitError.
    """
    code = TupleCode(relation.name, relation.types, Symbols(), relation.columns)
    if source.stream:
        table = code.table(read_facts(source, folder, code, on_bad))
        if not relation.types:
            given = session.range(table.num_rows).select()
        else:
            given = session.createDataFrame(table)
        return _stored(storage, taken(relation, given), "standard input")
    path = file_of(source, folder)
    if path.suffix.lower() == ".parquet":
        return _read_parquet(session, storage, path, relation, unpacked_limit)
    reading = _planned(source, path, relation, code, unpacked_limit)
    return _read_pieces(session, storage, reading, on_bad)


def _stored(storage: Storage, plan: DataFrame, name: str) -> Frame:
    stored = storage.store({name: plan}, distinct=False, refuse=lambda why: InputError(f"{name}: {why}"))
    return stored[name]


def _read_parquet(
    session: SparkSession, storage: Storage, path: Path, relation: Relation, unpacked_limit: int
) -> Frame:
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        with of_relation(relation.name):
            checked_dataset(path, unpacked_limit, UNPACKED_TIMES)
        return _stored(storage, taken(relation, session.read.parquet(to_read(path))), str(path))
    except LimitError:
        raise
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    except (PySparkException, Py4JError) as error:
        raise InputError(f"{path}: cannot be read: {reason_of(str(error))}") from error


def _planned(
    source: Transfer, path: Path, relation: Relation, code: TupleCode, unpacked_limit: int
) -> Reading:
    """How a text file is read. Raises InputError when it cannot be opened."""
    try:
        with open_unpacked(path) as stream:
            head = stream.read(_FIRST_LINE)
        size = path.stat().st_size
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    layout = layout_of(str(path), head, source, code)
    whole = layout.quoted or is_packed(path)
    step = max(size, 1) if whole else PIECE_BYTES
    starts = range(0, max(size, 1), step)
    file = str(path.absolute())  # a worker need not be in this folder
    pieces = tuple(Piece(file, start, start + step) for start in starts)
    return Reading(str(path), relation, layout, pieces, unpacked_limit)


def _read_pieces(
    session: SparkSession, storage: Storage, reading: Reading, on_bad: Callable[[BadLine], None]
) -> Frame:
    columns = columns_inside(reading.relation.types)
    schema = columns.failing_schema.add(StructField(PIECE, LongType())).add(StructField(LINE, LongType()))
    schema = schema.add(StructField(TEXT, StringType()))
    numbers = session.range(0, len(reading.pieces), 1, numPartitions=len(reading.pieces))
    found = storage.keep(numbers.mapInArrow(partial(read_pieces, reading), schema))
    failed = F.col(FAILURE).isNotNull()
    rows, bad = found.agg(F.count(F.when(~failed, 1)), F.count(F.when(failed, 1))).collect()[0]
    if bad:
        for each in _bad_lines(reading, found.where(failed).orderBy(PIECE, LINE)):
            on_bad(each)
    data = found.where(~failed).select(*columns.names) if bad else found.select(*columns.names)
    return Frame(data, rows, distinct=False)


def _bad_lines(reading: Reading, bad: DataFrame) -> Iterator[BadLine]:
    """What is wrong in which line of the file, a few of them at a time."""
    before, counted = 0, 0
    for row in bad.select(PIECE, LINE, FAILURE, TEXT).toLocalIterator():
        piece = reading.pieces[row[PIECE]]
        before += count_lines(piece.file, counted, piece.start)
        counted = piece.start
        if row[LINE] is None:
            raise InputError(row[FAILURE])
        yield BadLine(reading.name, before + row[LINE], row[FAILURE], row[TEXT])


_ROWS = 1 << 16
_BLOCK = 1 << 20


def read_pieces(reading: Reading, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The tuples of numbered pieces, and a row for each line that is none."""
    relation = reading.relation
    for batch in batches:
        for number in batch.column(0).to_pylist():
            symbols = Symbols()
            code = TupleCode(relation.name, relation.types, symbols, relation.columns)
            words = TupleCode(relation.name, tuple(map(word_type, relation.types)), symbols)
            bad: list[BadLine] = []
            try:
                rows = _rows(reading, number, code, bad)
            except (OSError, EOFError, zlib.error) as error:
                reason = getattr(error, "strerror", None) or str(error)
                yield _failed(reading, number, [(None, f"{reading.name}: cannot be read: {reason}", "")])
                continue
            except InputError as error:
                yield _failed(reading, number, [(None, str(error), "")])
                continue
            for start in range(0, len(rows), _ROWS):
                yield _found(words, rows[start : start + _ROWS])
            if bad:
                yield _failed(reading, number, [(each.line, each.reason, each.text) for each in bad])


def _rows(reading: Reading, number: int, code: TupleCode, bad: list[BadLine]) -> Rows:
    piece = reading.pieces[number]
    try:
        data = lines_between(Path(piece.file), piece, reading.unpacked_limit)
    except InputError as error:
        raise InputError(f"{error}, of {reading.relation.name}") from None
    layout = reading.layout
    if number == 0:
        data = data.removeprefix(BYTE_ORDER_MARK)
    elif layout.headers:
        layout = layout._replace(headers=False)
    return read_lines(reading.name, data, layout, code, bad.append)


def lines_between(path: Path, piece: Piece, unpacked_limit: int = UNPACKED_LIMIT) -> bytes:
    """The lines that start in a piece, the last of them as a whole."""
    with open_unpacked(path, unpacked_limit) as stream:
        if is_packed(path):
            return bytes(stream.read())
        if piece.start:
            stream.seek(piece.start - 1)
            stream.readline()
        start = stream.tell()
        if start >= piece.stop:
            return b""
        data = bytes(stream.read(piece.stop - start))
        return data if data.endswith(b"\n") else data + bytes(stream.readline())


def count_lines(file: str, start: int, stop: int) -> int:
    """How many lines of a file start in `start` <= byte < `stop`, both of them where a piece starts."""
    lines = 0
    with Path(file).open("rb") as stream:
        stream.seek(max(start - 1, 0))
        left = max(stop - 1, 0) - max(start - 1, 0)
        while left > 0 and (block := stream.read(min(left, _BLOCK))):
            lines += block.count(b"\n")
            left -= len(block)
    return lines + int(start == 0 and stop > 0)


def _found(code: TupleCode, rows: Rows) -> pa.RecordBatch:
    if code.types:
        arrays = [column.combine_chunks() for column in code.table(rows).columns]
    else:
        arrays = [pa.array(np.zeros(len(rows), np.int64))]
    nothing = [pa.nulls(len(rows), kind) for kind in (pa.string(), pa.int64(), pa.int64(), pa.string())]
    return _batch(arrays, nothing)


def _failed(reading: Reading, number: int, lines: list[tuple[int | None, str, str]]) -> pa.RecordBatch:
    kinds = columns_inside(reading.relation.types).types
    nothing = [pa.nulls(len(lines), ARROW[kind]) for kind in kinds]
    numbers, reasons, texts = zip(*lines, strict=True)
    told = [
        pa.array(reasons, pa.string()),
        pa.array([number] * len(lines), pa.int64()),
        pa.array(numbers, pa.int64()),
        pa.array(texts, pa.string()),
    ]
    return _batch(nothing, told)


def _batch(columns: list[pa.Array], told: list[pa.Array]) -> pa.RecordBatch:
    names = [*(f"c{place}" for place in range(len(columns))), FAILURE, PIECE, LINE, TEXT]
    return pa.RecordBatch.from_arrays([*columns, *told], names=names)
