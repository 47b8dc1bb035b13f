"""The pairs of numbers compare as the numbers do."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events import split_integer
from tocsin.events.number_pairs import split_floats, split_integers, split_mixed, split_signed, split_unsigned

LARGEST = sys.float_info.max
INT64 = [0, 1, -1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, 2**63 - 513, -(2**63), -(2**53) - 1]
UINT64 = [0, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 1025, 2**64 - 2048]
HUGE = [2**64, 2**100 + 1, 2**117 + 2**64, int(LARGEST), int(LARGEST) + 1, 10**400, -(10**400), -(2**64) - 1]
FLOATS = [0.0, 5e-324, 2.2e-308, 0.1, 2.0**53, 2.0**63, 2.0**64, 1e300, LARGEST, float("inf")]
FLOATS += [-value for value in FLOATS]


def pairs(split: tuple[np.ndarray, np.ndarray]) -> list[tuple[float, int]]:
    """As Python's own numbers, so that comparing them does not round."""
    return list(zip(split[0].tolist(), split[1].tolist(), strict=True))


def test_every_order_is_the_order_of_the_values() -> None:
    numbers: list[int | float] = [*INT64, *UINT64, *HUGE, *FLOATS]
    of_number = dict(zip(map(repr, numbers), pairs(split_mixed(numbers)), strict=True))
    literals = [*INT64, *FLOATS]
    for number in numbers:
        for literal in literals:
            one, other = of_number[repr(number)], of_number[repr(literal)]
            assert (one < other, one == other) == (number < literal, number == literal), (number, literal)


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_signed_is_exact(values: list[int]) -> None:
    split = pairs(split_signed(np.array(values, np.int64)))
    assert [int(high) + low for high, low in split] == values
    assert [high for high, _ in split] == [float(value) for value in values]
    assert split == [split_integer(value) for value in values]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_unsigned_is_exact(values: list[int]) -> None:
    split = pairs(split_unsigned(np.array(values, np.uint64)))
    assert split == [split_integer(value) for value in values]


@pytest.mark.parametrize("values", [INT64, UINT64])
def test_edges_are_exact(values: list[int]) -> None:
    assert [int(high) + low for high, low in pairs(split_integers(values))] == values


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_small_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = np.array([info.min, 0, info.max], dtype)
    split = split_signed(values) if info.min < 0 else split_unsigned(values)
    assert pairs(split) == [(float(info.min), 0), (0.0, 0), (float(info.max), 0)]


@given(
    st.integers(-(10**320), 10**320), st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
)
def test_any_integer_against_any_literal(value: int, literal: int | float) -> None:
    one = split_integer(value)
    other = split_integer(literal) if isinstance(literal, int) else (literal, 0)
    assert (one < other) == (value < literal)
    assert (one == other) == (value == literal)


@given(st.integers(-(2**116), 2**116))
def test_integers_below_the_limit_are_exact(value: int) -> None:
    high, low = split_integer(value)
    assert Fraction(high) + low == value


def test_floats_lose_the_sign_of_zero_and_are_copied() -> None:
    values = np.array([-0.0, 1.5], np.float64)
    high, low = split_floats(values)
    assert str(high[0]) == "0.0"
    assert low.tolist() == [0, 0]
    assert not np.shares_memory(high, values)
    assert split_floats(np.array([1.5, -0.0], np.float16))[0].dtype == np.float64
    assert str(split_mixed([-0.0, 2**80])[0][0]) == "0.0"
