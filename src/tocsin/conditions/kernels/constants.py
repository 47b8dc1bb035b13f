"""The constants of a predicate, from bytes to keys: numbers, strings, Booleans, and lists of them.

A constant becomes one operand of two int64, `high` and `low`:

    number, Boolean    the key by which it is compared (see arrays/lookup.py)
    string             where its bytes begin in `text`, and how many they are

Numbers that need care are left to the grammar: what has more than 15 digits or a far exponent. What
is left has one key for each value, to decimals too: decimals of 15 digits are different doubles when
they are different, and the integers that a double rounds are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.byte_classes import (
    WORD_FALSE,
    WORD_TRUE,
    classify,
    end_of_word,
    is_name_part,
    is_name_start,
)
from tocsin.arrays.dtypes import Bytes, Doubles, Longs
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


class Operands(NamedTuple):
    """Room for the operands of predicates, and for the bytes of those that are strings.

    high, low   int64[n]
    doubles     float64[n]   the memory of `high` seen as doubles: so a double's bits become a key
    text        uint8[...]
    """

    high: Longs
    doubles: Doubles
    low: Longs
    text: Bytes


@kernel
def room_for_operands(count: int, size: int) -> Operands:
    """Room for so many operands, with strings of so many bytes."""
    high = np.empty(count, np.int64)
    return Operands(high, high.view(np.float64), np.empty(count, np.int64), np.empty(size, np.uint8))


@kernel
def _put(into: Operands, place: int, value: float, low: int) -> None:
    """Write a key: the bits of a double, ordered as the doubles are, and what it lacks."""
    into.doubles[place] = value
    if into.high[place] < 0:
        into.high[place] ^= _MAGNITUDE
    into.low[place] = low


@kernel
def _put_integer(into: Operands, place: int, size: np.uint64, negative: bool) -> bool:
    """Write the key of an integer; False when it does not fit 64 bits."""
    if size > _LARGEST:
        if not negative or size > _LARGEST + np.uint64(1):
            return False
        _put(into, place, -(2.0**63), 0)
        return True
    value = -np.int64(size) if negative else np.int64(size)
    nearest = np.float64(value)
    if nearest >= 2.0**63:
        _put(into, place, nearest, value - _MAGNITUDE - 1)
    else:
        _put(into, place, nearest, value - np.int64(nearest))
    return True


@kernel
def _put_decimal(into: Operands, place: int, digits: np.uint64, power: int, negative: bool) -> bool:
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
    _put(into, place, value, 0)
    return True


@kernel
def _read_digits(data: Bytes, at: int, end: int, digits: np.uint64) -> tuple[int, np.uint64]:
    """Behind the digits at `at` (or UNSURE: they are too many), and the number that they go on with."""
    while at < end and _is_digit(data[at]):
        if digits > _ROOM_FOR_A_DIGIT:
            return UNSURE, digits
        digits = digits * _TEN + np.uint64(data[at] - 48)
        at += 1
    return at, digits


@kernel
def _read_number(data: Bytes, at: int, end: int, into: Operands, place: int) -> int:
    """Behind the number that begins at `at`, its key written; or UNSURE."""
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    whole, digits = _read_digits(data, at, end, np.uint64(0))
    if whole == UNSURE or whole == at:
        return UNSURE
    at = whole
    power = 0
    if at + 1 < end and data[at] == 46 and _is_digit(data[at + 1]):
        at, digits = _read_digits(data, at + 1, end, digits)
        if at == UNSURE:
            return UNSURE
        power = whole + 1 - at
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
        good = _put_integer(into, place, digits, negative)
    else:
        good = _put_decimal(into, place, digits, power, negative)
    return at if good else UNSURE


@kernel
def copy_quoted(data: Bytes, at: int, end: int, into: Bytes, used: int) -> tuple[int, int]:
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
def read_value(data: Bytes, at: int, end: int, into: Operands, place: int, used: int) -> tuple[int, int, int]:
    """Read one constant into operand `place`: behind it (or UNSURE), its kind, and the use of text."""
    if at >= end:
        return UNSURE, NUMBER, used
    byte = data[at]
    if byte == 39:
        behind, filled = copy_quoted(data, at, end, into.text, used)
        into.high[place] = used
        into.low[place] = filled - used
        return behind, STRING, filled
    if is_name_start(byte):
        behind = end_of_word(data, at, end)
        word = classify(data, at, behind)
        if word != WORD_TRUE and word != WORD_FALSE:
            return UNSURE, BOOLEAN, used
        into.high[place] = 1 if word == WORD_TRUE else 0
        into.low[place] = 0
        return behind, BOOLEAN, used
    return _read_number(data, at, end, into, place), NUMBER, used


@kernel
def _precedes(into: Operands, high: int, low: int, other: int, is_text: bool) -> bool:
    """Whether an operand comes before the one at a place: by key, or strings byte by byte."""
    other_high, other_low, text = into.high[other], into.low[other], into.text
    if not is_text:
        return high < other_high or (high == other_high and low < other_low)
    for i in range(min(low, other_low)):
        if text[high + i] != text[other_high + i]:
            return text[high + i] < text[other_high + i]
    return low < other_low


@kernel
def order_values(into: Operands, start: int, end: int, is_text: bool) -> int:
    """Sort operands start ... end by Shell's method and leave each once; the new end."""
    highs, lows = into.high, into.low
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            high, low = highs[i], lows[i]
            j = i
            while j >= start + gap and _precedes(into, high, low, j - gap, is_text):
                highs[j] = highs[j - gap]
                lows[j] = lows[j - gap]
                j -= gap
            highs[j] = high
            lows[j] = low
        gap //= 3
    kept = start + 1
    for i in range(start + 1, end):
        if _precedes(into, highs[kept - 1], lows[kept - 1], i, is_text):
            highs[kept] = highs[i]
            lows[kept] = lows[i]
            kept += 1
    return kept


@kernel
def pack_strings(into: Operands, start: int, end: int, first: int, spare: Bytes) -> int:
    """Bring the strings of operands start ... end into order from text[first] on; their new end.

    `high` is left 0. spare has room for all of them.
    """
    used = 0
    for i in range(start, end):
        for j in range(into.low[i]):
            spare[used + j] = into.text[into.high[i] + j]
        used += into.low[i]
        into.high[i] = 0
    for j in range(used):
        into.text[first + j] = spare[j]
    return first + used
