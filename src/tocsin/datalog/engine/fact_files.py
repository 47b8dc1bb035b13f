"""Files of facts to rows of words: `.facts` as Soufflé reads them, CSV and Parquet by extension.

    r.facts     a tuple a line, its values between tabs (or another delimiter), nothing quoted
    r.csv       the same when its first line has tabs, or the relation but one column: so results are
                written; else values between commas, quoted where needed. A first line that names the
                columns, in any order, is no tuple
    r.parquet   a table (see index.activation.tuples)

All but Parquet may be packed (`.gz`). Numbers may be written in hex and binary, as in a program, and with
spaces around them. A line without a character is no tuple, unless the relation has one column of symbols:
then it is the empty one. The line `()` is the tuple of a relation without columns. Values behind those of the
columns are left out, as Soufflé does.

There are two ways to read a file. Arrow reads what is plain, and most files are; whatever it refuses, and
whatever it could read otherwise than said here, is read line by line, and that way knows what is wrong in
which line.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.datalog.language.directives import Transfer
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.tuples import ARROW_TYPES, Rows, TupleCode
from tocsin.errors import InputError, LimitError
from tocsin.printable import number_of
from tocsin.storage import UNPACKED_LIMIT
from tocsin.tables import (
    BYTE_ORDER_MARK,
    NOT_TEXT,
    CsvRecords,
    checked_dataset,
    plain_table,
    read_bytes,
    readable,
)

_ENDINGS = (".facts", ".facts.gz", ".csv", ".csv.gz", ".parquet")
_INTEGER = re.compile(r" *([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0*([0-9]{1,30})) *\Z")
_FLOAT = re.compile(r" *[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity)) *\Z")


class BadLine(NamedTuple):
    """A line that is no tuple of its relation."""

    file: str
    line: int
    reason: str
    text: str


class Layout(NamedTuple):
    """How a text file is laid out; `order` has the place of each column in a line."""

    delimiter: str
    quoted: bool
    headers: bool
    order: list[int]


OnBadLine = Callable[[BadLine], None]
"""What is done with a bad line."""


def refuse(bad: BadLine) -> None:
    """Stop at the first bad line."""
    raise InputError(f"{bad.file}:{bad.line}: {bad.reason}")


def read_facts(
    source: Transfer,
    folder: Path,
    code: TupleCode,
    on_bad: OnBadLine = refuse,
    unpacked_limit: int = UNPACKED_LIMIT,
) -> Rows:
    """The tuples of one relation, in the order of its file; InputError when it cannot be read."""
    if source.stream:
        return _read_text("standard input", sys.stdin.buffer.read(), source, code, on_bad)
    return read_fact_file(file_of(source, folder), code, source, on_bad, unpacked_limit)


def read_fact_file(
    path: Path,
    code: TupleCode,
    source: Transfer | None = None,
    on_bad: OnBadLine = refuse,
    unpacked_limit: int = UNPACKED_LIMIT,
) -> Rows:
    """The tuples of a file, which is of the kind that its name says.

    InputError when it cannot be read, LimitError when more than `unpacked_limit` bytes come out of it packed.
    """
    source = source or Transfer(code.relation, stream=False)
    name = str(path)
    if path.suffix.lower() == ".parquet":
        try:
            with of_relation(code.relation):
                return code.rows_of_table(checked_dataset(path, unpacked_limit).read())
        except LimitError:
            raise
        except (OSError, UnicodeDecodeError, pa.ArrowException, InputError) as error:
            raise InputError(f"{name}: {error}") from error
    with of_relation(code.relation):
        return _read_text(name, read_bytes(path, unpacked_limit), source, code, on_bad)


@contextmanager
def of_relation(relation: str) -> Iterator[None]:
    """LimitError that names the relation and the setting when more bytes come out of a file than may."""
    try:
        yield
    except LimitError as error:
        raise LimitError(f"{error}, of {relation}", setting="unpacked_limit") from None


def file_of(source: Transfer, folder: Path) -> Path:
    """The file that a relation is read from."""
    if source.filename is not None:
        return folder / source.filename
    known = [folder / f"{source.relation}{ending}" for ending in _ENDINGS]
    return next((path for path in known if path.exists()), known[0])


def _read_text(name: str, data: bytes, source: Transfer, code: TupleCode, on_bad: OnBadLine) -> Rows:
    layout = layout_of(name, data, source, code)
    return read_lines(name, data.removeprefix(BYTE_ORDER_MARK), layout, code, on_bad)


def read_lines(name: str, data: bytes, layout: Layout, code: TupleCode, on_bad: OnBadLine) -> Rows:
    """The tuples of the lines of a file, or of some of them; bad lines count from the first of these."""
    rows = _read_plain(data, layout, code)
    return _read_each_line(name, data, layout, code, on_bad) if rows is None else rows


def layout_of(name: str, data: bytes, source: Transfer, code: TupleCode) -> Layout:
    """How a file is laid out that begins so: its first line must be there as a whole."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    in_order = list(range(len(code.types)))
    if source.rfc4180:
        return Layout(source.between, True, bool(source.headers), in_order)
    if source.delimiter is not None or not name.lower().removesuffix(".gz").endswith(".csv"):
        return Layout(source.delimiter or "\t", False, bool(source.headers), in_order)
    first = data[: data.find(b"\n") if b"\n" in data else len(data)].rstrip(b"\r")
    if b"\t" in first:
        return Layout("\t", False, bool(source.headers), in_order)
    names = [name.strip('"') for name in readable(first).split(",")]
    if source.headers is not False and sorted(names) == sorted(code.columns):
        return Layout(",", True, True, [names.index(column) for column in code.columns])
    if len(in_order) < 2 and not first.startswith(b'"'):
        return Layout("\t", False, bool(source.headers), in_order)
    return Layout(",", True, bool(source.headers), in_order)


def _read_plain(data: bytes, layout: Layout, code: TupleCode) -> Rows | None:
    """The rows as Arrow reads them; None when it cannot, or when the two ways might differ."""
    if any(kind is not Type.SYMBOL for kind in code.types) and (b"0x" in data or b"0X" in data):
        return None
    kinds = dict(zip(layout.order, code.types, strict=True))
    wanted, blank = [ARROW_TYPES[kinds[place]] for place in range(len(kinds))], _empty_is_a_tuple(code)
    quoted, header = layout.quoted, layout.headers
    table = plain_table(data, wanted, layout.delimiter, quoted=quoted, header=header, blank_lines=blank)
    try:
        return None if table is None else code.rows_of_table(table.select(layout.order))
    except (pa.ArrowException, InputError):
        return None


def _read_each_line(name: str, data: bytes, layout: Layout, code: TupleCode, on_bad: OnBadLine) -> Rows:
    words: list[tuple[int, ...]] = []
    records = (
        _quoted_records(name, data, layout.delimiter) if layout.quoted else _records(data, layout.delimiter)
    )
    if layout.headers:
        next(records, None)
    empty_is_a_tuple = _empty_is_a_tuple(code)
    for line, record, text in records:
        if text or empty_is_a_tuple:
            try:
                if isinstance(record, str):
                    raise InputError(record)
                words.append(_words(record, layout.order, code))
            except InputError as error:
                on_bad(BadLine(name, line, str(error), text))
    return np.array(words, np.int64).reshape(len(words), len(code.types))


def _empty_is_a_tuple(code: TupleCode) -> bool:
    return code.types == (Type.SYMBOL,)


def _records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | str, str]]:
    """Each line: its number, its values (or what is wrong with it), and its text."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        line = line.removesuffix(b"\r")
        try:
            text = line.decode()
            yield number, text.split(delimiter), text
        except UnicodeDecodeError:
            yield number, NOT_TEXT, readable(line)


def _quoted_records(name: str, data: bytes, delimiter: str) -> Iterator[tuple[int, list[str] | str, str]]:
    """Each record of a CSV file, which may have several lines: as above."""
    text = io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")
    records = CsvRecords(name, text, delimiter, longest=len(data) + 1, blank_lines=True)
    for record in records:
        yield records.line, record if records.is_text else NOT_TEXT, records.text


def _words(record: list[str], order: list[int], code: TupleCode) -> tuple[int, ...]:
    if not order:
        if record != ["()"]:
            raise InputError(f"{code.relation} has no columns: its tuple is written ()")
        return ()
    if len(record) < len(order):
        raise InputError(
            f"{number_of(len(record), 'value')}, where {code.relation} has {number_of(len(order), 'column')}"
        )
    columns = zip(order, code.types, code.columns, strict=True)
    return code.encode(tuple([read_value(record[place], kind, name) for place, kind, name in columns]))


def read_value(text: str, kind: Type, column: str) -> Value:
    """The value that a text is in a file of facts; InputError when it is none of that type."""
    if kind is Type.SYMBOL:
        return text
    if kind is Type.FLOAT:
        if not _FLOAT.match(text):
            raise InputError(f"{column} takes floats, not {text!r}")
        return float(text)
    found = _INTEGER.match(text)
    if found is None:
        raise InputError(f"{column} takes integers, not {text!r}")
    sign, hexadecimal, binary, decimal = found.groups()
    size = int(hexadecimal, 16) if hexadecimal else int(binary, 2) if binary else int(decimal)
    return -size if sign == "-" else size
