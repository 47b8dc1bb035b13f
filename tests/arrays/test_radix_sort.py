"""Numbers and rows are put in order as NumPy puts them."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin.arrays.lists import with_room
from tocsin.arrays.radix_sort import bits_of, no_tally, order_by, sort_numbers


@pytest.mark.parametrize("largest", [0, 1, 5, 2**11 - 1, 2**11, 2**30, 2**64 - 1])
@pytest.mark.parametrize("count", [0, 1, 2, 3_000])
def test_as_a_stable_sort(count: int, largest: int) -> None:
    key = np.random.default_rng(count).integers(0, largest, count, np.uint64, endpoint=True)
    assert order_by(key).tolist() == np.argsort(key, kind="stable").tolist()


@pytest.mark.parametrize("largest", [0, 1, 5, 255, 2**13, 2**20, 2**26, 2**27, 2**31 - 1])
@pytest.mark.parametrize("count", [0, 1, 2, 24, 25, 300, 20_000])
def test_sorted(count: int, largest: int) -> None:
    number = np.random.default_rng(count).integers(0, largest, count, np.int32, endpoint=True)
    expected = np.sort(number)
    sort_numbers(number, np.empty(count, np.int32), bits_of(largest), no_tally())
    assert number.tolist() == expected.tolist()


@pytest.mark.parametrize(("largest", "bits"), [(0, 0), (1, 1), (2, 2), (255, 8), (256, 9), (2**31 - 1, 31)])
def test_bits(largest: int, bits: int) -> None:
    assert bits_of(largest) == bits


def test_room() -> None:
    some = np.array([1, 2, 3, 4], np.int32)
    assert with_room(some, 3, 1) is not None
    assert with_room(some, 3, 1).tolist() == [1, 2, 3, 4]
    longer = with_room(some, 3, 2)
    assert len(longer) >= 5
    assert longer[:3].tolist() == [1, 2, 3]
