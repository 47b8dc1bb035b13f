"""How many bytes come out of a Parquet file, found before they do.

A file says of itself how large its pages are, but not what they stand for: a million rows that repeat one
text of a megabyte are a page of a megabyte and some bytes. So texts that could be too much, were each of
them the longest of its dictionary, are read once as numbers of entries, which stay small, and their lengths
are added up.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tocsin.events.arrow_types import is_list

_LEAST = 8
"""Bytes of a value in memory, however few a file needs for many equal ones."""
_ROWS_AT_ONCE = 1 << 16


def unpacked_size(
    path: str | os.PathLike[str],
    metadata: pq.FileMetaData,
    group: int,
    most: int,
    names: Container[str] | None = None,
) -> int:
    """The bytes of a row group, or of its columns of these names; beyond `most` it need not be exact."""
    about = metadata.row_group(group)
    size = 0
    for column in map(about.column, range(about.num_columns)):
        if names is None or column.path_in_schema.partition(".")[0] in names:
            size += max(int(column.total_uncompressed_size), _LEAST * int(column.num_values))
            if size <= most and _may_repeat(column, most):
                size += _repeated(path, metadata, column, group, most)
    return size


def unpacked_sizes(path: str | os.PathLike[str], metadata: pq.FileMetaData, most: int) -> int:
    """The bytes of a whole file; beyond `most` it need not be exact."""
    size = 0
    for group in range(metadata.num_row_groups):
        if size <= most:
            size += unpacked_size(path, metadata, group, most - size)
    return size


def _may_repeat(column: pq.ColumnChunkMetaData, most: int) -> bool:
    if column.physical_type != "BYTE_ARRAY" or column.num_values * column.total_uncompressed_size <= most:
        return False
    return any("DICTIONARY" in encoding for encoding in column.encodings)


def _repeated(
    path: str | os.PathLike[str],
    metadata: pq.FileMetaData,
    column: pq.ColumnChunkMetaData,
    group: int,
    most: int,
) -> int:
    """The bytes of texts that stand in the dictionary of a column; 0 when they cannot be more than `most`."""
    name = column.path_in_schema
    with pq.ParquetFile(path, metadata=metadata, read_dictionary=[name], pre_buffer=False) as opened:
        first = next(opened.iter_batches(1, [group], columns=[name]), None)
        dictionaries = [] if first is None else [*_dictionaries(first)]
        longest = max((int(_lengths(texts).max(initial=0)) for texts in dictionaries), default=0)
        if longest * column.num_values <= most:
            return 0
        size = 0
        for batch in opened.iter_batches(_ROWS_AT_ONCE, [group], columns=[name]):
            for texts in _dictionaries(batch):
                size += int(_lengths(texts)[texts.indices.drop_null().to_numpy()].sum())
            if size > most:
                break
        return size


def _lengths(texts: pa.DictionaryArray) -> NDArray[np.int64]:
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
