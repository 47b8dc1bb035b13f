"""Events in: Python values, Arrow tables, JSON lines, CSV and Parquet files become batches of cells.

cells.py            what a batch of events is to everything downstream, and the kinds of value
python_events.py    dictionaries to cells, by way of field_values.py
json_chunks.py      lines of JSON to chunks of cells: scanned_lines.py, or one by one where that is in doubt
csv_chunks.py       CSV files to typed cells: scanned_records.py, or one by one where that is in doubt
scanned_cells.py    what the loops in kernels/ found in a block of bytes (text_window.py), as cells
arrow_tables.py     tables to cells, by way of arrow_buffers.py
csv_columns.py      what the columns of CSV hold, and their values in that type
slices.py           which files there are, cut into slices that can be read apart
event_files.py      a slice to chunks of cells, kept columns and rejects (event_chunk.py), or to whole rows
event_sources.py    events from wherever they are: files and folders, a table, dictionaries
schema.py           which fields there are, and of which kinds

Promised: the same answers whatever an event was read from; integers of any size stay exact; what is no event
is a reject with its place and reason.

Begin with cells.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.events.arrow_tables import MANY_COLUMNS, batch_of_table
    from tocsin.events.cells import BooleanCells, Column, EventBatch, NumberCells, Path, Rows, StringCells
    from tocsin.events.cells import TimestampCells, path_text
    from tocsin.events.csv_chunks import layout_of
    from tocsin.events.event_chunk import EventChunk
    from tocsin.events.event_files import BATCH_ROWS, read_rows, read_slice
    from tocsin.events.event_sources import EventPortion, EventSource, Events, RowTexts, event_source
    from tocsin.events.event_sources import portions_of_slice, seconds_of, texts_of_columns, time_field
    from tocsin.events.field_values import SIMPLE, Found, Instant, Scalar, scalar_of, surrogate_error
    from tocsin.events.field_values import type_name
    from tocsin.events.kept_columns import JSON, KeptColumn, converted, csv_column, json_text, json_texts
    from tocsin.events.kept_columns import kinds_of, plain, settle
    from tocsin.events.kinds import Kind
    from tocsin.events.loop_warmup import compile_loops
    from tocsin.events.number_pairs import split_integer
    from tocsin.events.python_events import FieldPlan, Node, check_event, descend
    from tocsin.events.record_places import RecordPlaces
    from tocsin.events.schema import ANY_KIND, Schema
    from tocsin.events.slices import FORMATS, Slice, format_of, is_hidden, plan_slices
    from tocsin.events.wide_tables import read_together
else:
    __getattr__ = door(__name__)
