"""Decimal digits to the nearest double, and integers to exact pairs (number_pairs.py).

    123.456e7    mantissa 123456, exponent 4

A mantissa of 64 bits times a power of ten that was cut to 64 bits is too small by less than one in its upper
half. Unless that could change which double is nearest, as it could for 4 of 2,048, the double is known. For
the others, and what is beyond all normal doubles, the answer is NaN, and Python's own reader has to say.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import HALF, LOWER_HALF, leading_zeros
from tocsin.arrays.dtypes import Doubles, Longs, Words
from tocsin.arrays.jit import inner_kernel

MOST_DIGITS = 19
"""Of a mantissa: so many always fit in 64 bits."""

_LEAST, _MOST = -300, 288
_EXACT_POWER = 22
_EXACT = np.uint64(2**53)
_REST = np.uint64(0x7FF)
_MIDDLE = np.uint64(0x400)
_ERROR = np.uint64(3)
_MANTISSA_BITS = np.uint64(11)
_ABOVE = 11 + 52 + 1023
_FRACTION = np.uint64(52)
_HIDDEN = np.uint64(2**52)
_TOP = np.uint64(63)
_ONE = np.uint64(1)


def _powers() -> tuple[Words, Longs]:
    """10^e as power[e] * 2^scale[e], where the power has its top bit set and is cut, never rounded up."""
    power = np.empty(_MOST - _LEAST + 1, np.uint64)
    scale = np.empty(len(power), np.int64)
    for exponent in range(_LEAST, _MOST + 1):
        over, under = (10**exponent, 1) if exponent >= 0 else (1, 10**-exponent)
        shift = 64 - over.bit_length() + under.bit_length()
        value = (over << shift) // under if shift >= 0 else over // (under << -shift)
        if value >> 64:
            shift, value = shift - 1, value >> 1
        power[exponent - _LEAST] = value
        scale[exponent - _LEAST] = -shift
    return power, scale


_POWER, _SCALE = _powers()
_TENS: Doubles = np.array([10.0**exponent for exponent in range(_EXACT_POWER + 1)])


@inner_kernel
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The upper and the lower half of a product of 128 bits."""
    a_low, a_high = a & LOWER_HALF, a >> HALF
    b_low, b_high = b & LOWER_HALF, b >> HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    other = a_low * b_high + (middle & LOWER_HALF)
    return a_high * b_high + (middle >> HALF) + (other >> HALF), a * b


@inner_kernel
def double_of(mantissa: np.uint64, exponent: int) -> float:
    """The double nearest to mantissa * 10^exponent, to the even one of two; NaN where that is not known."""
    if mantissa <= _EXACT and -_EXACT_POWER <= exponent <= _EXACT_POWER:
        if exponent < 0:
            return np.float64(mantissa) / _TENS[-exponent]
        return np.float64(mantissa) * _TENS[exponent]
    if mantissa == np.uint64(0):
        return 0.0
    if exponent < _LEAST or exponent > _MOST:
        return np.nan
    zeros = leading_zeros(mantissa)
    upper, lower = _product(mantissa << np.uint64(zeros), _POWER[exponent - _LEAST])
    scale = _SCALE[exponent - _LEAST] + 64 - zeros
    if upper >> _TOP == np.uint64(0):
        upper = upper << _ONE | lower >> _TOP
        scale -= 1
    rest = upper & _REST
    if rest <= _MIDDLE and rest + _ERROR >= _MIDDLE:
        return np.nan
    digits = upper >> _MANTISSA_BITS
    if rest > _MIDDLE:
        digits += _ONE
    bits = (np.uint64(scale + _ABOVE) << _FRACTION) + (digits - _HIDDEN)
    return np.uint64(bits).view(np.float64)


@inner_kernel
def rest_of_integer(value: int, high: float) -> int:
    """What is left of an integer of 64 bits beside the double nearest to it."""
    if high >= 2.0**63:
        return np.int64(value) - np.int64(-(2**63))
    return np.int64(value) - np.int64(high)
