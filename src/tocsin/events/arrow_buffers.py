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
from numpy.typing import NDArray

_LARGE_STRING = pa.large_string()


def bits_of(buffer: pa.Buffer, offset: int, count: int) -> NDArray[np.bool_]:
    """So many bits, from bit `offset` on."""
    first = offset >> 3
    data = np.frombuffer(buffer, np.uint8, ((offset + count + 7) >> 3) - first, first)
    skipped = offset & 7
    return np.unpackbits(data, bitorder="little")[skipped : skipped + count].view(np.bool_)


def valid_of(array: pa.Array) -> NDArray[np.bool_] | None:
    """Which elements are not null, or None when all are; not for types whose nulls lie elsewhere (unions,
    and what plain() of arrow_types.py takes off)."""
    if array.null_count == 0:
        return None
    return bits_of(array.buffers()[0], array.offset, len(array))


def values_of(array: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of an array of fixed width, of which there are some; read-only, sharing its memory."""
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def large_texts(texts: pa.StringArray) -> pa.LargeStringArray:
    """Texts without nulls, with offsets of 64 bits."""
    _, offsets, data = texts.buffers()
    if len(texts) == 0 or data is None:
        return texts.cast(_LARGE_STRING)
    start = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset).astype(np.int64)
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(start), data)
