"""The files of an input, cut into slices that can be read apart, each knowing its first row number.

    visits/
      part-0.jsonl        120 MB  ->  4 slices of whole lines, some 32 MB each
      part-1.jsonl.gz             ->  1 slice: what is packed, or CSV, is read from its start
      2026/part-2.jsonl   (sorted by path: before part-0, as "2" sorts before "p")

Rows are numbered over all files in the order of their paths, so every file but the last has to be
counted: lines for JSON, records for CSV (which have to be typed anyway), metadata for Parquet.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO

import numpy as np
import pyarrow.parquet as pq

from tocsin.arrays.array_file import MAGIC
from tocsin.arrays.dtypes import Bytes
from tocsin.errors import InputError, TocsinWarning, UsageError
from tocsin.events.csv_chunks import layout_of
from tocsin.events.csv_columns import Layout
from tocsin.events.text_window import FEW_BYTES, SPARE
from tocsin.storage import files_at, is_packed
from tocsin.tables import (
    BLANKS,
    BYTE_ORDER_MARK,
    UNREADABLE,
    Format,
    beginning,
    is_array,
    is_parquet,
    open_records,
    record_lines,
    told_format,
)

SLICE_BYTES = 32 * 2**20
_COUNTED_BYTES = 2**20  # at a time, so that counting makes no array as large as the slice
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
FORMAT_NAMES: dict[Format, str] = {"jsonl": "JSON", "csv": "CSV", "parquet": "Parquet"}
FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
    ".json.gz": "jsonl",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
}


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of one file. `start` and `stop` are bytes of a .jsonl file and row groups of a .parquet
    file; `stop` is None when the whole file is one slice, `rows` when nobody had to count them.
    """

    file: str
    format: Format
    first_row: int
    rows: int | None
    start: int = 0
    stop: int | None = None
    layout: Layout = ()


def plan_slices(
    paths: Paths,
    slice_bytes: int = SLICE_BYTES,
    unreadable: dict[str, str] | None = None,
) -> list[Slice]:
    """The slices of files and folders, in the order of their rows; InputError when one is none.

    A file that cannot be read is an InputError too, unless `unreadable` is given: then it has no slices,
    and why is noted there by its name. CSV files are typed all together, so one that is broken stops all.
    """
    files, file_format = event_files(paths)
    if file_format == "csv":
        return _csv_slices(files)
    slices: list[Slice] = []
    first_row = 0
    for place, file in enumerate(files):
        try:
            if file_format == "parquet":
                found = list(_parquet_slices(file, first_row, slice_bytes))
            elif is_packed(file) or is_array(beginning(file)):
                rows = _count_packed(file) if place < len(files) - 1 else None
                found = [Slice(file, file_format, first_row, rows)]
            else:
                found = list(_line_slices(file, first_row, slice_bytes))
        except UNREADABLE as error:
            if unreadable is None:
                raise InputError(f"{file}: cannot be read: {error}") from error
            unreadable[file] = str(error)
            continue
        slices += found
        first_row = slices[-1].first_row + (slices[-1].rows or 0) if slices else 0
    return slices


def event_files(paths: Paths) -> tuple[list[str], Format]:
    """The event files at some paths, those of each in the order of their names, and their one format.

    A path may be a pattern, or - for standard input (storage/input_paths.py). In a folder, names that start
    with `.` or `_` are left out, as Spark does (`_SUCCESS`, checksums, unfinished output), and names of no
    known format with a warning.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [file for path in given for each in files_at(path) for file in _files_at(FilePath(each))]
    formats: dict[Format, str] = {}
    for file in files:
        formats.setdefault(_format_in(file), file)
    if len(formats) > 1:
        apart = ", ".join(f"{file} is {FORMAT_NAMES[found]}" for found, file in sorted(formats.items()))
        raise InputError(f"files of one format are expected: {apart}")
    if not formats:
        raise UsageError("events are read from at least one file or folder")
    return files, next(iter(formats))


def _files_at(root: FilePath) -> list[str]:
    """The event files of a folder, or the file that it is."""
    if not root.is_dir():
        if not root.exists():
            raise InputError(f"{root}: there is no such file or folder")
        return [str(root)]
    files = sorted(_files_below(root))
    known = [file for file in files if format_of(file) is not None]
    if not known:
        raise InputError(f"{root}: the folder has no event files ({', '.join(FORMATS)})")
    if len(known) < len(files):
        others = [file for file in files if format_of(file) is None]
        warnings.warn(f"not read, being of no known format: {', '.join(others[:5])}", TocsinWarning, 3)
    return known


def format_of(file: str) -> Format | None:
    """The format that a file's name tells."""
    name = FilePath(file).name.lower()
    return next((known for ending, known in FORMATS.items() if name.endswith(ending)), None)


def _format_in(file: str) -> Format:
    """The format of a file: Parquet by what is in it, else by its name, else by what is in it."""
    if is_parquet(file):
        return "parquet"
    told = format_of(file)
    if told is None:
        data = beginning(file)
        told = told_format(data)
        if told is None:
            raise InputError(f"{file}: {_no_events(data)}")
    return told


def _no_events(data: bytes) -> str:
    if data.startswith(MAGIC):
        return "this is a saved index, and events are expected"
    if not data:
        return "the file is empty, and its name does not say what it would hold"
    known = f"JSON lines, an array of objects, CSV, TSV or Parquet ({', '.join(FORMATS)})"
    return f"neither its name nor what is in it tells a format of events: {known}"


def _files_below(root: FilePath) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in files:
            if not is_hidden(name):
                yield str(FilePath(folder) / name)


def is_hidden(name: str) -> bool:
    """Whether files and folders of that name are left out on purpose, as Spark and Hive do.

    A folder such as `_day=7` holds one value of a partition, and is not hidden.
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _csv_slices(files: list[str]) -> list[Slice]:
    layout, counts = layout_of(files)
    slices = []
    first_row = 0
    for file, rows in zip(files, counts, strict=True):
        slices.append(Slice(file, "csv", first_row, rows, layout=layout))
        first_row += rows
    return slices


def _parquet_slices(file: str, first_row: int, slice_bytes: int) -> Iterator[Slice]:
    """Row groups, put together until they are some `slice_bytes` large."""
    metadata = pq.read_metadata(file)
    start = rows = size = 0
    for group in range(metadata.num_row_groups):
        rows += metadata.row_group(group).num_rows
        size += metadata.row_group(group).total_byte_size
        if size >= slice_bytes or group == metadata.num_row_groups - 1:
            yield Slice(file, "parquet", first_row, rows, start, group + 1)
            first_row += rows
            start, rows, size = group + 1, 0, 0


def _line_slices(file: str, first_row: int, slice_bytes: int) -> Iterator[Slice]:
    """Pieces of a file that end where a line does, with their records counted."""
    buffer = np.empty(slice_bytes + SPARE, np.uint8)
    with FilePath(file).open("rb") as stream:
        start = 0
        while size := stream.readinto(buffer[:slice_bytes].data):
            is_last = size < slice_bytes
            if start == 0 and buffer[:3].tobytes() == BYTE_ORDER_MARK:
                buffer[:3] = ord(" ")
            end = size if is_last else _last_line_end(buffer[:size])
            if end:
                buffer[size] = ord("\n")
                rows = _count(buffer, end)
                stream.seek(start + end)
            else:
                rows = int(_rest_of_line(stream, slice_bytes) or not _is_blank(buffer[:size].tobytes()))
            yield Slice(file, "jsonl", first_row, rows, start, stream.tell())
            first_row += rows
            start = stream.tell()


def _last_line_end(data: Bytes) -> int:
    """Behind the last line feed; 0 when there is none."""
    for size in (min(_COUNTED_BYTES, len(data)), len(data)):
        found = data[len(data) - size :].tobytes().rfind(b"\n")
        if found >= 0:
            return len(data) - size + found + 1
    return 0


def _count(data: Bytes, end: int) -> int:
    """The records of data[:end]; of many by a loop, if it was compiled before."""
    if end >= FEW_BYTES:
        from tocsin.arrays.jit import is_cached
        from tocsin.events.kernels.json_scan import count_lines

        if is_cached(count_lines):
            return count_lines(data, 0, end)
    return count_records(data[:end].tobytes())


def count_records(lines: bytes) -> int:
    """How many of the lines are not blank; only those that start with a blank are looked at twice."""
    data = np.frombuffer(lines, np.uint8)
    parts = range(0, len(data), _COUNTED_BYTES)
    ends = [np.flatnonzero(data[part : part + _COUNTED_BYTES] == ord("\n")) + part for part in parts]
    starts = np.concatenate([[0], *(end + 1 for end in ends)])
    starts = starts[starts < len(data)]
    count = len(starts)
    for start in starts[data[starts] <= ord(" ")].tolist():
        end = lines.find(b"\n", start)
        count -= _is_blank(lines[start : end if end >= 0 else None])
    return count


def _rest_of_line(stream: IO[bytes], piece: int) -> bool:
    """Read on to the end of a very long line; whether anything but blanks was left of it."""
    found = False
    while part := stream.readline(piece):
        found = found or not _is_blank(part)
        if part.endswith(b"\n"):
            break
    return found


def _is_blank(text: bytes) -> bool:
    return not text.strip(BLANKS)


def _count_packed(file: str) -> int:
    with open_records(file) as stream:
        return sum(1 for _ in record_lines(stream))
