"""Tables, whatever their rows are: CSV, JSON lines and Parquet, read within bounds, and frames in memory.

records.py          how files of records are opened, what is said when one cannot be read, what is no record
csv_records.py      CSV: a table as Arrow reads it, or records one by one with what is wrong in which line
json_lines.py       lines to objects, and the texts of their members
parquet_files.py    files whose size in memory is found before they are read; arrow_types.py: what is in them
frames.py           frames of other packages (pandas, polars, DuckDB) as Arrow tables and streams

Events, rules and facts each say what is their own: which columns there are, of which kinds, what an error is
called. Promised: whatever is in a file, it is read or named as wrong, in bounded memory.

Begin with records.py.
"""
