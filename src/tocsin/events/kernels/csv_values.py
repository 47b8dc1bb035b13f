"""What a value of CSV can be: a Boolean, an integer, a number. csv_columns.py has the rules."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.events.kernels.cell_stream import NUMBER, WRITTEN_INTEGER
from tocsin.events.kernels.decimal_numbers import MOST_DIGITS, double_of, rest_of_integer
from tocsin.events.kernels.value_traits import DIGITS, LONG, NO_BOOLEAN, NO_INTEGER, NO_NUMBER

_TEN = np.uint64(10)
_HALF = np.uint64(2**63)
_LONGEST_EXPONENT = 100_000


@inner_kernel
def trimmed(data: Bytes, start: int, end: int) -> tuple[int, int]:
    """Without spaces and tabs around it."""
    while start < end and (data[start] == 32 or data[start] == 9):
        start += 1
    while start < end and (data[end - 1] == 32 or data[end - 1] == 9):
        end -= 1
    return start, end


@bare_kernel
def _is_word(data: Bytes, start: int, end: int, word: bytes) -> bool:
    if end - start != len(word):
        return False
    for i in range(len(word)):
        if data[start + i] | 32 != word[i]:
            return False
    return True


@bare_kernel
def traits_of(data: Bytes, start: int, end: int) -> int:
    """What a value that is not empty cannot be, and has."""
    start, end = trimmed(data, start, end)
    at = start
    if at < end and (data[at] == 43 or data[at] == 45):
        at += 1
    first = at
    while at < end and data[at] == 48:
        at += 1
    significant = at
    while at < end and 48 <= data[at] <= 57:
        at += 1
    digits = at - first
    if at == end and digits:
        size = end - significant
        is_long = size > MOST_DIGITS
        if size == MOST_DIGITS:
            value = np.uint64(0)
            for i in range(significant, end):
                value = value * _TEN + np.uint64(data[i] - 48)
            is_long = value > _HALF if data[start] == 45 else value >= _HALF
        return NO_BOOLEAN | DIGITS | (LONG if is_long else 0)
    if at < end and data[at] == 46:
        at += 1
        while at < end and 48 <= data[at] <= 57:
            at += 1
            digits += 1
    if digits:
        if at < end and data[at] | 32 == 101:
            at += 1
            if at < end and (data[at] == 43 or data[at] == 45):
                at += 1
            behind = at
            while at < end and 48 <= data[at] <= 57:
                at += 1
            if at == behind:
                return NO_BOOLEAN | NO_INTEGER | NO_NUMBER
        if at == end:
            return NO_BOOLEAN | NO_INTEGER | DIGITS
        return NO_BOOLEAN | NO_INTEGER | NO_NUMBER
    if (
        _is_word(data, first, end, b"nan")
        or _is_word(data, first, end, b"inf")
        or _is_word(data, first, end, b"infinity")
    ):
        return NO_BOOLEAN | NO_INTEGER
    if _is_word(data, start, end, b"true") or _is_word(data, start, end, b"false"):
        return NO_INTEGER | NO_NUMBER
    return NO_BOOLEAN | NO_INTEGER | NO_NUMBER


@bare_kernel
def read_decimal(data: Bytes, start: int, end: int, kind: int) -> tuple[int, int, int]:
    """The cell of what is a WRITTEN_INTEGER or WRITTEN_FLOAT: the kind, place and low (cell_stream.py)."""
    at = start
    is_negative = data[at] == 45
    if is_negative or data[at] == 43:
        at += 1
    while at < end and data[at] == 48:
        at += 1
    mantissa = np.uint64(0)
    digits = 0
    exponent = 0
    is_started = is_fraction = False
    while at < end:
        byte = np.int64(data[at])
        if 48 <= byte <= 57:
            mantissa = mantissa * _TEN + np.uint64(byte - 48)
            is_started |= byte != 48
            digits += is_started
            exponent -= is_fraction
        elif byte == 46 and not is_fraction:
            is_fraction = True
        else:
            break
        at += 1
    if digits > MOST_DIGITS:
        return kind, start, end
    if kind == WRITTEN_INTEGER:
        if at < end or mantissa >= _HALF:
            return kind, start, end
        value = -np.int64(mantissa) if is_negative else np.int64(mantissa)
        high = np.float64(value)
        return NUMBER, np.float64(high).view(np.int64), rest_of_integer(value, high)
    if at < end:
        if data[at] | 32 != 101:
            return kind, start, end
        at += 1
        is_small = data[at] == 45
        if is_small or data[at] == 43:
            at += 1
        written = 0
        while at < end:
            written = min(written * 10 + np.int64(data[at]) - 48, _LONGEST_EXPONENT)
            at += 1
        exponent += -written if is_small else written
    size = double_of(mantissa, exponent)
    if size != size:
        return kind, start, end
    if is_negative:
        size = 0.0 - size
    return NUMBER, np.float64(size).view(np.int64), 0
