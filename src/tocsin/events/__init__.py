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

Begin with cells.py.
"""
