"""Parquet files: their columns, and how many bytes come out of them, found before they do.

A file says of itself how large its pages are, but not what they stand for: a million rows that repeat one
text of a megabyte are a page of a megabyte and some bytes. So what texts could come to at most is added up:

    first      as if each of them were as long as all of their pages
    then       as if each of them were the longest of its dictionary, which is read
    exactly    they are read once as numbers of entries, which stay small, and their lengths are added up

The columns that could be the largest are looked into first, and only until all together cannot be too much.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError
from tocsin.storage import check_unpacked, most_unpacked
from tocsin.tables.arrow_types import is_list
from tocsin.tables.records import reading

_LEAST = 8
"""Bytes of a value in memory, however few a file needs for many equal ones."""
_ROWS_AT_ONCE = 1 << 16


class RowGroup(NamedTuple):
    """A row group of a file."""

    path: str | os.PathLike[str]
    metadata: pq.FileMetaData
    group: int


def column_names(file: str) -> list[str]:
    """The names of the columns of a file."""
    with reading(file):
        return list(pq.read_schema(file).names)


def read_table(path: Path) -> pa.Table:
    """All rows of a file; LimitError when that would be too much."""
    with pq.ParquetFile(path) as opened:
        checked_size(path, row_groups(path, opened.metadata))
        return opened.read()


def checked_dataset(path: Path, limit: int, times: int = 0) -> pq.ParquetDataset:
    """A file, or a folder of files, to read; LimitError when more bytes come out of it than may.

    Those are `limit`, or so many times what is packed if that is more. A name is that of a local file:
    without a file system Arrow would take `file:/etc/x` for a URI.
    """
    if not path.exists():
        raise InputError("there is no such file")
    opened = pq.ParquetDataset(str(path.absolute()), filesystem=LocalFileSystem())
    files = [Path(file) for file in opened.files]
    limit = max(limit, times * sum(file.stat().st_size for file in files))
    groups = [group for file in files for group in row_groups(file, pq.read_metadata(file))]
    check_unpacked(path, unpacked_size(groups, limit), limit, setting="")
    return opened


def row_groups(path: str | os.PathLike[str], metadata: pq.FileMetaData) -> list[RowGroup]:
    """All of a file."""
    return [RowGroup(path, metadata, group) for group in range(metadata.num_row_groups)]


def checked_size(
    path: str | os.PathLike[str], groups: Iterable[RowGroup], names: Container[str] | None = None
) -> int:
    """As below, of row groups of one file; LimitError when it may not have so many."""
    most = most_unpacked(Path(path).stat().st_size)
    size = unpacked_size(groups, most, names)
    check_unpacked(path, size, most)
    return size


def unpacked_size(groups: Iterable[RowGroup], most: int, names: Container[str] | None = None) -> int:
    """The bytes of row groups, or of their columns of these names; more than `most` if they are too many.

    Where they are not, what texts take that repeat need not be among them.
    """
    size = 0
    # What they come to at most, negated; whether by the dictionary; their number; which they are.
    texts: list[tuple[int, bool, int, RowGroup, int]] = []
    for group in groups:
        about = group.metadata.row_group(group.group)
        for number, column in enumerate(map(about.column, range(about.num_columns))):
            if names is None or column.path_in_schema.partition(".")[0] in names:
                size += max(int(column.total_uncompressed_size), _LEAST * int(column.num_values))
                if _may_repeat(column):
                    bound = int(column.num_values) * int(column.total_uncompressed_size)
                    texts.append((-bound, False, len(texts), group, number))
    overlooked = -sum(bound for bound, *_ in texts)
    heapify(texts)
    while size <= most < size + overlooked:
        bound, by_dictionary, order, group, number = heappop(texts)
        overlooked += bound
        if by_dictionary:
            size += _repeated(group, number, most - size)
        else:
            bound = -_longest(group, number)
            overlooked -= bound
            heappush(texts, (bound, True, order, group, number))
    return size


def _may_repeat(column: pq.ColumnChunkMetaData) -> bool:
    return column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in each for each in column.encodings)


def _opened(group: RowGroup, name: str) -> pq.ParquetFile:
    return pq.ParquetFile(group.path, metadata=group.metadata, read_dictionary=[name], pre_buffer=False)


def _longest(group: RowGroup, number: int) -> int:
    """What the texts of a column would take, were each of them the longest of the dictionary."""
    column = group.metadata.row_group(group.group).column(number)
    name = column.path_in_schema
    with _opened(group, name) as opened:
        first = next(opened.iter_batches(1, [group.group], columns=[name]), None)
        dictionaries = [] if first is None else [*_dictionaries(first)]
        longest = max((int(_lengths(texts).max(initial=0)) for texts in dictionaries), default=0)
        return longest * int(column.num_values)


def _repeated(group: RowGroup, number: int, most: int) -> int:
    """What the texts of a column take that stand in its dictionary; beyond `most` not exactly."""
    name = group.metadata.row_group(group.group).column(number).path_in_schema
    size = 0
    with _opened(group, name) as opened:
        for batch in opened.iter_batches(_ROWS_AT_ONCE, [group.group], columns=[name]):
            for texts in _dictionaries(batch):
                size += int(_lengths(texts)[texts.indices.drop_null().to_numpy()].sum())
            if size > most:
                break
    return size


def _lengths(texts: pa.DictionaryArray) -> Longs:
    lengths = pc.fill_null(pc.binary_length(texts.dictionary), 0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)


def _dictionaries(data: pa.Array | pa.RecordBatch) -> Iterator[pa.DictionaryArray]:
    """The dictionary arrays within lists, structs and maps."""
    if isinstance(data, pa.RecordBatch):
        children = data.columns
    elif isinstance(data, pa.DictionaryArray):
        yield data
        return
    elif pa.types.is_map(data.type):
        children = [data.keys, data.items]
    elif is_list(data.type) or pa.types.is_struct(data.type):
        flat = data.flatten()
        children = flat if isinstance(flat, list) else [flat]
    else:
        return
    for child in children:
        yield from _dictionaries(child)
