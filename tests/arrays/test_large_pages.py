"""Copies that an engine reads are equal to what a kernel made, and are its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.large_pages import in_large_pages


class _Some(NamedTuple):
    numbers: NDArray[np.int32]
    pairs: NDArray[np.uint32]
    size: int


def test_arrays_are_copied_and_the_rest_is_kept():
    made = _Some(np.arange(5, dtype=np.int32), np.ones((3, 2), np.uint32), 7)
    copied = in_large_pages(made)
    assert isinstance(copied, _Some)
    assert copied.size == 7
    for mine, its in ((made.numbers, copied.numbers), (made.pairs, copied.pairs)):
        assert mine.dtype == its.dtype
        assert mine.tolist() == its.tolist()
        assert not np.shares_memory(mine, its)
        assert its.flags.c_contiguous
