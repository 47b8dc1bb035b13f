"""In a worker: a piece of a file of facts in, its tuples out, and the lines that are none."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from tocsin.datalog.engine.fact_files import BYTE_ORDER_MARK, BadLine, read_lines
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.datalog.spark.batch.fact_frames import LINE, PIECE, TEXT, Piece, Reading
from tocsin.datalog.spark.batch.value_columns import FAILURE, columns_inside, word_type
from tocsin.datalog.spark.batch.worker_batches import ARROW
from tocsin.errors import InputError
from tocsin.storage.packed_files import UNPACKED_LIMIT, is_packed, open_unpacked

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
