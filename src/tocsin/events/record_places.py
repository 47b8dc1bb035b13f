"""In which line of its file a record stands: found by reading again, and only for those that are named."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice

from tocsin.errors import InputError
from tocsin.events.slices import Slice
from tocsin.storage import open_input
from tocsin.tables import BLANKS, BYTE_ORDER_MARK, CsvRecords, Format, delimiter_of, elements, is_array


class RecordPlaces:
    """The lines of records, for those who know their row numbers: one after the other, or from the start."""

    def __init__(self, slices: Iterable[Slice]) -> None:
        self._first: dict[str, Slice] = {}
        for piece in slices:
            self._first.setdefault(piece.file, piece)
        self._file = ""
        self._next = 0
        self._lines: Iterator[int] = iter(())

    def line(self, file: str, row: int) -> int | None:
        """The line that a record begins in, from 1; None in Parquet, and where nothing can be read."""
        piece = self._first[file]
        if file != self._file or row < self._next:
            self._file, self._next = file, piece.first_row
            self._lines = _lines(file, piece.format)
        try:
            found = next(islice(self._lines, row - self._next, None), None)
        except (OSError, EOFError, InputError, zlib.error):
            found = None
        self._next = row + 1
        return found

    def place(self, file: str, row: int) -> str:
        """`file:line: event row`, or without the line where there is none."""
        line = self.line(file, row)
        return f"{file}: event {row}" if line is None else f"{file}:{line}: event {row}"


def _lines(file: str, file_format: Format) -> Iterator[int]:
    """The line of each record."""
    if file_format == "parquet":
        return
    with open_input(file) as stream:
        if file_format == "csv":
            with io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as text:
                records = CsvRecords(file, text, delimiter_of(file))
                next(records, None)
                for _ in records:
                    yield records.line
        elif is_array(stream.peek()):
            yield from (line for line, _ in elements(stream))
        else:
            if stream.peek().startswith(BYTE_ORDER_MARK):
                stream.read(len(BYTE_ORDER_MARK))
            yield from (number for number, line in enumerate(stream, 1) if line.strip(BLANKS))
