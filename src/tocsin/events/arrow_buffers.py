"""The memory of Arrow's arrays, read as NumPy arrays.

A table may have a thousand columns with a few values each. Arrow's own functions take some ten
microseconds a call, however little there is to do; looking at the memory takes one or two.

    int32 column of 5 elements, from element 2 of its memory     7  null  9  null  1

    validity    01010110 00000000      a bit for each element, lowest first; none when nothing is null
                   1 0101 from bit 2
    values      . . 7 ? 9 ? 1          what stands for a null means nothing
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import lib

from tocsin.arrays.dtypes import Flags

_LARGE_STRING = pa.large_string()
_OFFSETS: dict[int, np.dtype[Any]] = {
    lib.Type_LIST: np.dtype(np.int32),
    lib.Type_LARGE_LIST: np.dtype(np.int64),
}


def bits_of(buffer: pa.Buffer, offset: int, count: int) -> Flags:
    """So many bits, from bit `offset` on."""
    first = offset >> 3
    data = np.frombuffer(buffer, np.uint8, ((offset + count + 7) >> 3) - first, first)
    skipped = offset & 7
    return np.unpackbits(data, bitorder="little")[skipped : skipped + count].view(np.bool_)


def valid_of(array: pa.Array) -> Flags | None:
    """Which elements are not null, or None when all are; not for types whose nulls lie elsewhere (unions,
    and what plain() of tables/arrow_types.py takes off)."""
    if array.null_count == 0:
        return None
    return bits_of(array.buffers()[0], array.offset, len(array))


def values_of(array: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of an array of fixed width, of which there are some; read-only, sharing its memory."""
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def list_lengths(array: pa.Array) -> NDArray[Any]:
    """How many elements each list of an array has; a null list has none."""
    dtype = _OFFSETS.get(array.type.id)
    if dtype is None or not len(array):
        counted: NDArray[Any] = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        return counted
    lengths: NDArray[Any] = np.diff(_offsets(array, dtype))
    valid = valid_of(array)
    return lengths if valid is None else lengths * valid


def list_elements(array: pa.Array, lengths: NDArray[Any]) -> pa.Array:
    """The elements of lists of such lengths in a row. What a null list may hide in its memory is left out."""
    dtype = _OFFSETS.get(array.type.id)
    if dtype is not None and len(array):
        offsets = _offsets(array, dtype)
        first, count = int(offsets[0]), int(lengths.sum())
        if count == offsets[-1] - first:
            return array.values.slice(first, count)
    return array.flatten()


def _offsets(array: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.frombuffer(array.buffers()[1], dtype, len(array) + 1, array.offset * dtype.itemsize)


def large_texts(texts: pa.StringArray) -> pa.LargeStringArray:
    """Texts without nulls, with offsets of 64 bits."""
    data = texts.buffers()[2]
    if len(texts) == 0 or data is None:
        return texts.cast(_LARGE_STRING)
    start = _offsets(texts, np.dtype(np.int32)).astype(np.int64)
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(start), data)
