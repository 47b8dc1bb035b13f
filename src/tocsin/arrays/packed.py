"""Many small things in two arrays: one that says where each begins, and one that holds them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Longs

Scalar = TypeVar("Scalar", bound=np.generic)
Integer = TypeVar("Integer", bound=np.signedinteger[Any])


class Texts(NamedTuple):
    """Strings as bytes: string i is data[start[i] : start[i + 1]]."""

    start: Longs
    data: Bytes

    def text(self, number: int) -> str:
        """One of the strings."""
        return self.data[self.start[number] : self.start[number + 1]].tobytes().decode()


def starts(sizes: Sequence[int] | NDArray[Any], dtype: type[Integer]) -> NDArray[Integer]:
    """n sizes as n + 1 starts: thing i is start[i] : start[i + 1]."""
    start = np.zeros(len(sizes) + 1, dtype)
    np.add.accumulate(np.asarray(sizes, dtype), out=start[1:])
    return start


def packed_bytes(texts: Sequence[bytes]) -> tuple[Longs, Bytes]:
    """Starts and bytes of texts."""
    return starts([len(text) for text in texts], np.int64), np.frombuffer(
        bytearray(b"".join(texts)), np.uint8
    )


def text_arrays(texts: pa.LargeStringArray) -> tuple[Longs, Bytes]:
    """Starts (from 0) and bytes of an Arrow array without nulls.

    The bytes stay where Arrow has them, and are not to be changed. They are copied when they are but a
    small part of what Arrow would keep for them, or in memory that is read-only: kernels are compiled
    for arrays that are not.
    """
    _, offsets, data = texts.buffers()
    if len(texts) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    start = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data is None:
        return start - start[0], np.empty(0, np.uint8)
    kept = np.frombuffer(data, np.uint8)[start[0] : start[-1]]
    shared = kept.flags.writeable and 2 * len(kept) >= data.size
    return start - start[0], kept if shared else kept.copy()


def arrow_texts(start: Longs, data: Bytes) -> pa.LargeStringArray:
    """Starts and bytes as an Arrow array that shares their memory."""
    return pa.LargeStringArray.from_buffers(len(start) - 1, pa.py_buffer(start), pa.py_buffer(data))


def joined(parts: Sequence[NDArray[Scalar]], dtype: type[Scalar]) -> NDArray[Scalar]:
    """The arrays one after the other, as an array of its own, also when there are none."""
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def joined_starts(parts: Sequence[Longs]) -> Longs:
    """The starts of things that lie one part after the other, from the starts of each part's."""
    return starts(joined([np.diff(start) for start in parts], np.int64), np.int64)


def some_spans(start: Longs, rows: Longs) -> tuple[Longs, Longs]:
    """The starts of some rows' things, in these rows' order, and which things these are."""
    sizes = np.diff(start)[rows]
    left = starts(sizes, np.int64)
    return left, np.repeat(start[rows] - left[:-1], sizes) + np.arange(left[-1])


T = TypeVar("T", bound=tuple[Any, ...])


def in_large_pages(arrays: T) -> T:
    """The same named tuple with a copy of every array; what is no array stays."""
    return type(arrays)(*(each.copy() if isinstance(each, np.ndarray) else each for each in arrays))
