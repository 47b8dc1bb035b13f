"""Arrow's texts as arrays: the same bytes, in memory that kernels may be given."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from tocsin.arrays.packed import text_arrays

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
