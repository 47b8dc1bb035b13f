"""Arrow's texts as arrays: the same bytes, in memory that kernels may be given."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tocsin.arrays.packed import in_large_pages, text_arrays

TEXTS = ["a", "", "bcd", "é" * 100, "e"]


def read_only(texts: list[str]) -> pa.LargeStringArray:
    start = np.cumsum([0, *(len(text.encode()) for text in texts)])
    data = "".join(texts).encode()
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(start.tobytes()), pa.py_buffer(data))


@pytest.mark.parametrize("make", [lambda texts: pa.array(texts, pa.large_string()), read_only])
@pytest.mark.parametrize("begin", range(len(TEXTS) + 1))
@pytest.mark.parametrize("end", range(len(TEXTS) + 1))
def test_every_slice(make: Callable[[list[str]], pa.LargeStringArray], begin: int, end: int) -> None:
    start, data = text_arrays(make(TEXTS)[begin : max(begin, end)])
    found = [data[a:b].tobytes().decode() for a, b in pairwise(start.tolist())]
    assert found == TEXTS[begin:end]
    assert start[0] == 0
    assert data.flags.writeable
    assert data.flags.c_contiguous


def test_memory_is_shared_unless_it_would_keep_much_more() -> None:
    texts = pa.concat_arrays(
        [pa.array(["x" * 1_000] * 10, pa.large_string()), pa.array(["y"], pa.large_string())]
    )
    address = texts.buffers()[2].address
    assert text_arrays(texts)[1].ctypes.data == address
    assert not address <= text_arrays(texts[:2])[1].ctypes.data < address + 10_001


class _Some(NamedTuple):
    numbers: NDArray[np.int32]
    pairs: NDArray[np.uint32]
    size: int


def test_arrays_are_copied_and_the_rest_is_kept() -> None:
    made = _Some(np.arange(5, dtype=np.int32), np.ones((3, 2), np.uint32), 7)
    copied = in_large_pages(made)
    assert isinstance(copied, _Some)
    assert copied.size == 7
    for mine, its in ((made.numbers, copied.numbers), (made.pairs, copied.pairs)):
        assert mine.dtype == its.dtype
        assert mine.tolist() == its.tolist()
        assert not np.shares_memory(mine, its)
        assert its.flags.c_contiguous
