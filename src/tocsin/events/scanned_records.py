"""Records of CSV by a loop over their bytes, a block of them at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import numpy as np

from tocsin.arrays.dtypes import Flags
from tocsin.events.cells import Path
from tocsin.events.csv_chunks import Fault, Records, Wanted, checked_records
from tocsin.events.csv_columns import ColumnType
from tocsin.events.kernels.cell_stream import (
    BOOLEAN,
    STRING,
    WRITTEN_FLOAT,
    WRITTEN_INTEGER,
    CellStream,
    OrderedCells,
)
from tocsin.events.kernels.csv_scan import CsvColumns, ScannedRecords, scan_records
from tocsin.events.kernels.value_traits import NO_CHANCE
from tocsin.events.scanned_cells import ScanPlan, is_worth_it, kept_array
from tocsin.events.text_window import FIRST_BYTES, TextWindow, bytes_for
from tocsin.tables import BYTE_ORDER_MARK, CsvRecords, Reject, csv_records, delimiter_of

MANY_BYTES = 4 * 2**20
"""So many are worth compiling the loop for."""
_KINDS = {
    ColumnType.BOOLEAN: BOOLEAN,
    ColumnType.INTEGER: WRITTEN_INTEGER,
    ColumnType.LONG_INTEGER: WRITTEN_INTEGER,
    ColumnType.FLOAT: WRITTEN_FLOAT,
    ColumnType.STRING: STRING,
    ColumnType.EMPTY: STRING,
}


def scanned_records(
    file: str,
    window: TextWindow,
    names: Sequence[str],
    wanted: Wanted,
    first_row: int,
    size: int,
    many: int = MANY_BYTES,
) -> Iterator[Records]:
    """Records of a file whose start is in the window, up to one that ends too late; none if not worth it."""
    if not is_worth_it(window, scan_records, many):
        return
    if window.buffer[:3].tobytes() == BYTE_ORDER_MARK:
        window.at = len(BYTE_ORDER_MARK)
    yield from _Scan(file, window, names, wanted).records(first_row, size)


class _Scan:
    def __init__(self, file: str, window: TextWindow, names: Sequence[str], wanted: Wanted) -> None:
        self._file = file
        self._delimiter = delimiter_of(file)
        self._window = window
        self._names = names
        self._wanted = wanted
        cells: list[Path] = [(name,) for name in wanted.cells if name in names]
        self._plan = ScanPlan(cells, [name for name in wanted.texts if name in names])
        number_of = {field[0]: number for number, field in enumerate(self._plan.fields)}
        kept = {name: number for number, name in enumerate(self._plan.kept, len(cells))}
        self._columns = CsvColumns(
            np.array([number_of.get(name, -1) for name in names], np.int32),
            np.array([_KINDS[wanted.cells.get(name, ColumnType.EMPTY)] for name in names], np.int32),
            np.array([kept.get(name, -1) for name in names], np.int32),
            np.array(
                [NO_CHANCE if wanted.traits is None else wanted.traits[name] for name in names], np.uint8
            ),
        )
        self._found: list[ScannedRecords] = []

    def records(self, first_row: int, size: int) -> Iterator[Records]:
        """All that can be had, once the header is passed over."""
        window = self._window
        nothing = np.full(len(self._names), -1, np.int32)
        traits = np.full(len(self._names), NO_CHANCE, np.uint8)
        header = CsvColumns(nothing, nothing, nothing, traits)
        wanted = FIRST_BYTES
        is_header = True
        while window.fill(wanted):
            columns = header if is_header else self._columns
            cells = self._scanned(columns, 1 if is_header else size)
            scanned = self._found[0]
            used = scanned.at - window.at
            records = len(scanned.row) + len(scanned.bad_row)
            if not used:  # a record that is longer than what is at hand
                if window.is_done or window.left >= csv_records.LONGEST_RECORD:
                    return
                wanted = 2 * window.left
            elif records and not is_header:
                yield self._made(scanned, cells, first_row)
                first_row += records
                wanted = bytes_for(size, used / records)
            is_header = is_header and not records
            window.at = scanned.at

    def _scanned(self, columns: CsvColumns, most: int) -> OrderedCells:
        window = self._window

        def scan(stream: CellStream, _repeated: Flags) -> int:
            self._found[:] = [
                scan_records(
                    window.buffer,
                    window.at,
                    window.size,
                    window.is_whole,
                    most,
                    csv_records.LONGEST_RECORD,
                    ord(self._delimiter),
                    columns,
                    stream,
                )
            ]
            return self._found[0].cells

        return self._plan.found(scan, window.buffer)

    def _made(self, scanned: ScannedRecords, cells: OrderedCells, first_row: int) -> Records:
        data = self._window.buffer
        length = len(scanned.row)
        traits = self._wanted.traits
        if traits is not None:
            traits.update(zip(self._names, self._columns.traits.tolist(), strict=True))
        texts = {name: kept_array(kept, data, length) for name, kept in self._plan.kept_texts(cells).items()}
        rejects = [
            Reject(first_row + row, *self._fault(data[start:end].tobytes()))
            for row, start, end in zip(
                scanned.bad_row.tolist(), scanned.bad_start.tolist(), scanned.bad_end.tolist(), strict=True
            )
        ]
        events = self._plan.batch(cells, data, length)
        return Records(scanned.row + first_row, events, texts, rejects)

    def _fault(self, record: bytes) -> Fault:
        """What is wrong with a record that was set apart."""
        lines = io.StringIO(record.decode("utf-8", "surrogateescape"), newline="")
        found = next(checked_records(CsvRecords(self._file, lines, self._delimiter), len(self._names)))
        if isinstance(found, Fault):
            return found
        raise AssertionError("a good record was set apart")
