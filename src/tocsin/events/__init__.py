"""Events in: Python values, Arrow tables, JSON lines, CSV and Parquet files become batches of cells.

- cells.py: the contract, what a batch of events is to everything downstream; kinds.py: the kinds of value
- paths.py: how a field's path is written in a message
- numbers.py: integers of any size and floats as pairs that compare exactly
- scalars.py: any Python scalar as one of six exact types
- columns.py: the cells of one field, put together
- found.py: the values found of one field, to its cells
- values.py: Python objects to cells
- arrow.py, arrow_cells.py, arrow_types.py: Arrow tables to cells
- json_lines.py: lines of JSON to Python objects; rejects.py: the records that are no events
- csv_files.py: CSV records to typed Arrow columns
- schema.py: which fields there are, and of which kinds
- slices.py: which files there are, cut into slices that can be read apart
- files.py: a slice to chunks of cells, kept columns and rejects
"""
