"""Tables, whatever their rows are: CSV, JSON lines and Parquet, read within bounds, and frames in memory.

records.py          how files of records are opened, what is said when one cannot be read, what is no record
csv_records.py      CSV: a table as Arrow reads it, or records one by one with what is wrong in which line
json_lines.py       lines to objects, and the texts of their members; json_arrays.py: an array as such lines
file_formats.py     which of them a file is, by what is in it
parquet_files.py    files whose size in memory is found before they are read; arrow_types.py: what is in them
frames.py           frames of other packages (pandas, polars, DuckDB) as Arrow tables and streams

Events, rules and facts each say what is their own: which columns there are, of which kinds, what an error is
called. Promised: whatever is in a file, it is read or named as wrong, in bounded memory.

Begin with records.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.tables.arrow_types import SCALARS, TEXTS, has_member, holds_union, is_list, is_text, plain
    from tocsin.tables.arrow_types import rows_not_utf8, table_without_views, without_views
    from tocsin.tables.csv_records import CsvRecords, header_names, lines_at, plain_table, read_table
    from tocsin.tables.csv_records import record_starts
    from tocsin.tables.file_formats import PARQUET_MAGIC, Format, beginning, delimiter_of, is_parquet
    from tocsin.tables.file_formats import told_delimiter, told_format
    from tocsin.tables.frames import Frame, batches_of, is_frame, table_of
    from tocsin.tables.json_arrays import elements, is_array
    from tocsin.tables.json_lines import BLANKS, DEEPEST, LONGEST_LINE, MOST_DIGITS, HalfAPair, NotAnObject
    from tocsin.tables.json_lines import Parsed, integer_of_digits, member_span, member_text, object_of
    from tocsin.tables.json_lines import parse_lines, parsed, record_lines, value_text
    from tocsin.tables.parquet_files import RowGroup, checked_dataset, checked_size, column_names, row_groups
    from tocsin.tables.records import BYTE_ORDER_MARK, NOT_TEXT, UNREADABLE, Reject, open_records, read_bytes
    from tocsin.tables.records import readable, reading
else:
    __getattr__ = door(__name__)
