"""Integers of any size and floats as (high, low) pairs that compare as the values do.

high is the nearest double and low what is left, so the pairs of two numbers, compared first by high
and then by low, compare as the numbers: 2**53 + 1 is (9007199254740992.0, 1), between the doubles
2**53 and 2**53 + 2. Two limits keep low within 64 bits, and both only ever bring together integers
that no literal lies between (a literal is an int64, or a double with low = 0):

- the rest of an integer beyond some 2**116 may need more than 63 bits: it is cut to ±(2**63 - 1);
- an integer that rounds beyond the largest double is (±that double, ±1).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Doubles, Longs

Highs = Doubles
Lows = Longs

LARGEST = sys.float_info.max
_EXACT = 2**53
_MOST = 2**63 - 1


def split_floats(values: NDArray[np.floating]) -> tuple[Highs, Lows]:
    """Pairs of floats that hold no NaN. The arrays are new, and -0.0 has become 0.0."""
    high = values.astype(np.float64)
    high += 0.0
    return high, np.zeros(len(high), np.int64)


def split_signed(values: NDArray[np.signedinteger]) -> tuple[Highs, Lows]:
    """Pairs of integers of up to 64 bits."""
    exact = values.astype(np.int64)
    high = exact.astype(np.float64)
    if values.dtype.itemsize < 8:
        return high, np.zeros(len(high), np.int64)
    # 2.0**63 has no int64: its two's complement is -2**63, and the difference wraps to the right one.
    wrapped = np.where(high >= 2.0**63, -(2.0**63), high).astype(np.int64)
    return high, exact - wrapped


def split_unsigned(values: NDArray[np.unsignedinteger]) -> tuple[Highs, Lows]:
    """Pairs of unsigned integers of up to 64 bits."""
    exact = values.astype(np.uint64)
    high = exact.astype(np.float64)
    if values.dtype.itemsize < 8:
        return high, np.zeros(len(high), np.int64)
    wrapped = np.where(high >= 2.0**64, 0.0, high).astype(np.uint64)
    return high, (exact - wrapped).view(np.int64)


def split_integer(value: int) -> tuple[float, int]:
    """The pair of one integer of any size."""
    if -_EXACT <= value <= _EXACT:
        return float(value), 0
    try:
        high = float(value)
    except OverflowError:
        return (LARGEST, 1) if value > 0 else (-LARGEST, -1)
    return high, max(-_MOST, min(_MOST, value - int(high)))


def split_integers(values: Sequence[int]) -> tuple[Highs, Lows]:
    """Pairs of integers of any size."""
    try:
        return split_signed(np.array(values, np.int64))
    except OverflowError:
        return split_mixed(values)


def split_mixed(values: Sequence[int | float]) -> tuple[Highs, Lows]:
    """Pairs of Python numbers, integers and floats (no NaN) in any order."""
    pairs = [split_integer(value) if isinstance(value, int) else (value + 0.0, 0) for value in values]
    high = np.array([pair[0] for pair in pairs], np.float64)
    return high, np.array([pair[1] for pair in pairs], np.int64)
