"""The pieces of a line of JSON: strings, numbers and words, as strictly as Python's json reads them.

Every function is given a place and says where its piece ends, REFUSED when it does not. A line feed that
ends the line has to come, and sixteen bytes that can be read behind it.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import EVERY_BYTE, eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import TOPS
from tocsin.arrays.dtypes import Bytes, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.events.kernels.cell_stream import BOOLEAN, NUMBER, WRITTEN_FLOAT, WRITTEN_INTEGER
from tocsin.events.kernels.decimal_numbers import MOST_DIGITS, double_of, rest_of_integer
from tocsin.events.kernels.utf8 import behind_character

REFUSED = -1
_QUOTES = EVERY_BYTE * np.uint64(ord('"'))
_BACKSLASHES = EVERY_BYTE * np.uint64(ord("\\"))
_SPACES = EVERY_BYTE * np.uint64(ord(" "))
_TEN = np.uint64(10)
_LARGEST_INTEGER = np.uint64(2**63 - 1)
_LONGEST_EXPONENT = 100_000
"""What is beyond this is as good as beyond all numbers."""


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))


_TRUE, _FALSE, _NULL, _NAN = _word(b"true"), _word(b"false"), _word(b"null"), _word(b"NaN")
_INFINITY = _word(b"Infinity")
_THREE, _FOUR, _FIVE = (np.uint64(2 ** (8 * size) - 1) for size in (3, 4, 5))

NO_CELL = -1


@inner_kernel
def behind_blanks(data: Bytes, at: int) -> int:
    """The next byte that is no blank; a line feed is none."""
    while data[at] == 32 or data[at] == 9 or data[at] == 13:
        at += 1
    return at


@inner_kernel
def end_of_string(data: Bytes, at: int) -> tuple[int, bool]:
    """The quote that ends the string which begins at `at`, and whether there is an escape before."""
    escaped = False
    while True:
        word = eight_bytes(data, at)
        # The lowest bit that is set is right: a byte of 34, 92, below 32 or above 127.
        marks = (
            word | (word - _SPACES) | ((word ^ _QUOTES) - EVERY_BYTE) | ((word ^ _BACKSLASHES) - EVERY_BYTE)
        ) & TOPS
        if marks == np.uint64(0):
            at += 8
            continue
        at += lowest_bit(marks) >> 3
        byte = data[at]
        if byte == 34:
            return at, escaped
        if byte == 92:
            escaped = True
            at = _behind_escape(data, at)
        elif byte >= 128:
            at = behind_character(data, at)
        else:
            at = REFUSED
        if at < 0:
            return REFUSED, escaped


@bare_kernel
def _behind_escape(data: Bytes, at: int) -> int:
    letter = data[at + 1]
    if letter != 117:
        is_known = (
            letter == 34
            or letter == 92
            or letter == 47
            or letter == 98
            or letter == 102
            or letter == 110
            or letter == 114
            or letter == 116
        )
        return at + 2 if is_known else REFUSED
    code = _code(data, at + 2)
    if code < 0xD800 or code > 0xDFFF:
        return at + 6 if code >= 0 else REFUSED
    if code > 0xDBFF or data[at + 6] != 92 or data[at + 7] != 117:
        return REFUSED
    other = _code(data, at + 8)
    return at + 12 if 0xDC00 <= other <= 0xDFFF else REFUSED


@bare_kernel
def _code(data: Bytes, at: int) -> int:
    """Four hexadecimal digits; -1 when they are none. It stops at the first that is none."""
    code = 0
    for i in range(4):
        byte = np.int64(data[at + i])
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 97 <= byte | 32 <= 102:
            digit = (byte | 32) - 87
        else:
            return -1
        code = code << 4 | digit
    return code


@bare_kernel
def unescaped(data: Bytes, at: int, end: int, to: int) -> int:
    """Write the string data[at:end], whose escapes are right, to `to`; where that ends."""
    while at < end:
        byte = data[at]
        if byte != 92:
            data[to] = byte
            at += 1
            to += 1
            continue
        byte = data[at + 1]
        if byte != 117:
            if byte == 98:
                byte = np.uint8(8)
            elif byte == 102:
                byte = np.uint8(12)
            elif byte == 110:
                byte = np.uint8(10)
            elif byte == 114:
                byte = np.uint8(13)
            elif byte == 116:
                byte = np.uint8(9)
            data[to] = byte
            at += 2
            to += 1
            continue
        code = _code(data, at + 2)
        at += 6
        if 0xD800 <= code <= 0xDBFF:
            code = 0x10000 + ((code - 0xD800) << 10) + (_code(data, at + 2) - 0xDC00)
            at += 6
        to = _written(data, to, code)
    return to


@bare_kernel
def _written(data: Bytes, to: int, code: int) -> int:
    """Write a character as UTF-8; where that ends."""
    if code < 0x80:
        data[to] = np.uint8(code)
        return to + 1
    if code < 0x800:
        data[to] = np.uint8(0xC0 | code >> 6)
    else:
        if code < 0x10000:
            data[to] = np.uint8(0xE0 | code >> 12)
        else:
            data[to] = np.uint8(0xF0 | code >> 18)
            data[to + 1] = np.uint8(0x80 | (code >> 12 & 0x3F))
            to += 1
        data[to + 1] = np.uint8(0x80 | (code >> 6 & 0x3F))
        to += 1
    data[to + 1] = np.uint8(0x80 | (code & 0x3F))
    return to + 2


@inner_kernel
def read_word(data: Bytes, at: int) -> tuple[int, int, int]:
    """Behind a word, and the kind and place of its cell: NO_CELL for null, and NaN, which is null."""
    word = eight_bytes(data, at)
    if word & _FOUR == _TRUE:
        return at + 4, BOOLEAN, 1
    if word & _FIVE == _FALSE:
        return at + 5, BOOLEAN, 0
    if word & _FOUR == _NULL:
        return at + 4, NO_CELL, 0
    if word & _THREE == _NAN:
        return at + 3, NO_CELL, 0
    if word == _INFINITY:
        return at + 8, NUMBER, np.float64(np.inf).view(np.int64)
    return REFUSED, NO_CELL, 0


@bare_kernel
def read_number(data: Bytes, at: int, most_digits: int) -> tuple[int, int, int, int]:
    """Behind a number, and its cell: the kind, place and low (cell_stream.py)."""
    begin = at
    is_negative = data[at] == 45
    if is_negative:
        at += 1
    first = at
    mantissa = np.uint64(0)
    digit = np.int64(data[at]) - 48
    while 0 <= digit <= 9:
        mantissa = mantissa * _TEN + np.uint64(digit)
        at += 1
        digit = np.int64(data[at]) - 48
    digits = at - first
    if digits == 0:
        if is_negative and eight_bytes(data, at) == _INFINITY:
            return at + 8, NUMBER, np.float64(-np.inf).view(np.int64), 0
        return REFUSED, NUMBER, 0, 0
    if data[first] == 48 and digits > 1:
        return REFUSED, NUMBER, 0, 0
    byte = data[at]
    if byte != 46 and byte | 32 != 101:
        if digits < MOST_DIGITS or (digits == MOST_DIGITS and mantissa <= _LARGEST_INTEGER):
            value = np.int64(mantissa)
            if is_negative:
                value = -value
            high = np.float64(value)
            return at, NUMBER, np.float64(high).view(np.int64), rest_of_integer(value, high)
        return (at if at - begin <= most_digits else REFUSED), WRITTEN_INTEGER, begin, at
    exponent = 0
    if byte == 46:
        at += 1
        fraction = at
        digit = np.int64(data[at]) - 48
        while 0 <= digit <= 9:
            mantissa = mantissa * _TEN + np.uint64(digit)
            at += 1
            digit = np.int64(data[at]) - 48
        exponent = fraction - at
        if exponent == 0:
            return REFUSED, NUMBER, 0, 0
        digits -= exponent
        if digits > MOST_DIGITS and data[first] == 48:
            digits -= 1
            while data[fraction] == 48:
                fraction += 1
                digits -= 1
    if data[at] | 32 == 101:
        at += 1
        is_small = data[at] == 45
        if is_small or data[at] == 43:
            at += 1
        start = at
        written = 0
        digit = np.int64(data[at]) - 48
        while 0 <= digit <= 9:
            written = min(written * 10 + digit, _LONGEST_EXPONENT)
            at += 1
            digit = np.int64(data[at]) - 48
        if at == start:
            return REFUSED, NUMBER, 0, 0
        exponent += -written if is_small else written
    size = double_of(mantissa, exponent) if digits <= MOST_DIGITS else np.nan
    if size != size:
        return at, WRITTEN_FLOAT, begin, at
    if is_negative:
        size = 0.0 - size
    return at, NUMBER, np.float64(size).view(np.int64), 0


AS_IT_IS, TO_BE_WRITTEN, MISSING = range(3)


@kernel
def ways_to_keep(data: Bytes, place: Longs, end: Longs) -> Bytes:
    """Whether the texts of values are what Python would write of them, if they are values at all."""
    way = np.empty(place.size, np.uint8)
    for i in range(place.size):
        at = place[i]
        byte = data[at]
        if byte == 34:
            _, escaped = end_of_string(data, at + 1)
            way[i] = TO_BE_WRITTEN if escaped else AS_IT_IS
        elif byte == 45 or 48 <= byte <= 57:
            at += byte == 45
            is_zero = byte == 45 and data[at] == 48
            while at < end[i] and 48 <= data[at] <= 57:
                at += 1
            way[i] = AS_IT_IS if at == end[i] and not is_zero else TO_BE_WRITTEN
        elif byte == 110 or (byte == 78 and data[at + 1] == 97):
            way[i] = MISSING
        else:
            way[i] = AS_IT_IS if byte == 116 or byte == 102 else TO_BE_WRITTEN
    return way
