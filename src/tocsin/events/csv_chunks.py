"""CSV files read: their records as cells and texts, which types they have, chunks of events, whole rows.

a short file                        record by record (tables/csv_records.py): no loop is loaded for it
a long one                          a loop over its bytes (scanned_records.py)
what the loop sets apart            record by record, to say what is wrong
behind a quote that is not closed,  record by record from the start of the file, up to where it says
or a record too long to be read     what is wrong and in which line
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError, LimitError
from tocsin.events.cells import EventBatch
from tocsin.events.csv_columns import TEXT, ColumnType, Layout, cells_of_texts, traits_of, type_of
from tocsin.events.text_window import FEW_BYTES, TextWindow
from tocsin.tables import NOT_TEXT, CsvRecords, Reject, delimiter_of, open_records

_TYPING_RECORDS = 20_000
_BLOCK_CHARACTERS = 8 << 20


@dataclass(frozen=True)
class Wanted:
    """What to read of records.

    cells    the columns to make cells of, with their types
    texts    the columns whose texts are wanted
    traits   given, what the values of every column have in common is noted there, by its name
    """

    cells: Mapping[str, ColumnType] = field(default_factory=dict)
    texts: Sequence[str] = ()
    traits: MutableMapping[str, int] | None = None


class Records(NamedTuple):
    """Some records of a file: the rows of good ones, their cells, texts (null where empty); the others."""

    rows: Longs
    events: EventBatch
    texts: dict[str, pa.Array]
    rejects: list[Reject]


class CsvFile:
    """A file being read record by record: `names` are its columns, empty when the file is."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._text = io.TextIOWrapper(open_records(file), "utf-8-sig", "surrogateescape", newline="")
        self._records = CsvRecords(file, self._text, delimiter_of(file))
        try:
            self.names = self._header()
        except InputError:
            self._text.close()
            raise

    def __enter__(self) -> CsvFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self._text.close()

    def _header(self) -> list[str]:
        names = next(checked_records(self._records, None), [])
        if isinstance(names, Fault):
            raise InputError(f"{self._file}: the header cannot be read: {names.reason}")
        twice = sorted({repr(name) for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"{self._file}: the header names {', '.join(twice)} more than once")
        return names

    def batches(self, wanted: Wanted, first_row: int, size: int, skip: int = 0) -> Iterator[Records]:
        """The records behind the first `skip`, numbered from `first_row`, up to `size` at a time.

        InputError when reading on fails, after the records before that.
        """
        records = islice(checked_records(self._records, len(self.names)), skip, None)
        failure: InputError | None = None
        is_more = True
        while is_more and failure is None:
            rows: list[int] = []
            values: list[list[str]] = []
            rejects: list[Reject] = []
            weight = 0
            is_more = False
            try:
                for row, record in enumerate(records, first_row):
                    if isinstance(record, Fault):
                        rejects.append(Reject(row, *record))
                    else:
                        rows.append(row)
                        values.append(record)
                        weight += sum(map(len, record))
                    if len(rows) + len(rejects) == size or weight > _BLOCK_CHARACTERS:
                        is_more = True
                        break
            except InputError as error:
                failure = error
            if rows or rejects:
                yield self._made(wanted, rows, values, rejects)
                first_row += len(rows) + len(rejects)
        if failure is not None:
            raise failure

    def _made(
        self, wanted: Wanted, rows: list[int], values: list[list[str]], rejects: list[Reject]
    ) -> Records:
        columns = dict(zip(self.names, zip(*values, strict=True), strict=True)) if values else {}
        if wanted.traits is not None:
            for name, column in columns.items():
                for text in column:
                    wanted.traits[name] |= traits_of(text)
        cells = {name: wanted.cells[name] for name in wanted.cells if name in self.names}
        texts = {
            name: pa.array([text or None for text in columns.get(name, ())], TEXT)
            for name in dict.fromkeys((*wanted.texts, *cells))
            if name in self.names
        }
        events = cells_of_texts(texts, cells, len(rows))
        return Records(np.array(rows, np.int64), events, texts, rejects)


class Fault(NamedTuple):
    """What stands in the place of a record."""

    reason: str
    text: str


def checked_records(records: CsvRecords, width: int | None) -> Iterator[list[str] | Fault]:
    """The records, of so many values if that is known, and what is wrong with others."""
    for record in records:
        if isinstance(record, str):
            yield Fault(record, records.text)
        elif not records.is_text:
            yield Fault(NOT_TEXT, records.text)
        elif width is not None and len(record) != width:
            yield Fault(f"{len(record)} values where the header names {width}", records.text)
        else:
            yield record


def read_records(file: str, wanted: Wanted, first_row: int, size: int) -> Iterator[Records]:
    """The records of a file, numbered from `first_row`, up to `size` at a time.

    InputError when its header cannot be read, and when reading on fails, after the records before that.
    """
    with CsvFile(file) as opened:
        names = opened.names
        if wanted.traits is not None:
            for name in names:
                wanted.traits.setdefault(name, 0)
        row = first_row
        with open_records(file) as stream:
            window = TextWindow(stream)
            window.fill(FEW_BYTES)
            if window.left >= FEW_BYTES:
                from tocsin.events.scanned_records import scanned_records  # only here: it brings the compiler

                for records in scanned_records(file, window, names, wanted, row, size):
                    yield records
                    row += len(records.rows) + len(records.rejects)
                if isinstance(window.failure, LimitError):
                    raise window.failure
                if window.failure is not None:
                    raise InputError(f"{file}: cannot be read: {window.failure}") from window.failure
                if window.is_whole and not window.left:
                    return
        yield from opened.batches(wanted, row, size, row - first_row)


def layout_of(files: list[str], *, as_far_as_readable: bool = False) -> tuple[Layout, list[int]]:
    """The columns of files that are one input, and how many records each file has.

    InputError when one cannot be read to its end; with `as_far_as_readable` the records before that count.
    """
    traits: dict[str, int] = {}
    counts = []
    for file in files:
        count = 0
        with contextlib.suppress(*([InputError] if as_far_as_readable else [])):
            for records in read_records(file, Wanted(traits=traits), 0, _TYPING_RECORDS):
                count += len(records.rows) + len(records.rejects)
        counts.append(count)
    return tuple((name, type_of(found)) for name, found in traits.items()), counts
