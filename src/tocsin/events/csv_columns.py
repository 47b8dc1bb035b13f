"""CSV records to typed Arrow columns: a column has one type over the whole input, all files together.

The first record of a file names its columns (`a.b` there is one key with a dot), quotes are double
quotes, and a value that is empty, quoted or not, is missing. A column is, from all its values that
are not empty, with spaces and tabs around them left out of account:

    Boolean   when every one is `true` or `false`, in capitals or not
    integer   when every one is digits with an optional sign, of any length; leading zeros count for nothing
    float     when every one is a decimal number with an optional exponent, or one of nan, inf and
              infinity, and at least one has digits
    string    otherwise, as written, spaces included

Only an empty value is missing: `NULL`, `N/A` and the like are strings. A record with too many or too few
values, or with a fault that tables/csv_records.py finds, is set apart with its row number.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tocsin.errors import InputError
from tocsin.tables import NOT_TEXT, CsvRecords, Reject, integer_of_digits, open_records

TEXT = pa.large_string()
"""The type of columns as they are written."""
_TYPING_RECORDS = 20_000
_INTEGER = r"^[+-]?[0-9]+$"
_FLOAT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_FLOAT_WORD = r"(?i)^[+-]?(nan|inf|infinity)$"
_BOOLEAN = r"(?i)^(true|false)$"


class ColumnType(Enum):
    """What a column of a CSV input holds; LONG_INTEGER is one that does not fit in 64 bits."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    LONG_INTEGER = "long integer"
    FLOAT = "float"
    STRING = "string"
    EMPTY = "empty"


Layout = tuple[tuple[str, ColumnType], ...]
"""The columns of an input in order of first appearance, with their types."""


class Records(NamedTuple):
    """Some records of a file: the good ones with their row numbers, and the others."""

    rows: list[int]
    values: list[list[str]] | pa.Table
    rejects: list[Reject]

    def column(self, place: int) -> pa.Array:
        """The values of one column, null where empty."""
        if isinstance(self.values, pa.Table):
            return self.values.column(place).combine_chunks()
        return pa.array([values[place] or None for values in self.values], TEXT)


class CsvFile:
    """A file being read: `names` are its columns, empty when the file is; `batches` its records."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._text = io.TextIOWrapper(open_records(file), "utf-8-sig", "surrogateescape", newline="")
        self._records = CsvRecords(file, self._text)
        try:
            self.names = self._header()
        except InputError:
            self._text.close()
            raise

    def __enter__(self) -> CsvFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self._text.close()

    def batches(self, first_row: int, size: int) -> Iterator[Records]:
        """The records, numbered from `first_row`, up to `size` at a time.

        InputError when reading on fails, after the records before that.
        """
        while self._records.look_ahead(size):
            table = self._records.plain(len(self.names))
            failure: InputError | None = None
            if table is not None:
                records = Records(list(range(first_row, first_row + table.num_rows)), table, [])
            else:
                some: list[tuple[int, list[str] | Reject]] = []
                try:
                    some.extend(self._one_by_one(first_row))
                except InputError as error:
                    failure = error
                good = [(row, record) for row, record in some if isinstance(record, list)]
                rejects = [record for _, record in some if isinstance(record, Reject)]
                records = Records([row for row, _ in good], [record for _, record in good], rejects)
            if records.rows or records.rejects:
                yield records
            if failure is not None:
                raise failure
            first_row += len(records.rows) + len(records.rejects)

    def _header(self) -> list[str]:
        names = self._checked(next(self._records, []), width=None)
        if isinstance(names, str):
            raise InputError(f"{self._file}: the header cannot be read: {names}")
        twice = sorted({repr(name) for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"{self._file}: the header names {', '.join(twice)} more than once")
        return names

    def _one_by_one(self, row: int) -> Iterator[tuple[int, list[str] | Reject]]:
        """Records that wait, or what stands in their place, numbered from `row`."""
        while self._records.is_waiting and (record := next(self._records, None)) is not None:
            record = self._checked(record, len(self.names))
            yield row, Reject(row, record, self._records.text) if isinstance(record, str) else record
            row += 1

    def _checked(self, record: list[str] | str, width: int | None) -> list[str] | str:
        """The record, or what is wrong with it."""
        if isinstance(record, str):
            return record
        if not self._records.is_text:
            return NOT_TEXT
        if width is not None and len(record) != width:
            return f"{len(record)} values where the header names {width}"
        return record


@dataclass
class _Typing:
    """What a column may still be, after the values seen so far."""

    empty: bool = True
    boolean: bool = True
    integer: bool = True
    number: bool = True
    fits: bool = True
    digits: bool = False

    def see(self, values: pa.Array) -> None:
        values = pc.utf8_trim(values.drop_null(), " \t")
        if not len(values):
            return
        self.empty = False
        self.boolean = self.boolean and _all(values, _BOOLEAN)
        if self.integer and _all(values, _INTEGER):
            self.digits = True
            self.fits = self.fits and _fit_int64(values)
            return
        self.integer = False
        if self.number:
            plain = pc.match_substring_regex(values, _FLOAT)
            self.digits = self.digits or pc.any(plain).as_py()
            self.number = pc.all(pc.or_(plain, pc.match_substring_regex(values, _FLOAT_WORD))).as_py()

    def type(self) -> ColumnType:
        if self.empty:
            return ColumnType.EMPTY
        if self.boolean:
            return ColumnType.BOOLEAN
        if self.integer:
            return ColumnType.INTEGER if self.fits else ColumnType.LONG_INTEGER
        return ColumnType.FLOAT if self.number and self.digits else ColumnType.STRING


def _all(values: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _fit_int64(values: pa.Array) -> bool:
    """Whether all integers, of which there is at least one, fit in 64 bits."""
    longest = pc.max(pc.binary_length(values)).as_py()
    return longest <= 18 or all(-(2**63) <= integer_of_digits(text) < 2**63 for text in values.to_pylist())


def layout_of(files: list[str], *, as_far_as_readable: bool = False) -> tuple[Layout, list[int]]:
    """The columns of files that are one input, and how many records each file has.

    InputError when one cannot be read to its end; with `as_far_as_readable` the records before that count.
    """
    typings: dict[str, _Typing] = {}
    counts = []
    for file in files:
        count = 0
        with CsvFile(file) as opened:
            seen = [typings.setdefault(name, _Typing()) for name in opened.names]
            with contextlib.suppress(*([InputError] if as_far_as_readable else [])):
                for records in opened.batches(0, _TYPING_RECORDS):
                    count += len(records.rows) + len(records.rejects)
                    for place, typing in enumerate(seen):
                        typing.see(records.column(place))
        counts.append(count)
    return tuple((name, typing.type()) for name, typing in typings.items()), counts


def typed_column(values: pa.Array, column_type: ColumnType) -> pa.Array:
    """The values of a column in its type; long integers stay texts, for `long_integers` to read."""
    if column_type in (ColumnType.STRING, ColumnType.LONG_INTEGER, ColumnType.EMPTY):
        return values
    trimmed = pc.utf8_trim(values, " \t")
    if column_type is ColumnType.BOOLEAN:
        return pc.equal(pc.ascii_lower(trimmed), "true")
    number = int if column_type is ColumnType.INTEGER else float
    target = pa.int64() if column_type is ColumnType.INTEGER else pa.float64()
    numbers = [None if text is None else number(text) for text in trimmed.to_pylist()]
    return pa.array(numbers, target)


def long_integers(values: pa.Array) -> tuple[list[int], list[int]]:
    """The places of the values of a LONG_INTEGER column that are not missing, and the integers."""
    texts = [(place, text) for place, text in enumerate(values.to_pylist()) if text is not None]
    return [place for place, _ in texts], [integer_of_digits(text.strip(" \t")) for _, text in texts]
