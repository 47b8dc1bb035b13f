"""A tuple of arrays that a kernel reads from one block of addresses."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

from tocsin.arrays.dtypes import Bytes, Doubles, Flags, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.arrays.pinned import pin, pinned


class Pair(NamedTuple):
    number: Ints
    other: Ints


class Whole(NamedTuple):
    pair: Pair
    flag: Flags
    byte: Bytes
    weight: Doubles


@kernel
def sizes_and_sums(block: Longs) -> tuple[int, int, int, int, float]:
    whole = pinned(block, Whole)
    return (
        whole.pair.number.size,
        whole.pair.other.sum(),
        whole.flag.sum(),
        whole.byte.size,
        whole.weight[whole.weight.size - 1],
    )


@bare_kernel
def write(block: Longs, place: int, number: int) -> None:
    pinned(block, Whole).pair.other[place] = number


def whole() -> Whole:
    pair = Pair(np.arange(5, dtype=np.int32), np.array([3, 4], np.int32))
    return Whole(pair, np.array([True, False, True]), np.empty(0, np.uint8), np.array([0.5, 2.5]))


def test_a_kernel_reads_and_writes_them() -> None:
    parts = whole()
    block = pin(parts)
    assert sizes_and_sums(block) == (5, 7, 2, 0, 2.5)
    write(block, 1, 40)
    assert parts.pair.other.tolist() == [3, 40]
    assert sizes_and_sums(block)[1] == 43


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is pinned then")
@pytest.mark.parametrize("weight", [np.zeros(2, np.float32), np.zeros((2, 2)), np.zeros(4)[::2]])
def test_what_is_not_as_declared_is_refused(weight: Doubles) -> None:
    with pytest.raises(TypeError, match=r"Whole\.weight is float"):
        pin(whole()._replace(weight=weight))
