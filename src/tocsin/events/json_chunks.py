"""Lines of JSON to chunks of cells: by a loop over their bytes, and where that is in doubt by Python's json.

a few lines                                 Python's json: nothing is compiled or loaded for them
many                                        the loop, a block of lines at a time
what the loop sets apart                    tables/json_lines.py says what is wrong with it
a block where that finds nothing wrong      all of it by Python's json
what is behind a line too long to be read   by Python's json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from tocsin.events.cells import Path
from tocsin.events.event_chunk import EventChunk, line_portions, parsed_chunk
from tocsin.events.python_events import FieldPlan
from tocsin.events.slices import Slice
from tocsin.events.text_window import FEW_BYTES, TextWindow
from tocsin.tables import BYTE_ORDER_MARK, open_records, record_lines


def json_chunks(
    piece: Slice, fields: Sequence[Path], keep: Sequence[str], batch_rows: int
) -> Iterator[EventChunk]:
    """The lines of a slice. When reading on fails, those before that come first, and then the error."""
    row = piece.first_row
    with open_records(piece.file) as stream:
        if piece.start:
            stream.seek(piece.start)
        window = TextWindow(stream, None if piece.stop is None else piece.stop - piece.start)
        window.fill(FEW_BYTES)
        if window.left >= FEW_BYTES:
            from tocsin.events.scanned_lines import scanned_lines  # only here: it brings the compiler

            if piece.start == 0 and window.buffer[:3].tobytes() == BYTE_ORDER_MARK:
                window.at = len(BYTE_ORDER_MARK)
            for chunk in scanned_lines(window, row, fields, keep, batch_rows):
                yield chunk
                row += len(chunk.rows) + len(chunk.rejects)
            if window.failure is not None:
                raise window.failure
            if window.is_whole and not window.left:
                return
    plan = FieldPlan(fields)
    with open_records(piece.file) as stream:
        if piece.start:
            stream.seek(piece.start)
        lines = islice(record_lines(stream, piece.start, piece.stop), row - piece.first_row, None)
        for portion in line_portions(lines, batch_rows):
            yield parsed_chunk(portion, row, plan, keep)
            row += len(portion)
