"""CSV, in two ways: a table as Arrow reads it, and records one by one, which is slower and exact.

    Arrow        the bytes of a file at once. Text behind a closing quote belongs to the value, an empty field
                 is null and a quoted one is not. It knows no lines: those are found beside it
    one by one   from a stream. Text behind a closing quote, and bytes that are not UTF-8, are faults of a
                 record with its line, and reading goes on. Events are read so too, as far as the loops of
                 events/kernels/csv_scan.py do not take them

A value in double quotes may hold delimiters and line ends, and "" is a quote. Blank lines are no records. A
quote that is never closed has no end to go on from, and is an InputError.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError
from tocsin.tables.records import BYTE_ORDER_MARK, readable

LONGEST_RECORD = 64 * 2**20
_EMPTY_LINES = ("\n", "\r\n", "\r")
_BLOCK = 8 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST = 2**31 - 1


@cache
def _record(delimiter: str) -> re.Pattern[bytes]:
    """A record of fields between delimiters, with its line end."""
    return re.compile(
        rb"""
        (?: "[^"]*+(?:""[^"]*+)*+"[^@\r\n]*+ | [^"@\r\n][^@\r\n]*+ | (?=[@\r\n]) | (?!")\Z )
        (?: @ (?: "[^"]*+(?:""[^"]*+)*+"[^@\r\n]*+ | [^"@\r\n][^@\r\n]*+ | (?=[@\r\n]) | (?!")\Z ) )*+
        (?: \r\n | \n | \r | \Z )
        """.replace(b"@", re.escape(delimiter.encode())),
        re.VERBOSE,
    )


class CsvRecords(Iterator[list[str] | str]):
    """The records of a text one by one: the values of each, or how its quotes are out of place.

    `line` is where the last one began, from 1, and `text` what it is there. `lines` keeps line ends, and has
    bytes that are not UTF-8 as lone surrogates, which `is_text` sees. No line has more than `longest`
    characters, LONGEST_RECORD if nothing else is said, and no record more than twice that. With `blank_lines`
    they are records without a value.
    """

    def __init__(
        self,
        file: str,
        lines: TextIO,
        delimiter: str = ",",
        longest: int | None = None,
        blank_lines: bool = False,
    ) -> None:
        self.line = 0
        self._file = file
        self._delimiter = delimiter
        self._longest = longest or LONGEST_RECORD
        self._blank_lines = blank_lines
        self._held: list[str] = []
        # Python's limit is one for the whole process, and too low for a document in a field.
        csv.field_size_limit(max(csv.field_size_limit(), self._longest))
        self._reader = csv.reader(self._each_line(lines), delimiter=delimiter, strict=True)

    def __next__(self) -> list[str] | str:
        self._held.clear()
        try:
            return next(self._reader)
        except csv.Error as error:
            if "end of data" in str(error) or "field limit" in str(error):
                raise InputError(f"{self._file}:{self.line}: a quote is never closed") from error
            return f"quotes out of place: {error}"

    @property
    def is_text(self) -> bool:
        """Whether the last record is UTF-8; one that is not is no record."""
        return all(map(str.isascii, self._held)) or _SURROGATE.search("".join(self._held)) is None

    @property
    def text(self) -> str:
        """The last record as it stands in the file, for a person."""
        text = "".join(self._held).rstrip("\r\n")
        return text if text.isascii() else readable(text.encode("utf-8", "surrogateescape"))

    def _each_line(self, lines: TextIO) -> Iterator[str]:
        """The lines, held until a record ends."""
        size = 0
        for number, line in enumerate(self._bounded(lines), 1):
            if not self._held:
                if line in _EMPTY_LINES and not self._blank_lines:  # there may be a gigabyte of them
                    continue
                self.line = number
                size = 0
            size += len(line)
            if size > 2 * self._longest:
                raise self._too_long(number, "record", 2 * self._longest)
            self._held.append(line)
            yield line

    def _bounded(self, lines: TextIO) -> Iterator[str]:
        number = 0
        try:
            while line := lines.readline(self._longest):
                number += 1
                if len(line) == self._longest:
                    raise self._too_long(number, "line", self._longest)
                yield line
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{self._file}: cannot be read: {error}") from error

    def _too_long(self, line: int, what: str, most: int) -> InputError:
        return InputError(f"{self._file}:{line}: a {what} is longer than {most:,} characters")


def record_starts(data: bytes, file: str, delimiter: str = ",") -> Longs:
    """The offset of every record, the header included; blank lines are none.

    Raises InputError at a quoted field that never ends, which Arrow would take to the end of the file.
    """
    starts: list[int] = []
    at = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    record = _record(delimiter)
    while at < len(data):
        found = record.match(data, at)
        if found is None:
            line = data.count(b"\n", 0, at) + 1
            raise InputError(f"{file}:{line}: a quoted field that starts in this row never ends")
        if data[at] not in b"\r\n":
            starts.append(at)
        at = found.end()
    return np.array(starts, np.int64)


def lines_at(data: bytes, starts: Longs) -> Longs:
    """The line of each record, from 1."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    if not len(ends):
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\r"))
    return np.searchsorted(ends, starts).astype(np.int64) + 1


def header_names(record: bytes, file: str, delimiter: str = ",") -> list[str]:
    """The names of the columns."""
    try:
        return next(csv.reader(io.StringIO(record.decode(), newline=""), delimiter=delimiter))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the header cannot be read: {error}") from None


def read_table(
    data: bytes, names: list[str], file: str, delimiter: str = ",", *, threads: bool = True
) -> tuple[pa.Table, list[Any]]:
    """The table of UTF-8 with a header and at least one record, and Arrow's notes on rows that do not fit it.

    Every column is text. Arrow reads fastest with several threads, but then knows no row numbers: when there
    are misfits it reads again with one.
    """
    misfits: list[Any] = []

    def skip(row: Any) -> str:
        misfits.append(row)
        return "skip"

    convert = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=skip)
    for block in (min(_BLOCK, len(data)), min(len(data), _LARGEST)):
        misfits.clear()
        read = pa_csv.ReadOptions(use_threads=threads, block_size=block)
        try:
            table = pa_csv.read_csv(pa.BufferReader(data), read, parse, convert)
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and block < len(data):
                continue
            raise InputError(f"{file}: not a CSV file: {error}") from None
        if misfits and threads:
            return read_table(data, names, file, delimiter, threads=False)
        return table, misfits
    raise InputError(f"{file}: a row is longer than {_LARGEST:,} bytes")


def plain_table(
    data: bytes,
    types: list[pa.DataType],
    delimiter: str = ",",
    *,
    quoted: bool = True,
    header: bool = False,
    blank_lines: bool = False,
) -> pa.Table | None:
    """The table of a text as Arrow reads it; None where that is not what its records are one by one.

    With `quoted` a value may be in quotes, which is not plain; with `header` the first line is no row; with
    `blank_lines` those are rows.
    """
    if b"\r" in data and data.count(b"\r") == data.count(b"\r\n"):
        data = data.replace(b"\r\n", b"\n")
    if not types or len(delimiter) != 1 or not delimiter.isascii() or b"\r" in data:
        return None
    if (quoted and b'"' in data) or not data.strip(b"\n"):
        return None
    names = [str(place) for place in range(len(types))]
    read = pa_csv.ReadOptions(column_names=names, skip_rows=int(header))
    parse = pa_csv.ParseOptions(
        delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=not blank_lines
    )
    convert = pa_csv.ConvertOptions(
        column_types=dict(zip(names, types, strict=True)),
        null_values=[],
        strings_can_be_null=False,
    )
    try:
        return pa_csv.read_csv(pa.BufferReader(data), read, parse, convert)
    except pa.ArrowException:
        return None
