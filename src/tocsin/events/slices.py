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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Literal

import numpy as np
import pyarrow.parquet as pq

from tocsin.errors import InputError, TocsinWarning
from tocsin.events.csv_columns import Layout, layout_of
from tocsin.tables import BLANKS, BYTE_ORDER_MARK, UNREADABLE, open_records, record_lines

Format = Literal["jsonl", "csv", "parquet"]

SLICE_BYTES = 32 * 2**20
_COUNTED_BYTES = 2**20  # at a time, so that counting makes no array as large as the slice
FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
    ".json.gz": "jsonl",
    ".csv": "csv",
    ".csv.gz": "csv",
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
    path: str | os.PathLike[str],
    slice_bytes: int = SLICE_BYTES,
    unreadable: dict[str, str] | None = None,
) -> list[Slice]:
    """The slices of a file or a folder, in the order of their rows; InputError when it is none.

    A file that cannot be read is an InputError too, unless `unreadable` is given: then it has no slices,
    and why is noted there by its name. CSV files are typed all together, so one that is broken stops all.
    """
    files, file_format = event_files(path)
    if file_format == "csv":
        return _csv_slices(files)
    slices: list[Slice] = []
    first_row = 0
    for place, file in enumerate(files):
        try:
            if file_format == "parquet":
                found = list(_parquet_slices(file, first_row, slice_bytes))
            elif file.lower().endswith(".gz"):
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


def event_files(path: str | os.PathLike[str]) -> tuple[list[str], Format]:
    """The event files at a path, sorted, and their one format.

    In a folder, names that start with `.` or `_` are left out, as Spark does (`_SUCCESS`, checksums,
    unfinished output), and names of no known format with a warning.
    """
    root = FilePath(path)
    if root.is_dir():
        files = sorted(_files_below(root))
        known = [file for file in files if format_of(file) is not None]
        if not known:
            raise InputError(f"{root}: the folder has no event files ({', '.join(FORMATS)})")
        if len(known) < len(files):
            others = [file for file in files if format_of(file) is None]
            warnings.warn(f"not read, being of no known format: {', '.join(others[:5])}", TocsinWarning, 2)
    elif root.exists():
        known = [str(root)]
    else:
        raise InputError(f"{root}: there is no such file or folder")
    formats = {format_of(file) for file in known}
    if len(formats) > 1:
        raise InputError(
            f"{root}: files of one format are expected, not {', '.join(sorted(map(str, formats)))}"
        )
    found = formats.pop()
    if found is None:
        raise InputError(f"{root}: the name of an event file ends in {', '.join(FORMATS)}")
    return known, found


def format_of(file: str) -> Format | None:
    """The format that a file's name tells."""
    name = FilePath(file).name.lower()
    return next((known for ending, known in FORMATS.items() if name.endswith(ending)), None)


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
    with FilePath(file).open("rb") as stream:
        start = 0
        while block := stream.read(slice_bytes):
            is_last = len(block) < slice_bytes
            end = len(block) if is_last else block.rfind(b"\n") + 1
            if start == 0:
                block = block.removeprefix(BYTE_ORDER_MARK).rjust(len(block))
            if end:
                rows = count_records(block[:end])
                stream.seek(start + end)
            else:
                rows = int(_rest_of_line(stream, slice_bytes) or not _is_blank(block))
            yield Slice(file, "jsonl", first_row, rows, start, stream.tell())
            first_row += rows
            start = stream.tell()


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
