"""Rules from CSV: read by Arrow, with the lines of its rows found beside it.

Every column is text as written, so the id 007 stays 007. An empty field is null, a quoted empty one
an empty string. Conditions with commas, quotes or newlines stand in double quotes ("" is a quote).
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from tocsin.errors import InputError, RuleError
from tocsin.rules.rule_columns import check_names
from tocsin.rules.rule_set import Rules

_BLOCK = 8 << 20
_LARGEST = 2**31 - 1
_BOM = b"\xef\xbb\xbf"

_RECORD = re.compile(
    rb"""
    (?: "[^"]*+(?:""[^"]*+)*+"[^,\r\n]*+ | [^",\r\n][^,\r\n]*+ | (?=[,\r\n]) | (?!")\Z )
    (?: , (?: "[^"]*+(?:""[^"]*+)*+"[^,\r\n]*+ | [^",\r\n][^,\r\n]*+ | (?=[,\r\n]) | (?!")\Z ) )*+
    (?: \r\n | \n | \r | \Z )
    """,
    re.VERBOSE,
)


def read_csv(data: bytes, file: str) -> Rules:
    """The rules of a CSV file's bytes. Rows with too few or too many fields are in `rejected`."""
    starts = record_starts(data, file)
    if not len(starts):
        raise InputError(f"{file}: the file is empty: expected a header with id and when")
    names = header_names(data[starts[0] : starts[1] if len(starts) > 1 else len(data)], file)
    check_names(names, file)
    lines = lines_at(data, starts)
    if len(starts) == 1:
        empty = pa.table({name: pa.array([], pa.large_string()) for name in names})
        return Rules.of_table(empty, file=file)
    table, misfits = _read_table(data, names, file)
    errors = [_misfit(row, names, file, lines) for row in misfits]
    rows = np.delete(lines, [0, *(row.number - 1 for row in misfits)])
    if len(rows) != table.num_rows:
        rows = np.arange(2, table.num_rows + 2, dtype=np.int64)
    rules = Rules.of_table(table, file=file, lines=rows)
    rules.rejected = sorted([*errors, *rules.rejected], key=lambda error: error.line or 0)
    return rules


def record_starts(data: bytes, file: str) -> NDArray[np.int64]:
    """The offset of every record, the header included; blank lines are none.

    Raises InputError at a quoted field that never ends, which Arrow would take to the end of the file.
    """
    starts: list[int] = []
    at = len(_BOM) if data.startswith(_BOM) else 0
    while at < len(data):
        found = _RECORD.match(data, at)
        if found is None:
            line = data.count(b"\n", 0, at) + 1
            raise InputError(f"{file}:{line}: a quoted field that starts in this row never ends")
        if data[at] not in b"\r\n":
            starts.append(at)
        at = found.end()
    return np.array(starts, np.int64)


def lines_at(data: bytes, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The line of each record, from 1."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    if not len(ends):
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\r"))
    return np.searchsorted(ends, starts).astype(np.int64) + 1


def header_names(record: bytes, file: str) -> list[str]:
    """The names of the columns."""
    try:
        return next(csv.reader(io.StringIO(record.decode(), newline="")))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the header cannot be read: {error}") from None


def _read_table(data: bytes, names: list[str], file: str) -> tuple[pa.Table, list[Any]]:
    """The table, and Arrow's notes on the rows that do not fit the header.

    Arrow reads fastest with several threads, but then knows no row numbers: when there are misfits it
    reads again with one. Text it cannot decode it complains of on standard error, so none gets that far.
    """
    if not data.isascii() and (wrong := _not_text(data, file)) is not None:
        raise InputError(wrong)
    table, misfits = _parse(data, names, file, threads=True)
    return _parse(data, names, file, threads=False) if misfits else (table, misfits)


def _parse(data: bytes, names: list[str], file: str, *, threads: bool) -> tuple[pa.Table, list[Any]]:
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
    parse = pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip)
    for block in (min(_BLOCK, len(data)), min(len(data), _LARGEST)):
        misfits.clear()
        read = pa_csv.ReadOptions(use_threads=threads, block_size=max(block, 1))
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(data), read_options=read, parse_options=parse, convert_options=convert
            )
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and block < len(data):
                continue
            raise InputError(_not_text(data, file) or f"{file}: not a CSV file: {error}") from None
        return table, misfits
    raise InputError(f"{file}: a row is longer than {_LARGEST:,} bytes")


def _not_text(data: bytes, file: str) -> str | None:
    """What to say of a file that is not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        return f"{file}:{line}: the file is not UTF-8 text"
    return None


def _misfit(row: Any, names: list[str], file: str, lines: NDArray[np.int64]) -> RuleError:
    line = int(lines[row.number - 1]) if row.number <= len(lines) else None
    hint = ": a condition with a comma stands in double quotes" if row.actual_columns > len(names) else ""
    return RuleError(
        f"expected {row.expected_columns} fields, found {row.actual_columns}{hint}",
        file=file,
        line=line,
        rule=row.text.split(",")[0].strip('"') or None if names[0] == "id" else None,
    )
