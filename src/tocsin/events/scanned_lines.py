"""Lines of JSON by a loop over their bytes, a block of them at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Bytes, Flags, Longs
from tocsin.events.cells import Path
from tocsin.events.event_chunk import EventChunk, parsed_chunk, table_of
from tocsin.events.kernels.cell_stream import CellStream, OrderedCells
from tocsin.events.kernels.json_scan import Limits, Scanned, scan_lines
from tocsin.events.kernels.json_text import MISSING, TO_BE_WRITTEN, ways_to_keep
from tocsin.events.python_events import FieldPlan
from tocsin.events.scanned_cells import KeptTexts, ScanPlan, field_names, is_worth_it, kept_array
from tocsin.events.text_window import FIRST_BYTES, TextWindow, bytes_for
from tocsin.tables import DEEPEST, LONGEST_LINE, MOST_DIGITS, Reject, parse_lines, value_text

MANY_BYTES = 16 * 2**20
"""So many are worth compiling the loop for."""
_LIMITS = Limits(DEEPEST, LONGEST_LINE, MOST_DIGITS)


def scanned_lines(
    window: TextWindow,
    first_row: int,
    fields: Sequence[Path],
    keep: Sequence[str],
    batch_rows: int,
    many: int = MANY_BYTES,
) -> Iterator[EventChunk]:
    """Chunks by the loop, up to a line that is too long to be read; none where it is not worth it."""
    if not is_worth_it(window, scan_lines, many):
        return
    plan = ScanPlan(fields, keep)
    names = field_names(plan)
    found: list[Scanned] = []

    def scan(stream: CellStream, repeated: Flags) -> int:
        found[:] = [
            scan_lines(
                window.buffer,
                window.at,
                window.size,
                window.is_whole,
                batch_rows,
                _LIMITS,
                names,
                repeated,
                stream,
            )
        ]
        return found[0].cells

    wanted = FIRST_BYTES
    while window.fill(wanted):
        cells = plan.found(scan, window.buffer)
        scanned = found[0]
        used = scanned.at - window.at
        records = len(scanned.row) + len(scanned.bad_row)
        if records:
            yield _chunk(window, scanned, cells, first_row, plan)
            first_row += records
            wanted = bytes_for(batch_rows, used / records)
        elif not used:  # a line that is longer than what is at hand
            if window.is_done or window.left > LONGEST_LINE:
                return
            wanted = 2 * window.left
        window.at = scanned.at


def _chunk(
    window: TextWindow, scanned: Scanned, cells: OrderedCells, first_row: int, plan: ScanPlan
) -> EventChunk:
    data = window.buffer
    lines = _Lines(data, scanned.start, np.minimum(scanned.end + 1, window.size))
    rejects: list[Reject] = []
    for row, line in zip(
        scanned.bad_row.tolist(),
        _Lines(data, scanned.bad_start, np.minimum(scanned.bad_end + 1, window.size)),
        strict=True,
    ):
        rejects += parse_lines([line], first_row + row).rejects
    if len(rejects) < len(scanned.bad_row):  # Python's json knows better
        starts = np.sort(np.concatenate([scanned.start, scanned.bad_start]))
        ends = np.sort(np.concatenate([lines.end, np.minimum(scanned.bad_end + 1, window.size)]))
        return parsed_chunk(list(_Lines(data, starts, ends)), first_row, FieldPlan(plan.fields), plan.kept)
    events = plan.batch(cells, data, len(scanned.row))
    kept = {
        name: _json_texts(texts, data, len(scanned.row)) for name, texts in plan.kept_texts(cells).items()
    }
    return EventChunk(
        first_row, scanned.row + first_row, events, table_of(kept, len(scanned.row)), rejects, lines
    )


def _json_texts(texts: KeptTexts, data: Bytes, length: int) -> pa.LargeStringArray:
    """Values as Python's json writes them, null where missing. Most are written so."""
    way = ways_to_keep(data, texts.place, texts.end)
    if (way == MISSING).any():
        some = way != MISSING
        texts = KeptTexts(texts.row[some], texts.place[some], texts.end[some])
    array = kept_array(texts, data, length)
    if not (way == TO_BE_WRITTEN).any():
        return array
    coded = array.dictionary_encode()
    written = pa.array([value_text(text) for text in coded.dictionary.to_pylist()], pa.large_string())
    return written.take(coded.indices)


class _Lines(Sequence[bytes]):
    """Lines in a block of bytes, taken out when they are asked for."""

    def __init__(self, data: Bytes, start: Longs, end: Longs) -> None:
        self.end = end
        self._data = data
        self._start = start

    def __len__(self) -> int:
        return len(self._start)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return self._data[self._start[place] : self.end[place]].tobytes()
