"""The constants of a predicate, from bytes to keys: numbers, strings, Booleans.

A constant becomes one operand of two int64, `high` and `low`:

    number, Boolean    the key by which it is compared (see arrays/lookup.py)
    string             where its bytes begin in `text`, and how many they are

`doubles` is the memory of `high` seen as doubles, which is how a double's bits become a key.

Numbers that need care are left to the grammar: what has more than 15 digits or a far exponent. What
is left has one key for each value, to decimals too: decimals of 15 digits are different doubles when
they are different, and the integers that a double rounds are left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.byte_classes import (
    WORD_FALSE,
    WORD_TRUE,
    classify,
    end_of_word,
    is_name_part,
    is_name_start,
)
from tocsin.arrays.jit import kernel

NUMBER = 0
STRING = 1
BOOLEAN = 2
UNSURE = -1

_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_LARGEST = np.uint64(0x7FFF_FFFF_FFFF_FFFF)
_ROOM_FOR_A_DIGIT = np.uint64((2**64 - 10) // 10)
_FIFTEEN_DIGITS = np.uint64(10**15)
_TEN = np.uint64(10)
_EXACT = 2.0**53
_FARTHEST_POWER = 22
_POWERS = np.array([10.0**power for power in range(_FARTHEST_POWER + 1)])
_MOST_EXPONENT_DIGITS = 4


@kernel
def _is_digit(byte: int) -> bool:
    return 48 <= byte <= 57


@kernel
def _put_double(high: NDArray[np.int64], doubles: NDArray[np.float64], place: int, value: float) -> None:
    """Write the bits of a double, ordered as the doubles are."""
    doubles[place] = value
    if high[place] < 0:
        high[place] ^= _MAGNITUDE


@kernel
def _put_integer(
    high: NDArray[np.int64],
    doubles: NDArray[np.float64],
    low: NDArray[np.int64],
    place: int,
    size: np.uint64,
    negative: bool,
) -> bool:
    """Write the key of an integer; False when it does not fit 64 bits."""
    low[place] = 0
    if size > _LARGEST:
        if not negative or size > _LARGEST + np.uint64(1):
            return False
        _put_double(high, doubles, place, -(2.0**63))
        return True
    value = -np.int64(size) if negative else np.int64(size)
    nearest = np.float64(value)
    _put_double(high, doubles, place, nearest)
    if nearest >= 2.0**63:
        low[place] = value - _MAGNITUDE - 1
    else:
        low[place] = value - np.int64(nearest)
    return True


@kernel
def _put_decimal(
    high: NDArray[np.int64],
    doubles: NDArray[np.float64],
    low: NDArray[np.int64],
    place: int,
    digits: np.uint64,
    power: int,
    negative: bool,
) -> bool:
    """Write the key of digits * 10**power; False when one rounding does not give the nearest double."""
    while digits > 0 and digits % _TEN == 0:
        digits //= _TEN
        power += 1
    value = 0.0
    if digits > 0:
        if digits >= _FIFTEEN_DIGITS or power < -_FARTHEST_POWER or power > _FARTHEST_POWER:
            return False
        value = np.float64(digits)
        if power < 0:
            value /= _POWERS[-power]
        else:
            value *= _POWERS[power]
            if value >= _EXACT:
                return False
        if negative:
            value = -value
    _put_double(high, doubles, place, value)
    low[place] = 0
    return True


@kernel
def _read_number(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    high: NDArray[np.int64],
    doubles: NDArray[np.float64],
    low: NDArray[np.int64],
    place: int,
) -> int:
    """Behind the number that begins at `at`, its key written; or UNSURE."""
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    first = at
    digits = np.uint64(0)
    while at < end and _is_digit(data[at]):
        if digits > _ROOM_FOR_A_DIGIT:
            return UNSURE
        digits = digits * _TEN + np.uint64(data[at] - 48)
        at += 1
    if at == first:
        return UNSURE
    whole = at
    power = 0
    if at + 1 < end and data[at] == 46 and _is_digit(data[at + 1]):
        at += 1
        while at < end and _is_digit(data[at]):
            if digits > _ROOM_FOR_A_DIGIT:
                return UNSURE
            digits = digits * _TEN + np.uint64(data[at] - 48)
            at += 1
            power -= 1
    if at < end and (data[at] | 32) == 101:
        at += 1
        downwards = at < end and data[at] == 45
        if downwards or (at < end and data[at] == 43):
            at += 1
        first = at
        exponent = 0
        while at < end and _is_digit(data[at]) and at - first < _MOST_EXPONENT_DIGITS:
            exponent = exponent * 10 + np.int64(data[at] - 48)
            at += 1
        if at == first:
            return UNSURE
        power += -exponent if downwards else exponent
    if at < end and (is_name_part(data[at]) or data[at] == 46 or data[at] >= 128):
        return UNSURE
    if at == whole:
        good = _put_integer(high, doubles, low, place, digits, negative)
    else:
        good = _put_decimal(high, doubles, low, place, digits, power, negative)
    return at if good else UNSURE


@kernel
def copy_quoted(
    data: NDArray[np.uint8], at: int, end: int, into: NDArray[np.uint8], used: int
) -> tuple[int, int]:
    """Copy the quoted text that begins at `at`, doubled quotes made one: behind it, and the new use."""
    quote = data[at]
    at += 1
    while at < end:
        if data[at] == quote:
            at += 1
            if at >= end or data[at] != quote:
                return at, used
        into[used] = data[at]
        used += 1
        at += 1
    return UNSURE, used


@kernel
def read_value(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    high: NDArray[np.int64],
    doubles: NDArray[np.float64],
    low: NDArray[np.int64],
    place: int,
    text: NDArray[np.uint8],
    used: int,
) -> tuple[int, int, int]:
    """Read one constant into operand `place`: behind it (or UNSURE), its kind, and the use of text."""
    if at >= end:
        return UNSURE, NUMBER, used
    byte = data[at]
    if byte == 39:
        behind, filled = copy_quoted(data, at, end, text, used)
        high[place] = used
        low[place] = filled - used
        return behind, STRING, filled
    if is_name_start(byte):
        behind = end_of_word(data, at, end)
        word = classify(data, at, behind)
        if word != WORD_TRUE and word != WORD_FALSE:
            return UNSURE, BOOLEAN, used
        high[place] = 1 if word == WORD_TRUE else 0
        low[place] = 0
        return behind, BOOLEAN, used
    return _read_number(data, at, end, high, doubles, low, place), NUMBER, used
