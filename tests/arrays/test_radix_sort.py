"""Rows are put in order as NumPy's stable sort puts them."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin.arrays.radix_sort import order_by


@pytest.mark.parametrize("largest", [0, 1, 5, 2**11 - 1, 2**11, 2**30, 2**64 - 1])
@pytest.mark.parametrize("count", [0, 1, 2, 3_000])
def test_as_a_stable_sort(count: int, largest: int) -> None:
    key = np.random.default_rng(count).integers(0, largest, count, np.uint64, endpoint=True)
    assert order_by(key).tolist() == np.argsort(key, kind="stable").tolist()
