"""Events in: Python values, Arrow tables, JSON lines, CSV and Parquet files become batches of cells.

cells.py            what a batch of events is to everything downstream, and the kinds of value
python_events.py    dictionaries to cells, by way of field_values.py
arrow_tables.py     tables to cells, by way of arrow_buffers.py
csv_columns.py      CSV records to typed Arrow columns
slices.py           which files there are, cut into slices that can be read apart
event_files.py      a slice to chunks of cells, kept columns and rejects, or to whole rows
event_sources.py    events from wherever they are: files and folders, a table, dictionaries
schema.py           which fields there are, and of which kinds

Promised: the same answers whatever an event was read from; integers of any size stay exact; what is no event
is a reject with its place and reason.

Begin with cells.py.
"""
