"""Which bytes are UTF-8, as strictly as Python's own reader: nothing longer than needed, no surrogates."""

from __future__ import annotations

from tocsin.arrays.bits import eight_bytes
from tocsin.arrays.byte_classes import TOPS
from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import bare_kernel


@bare_kernel
def behind_character(data: Bytes, at: int) -> int:
    """Behind a character of several bytes, -1 when there is none; three bytes can be read behind it."""
    first = data[at]
    second = data[at + 1]
    if first < 0xE0:
        return at + 2 if first >= 0xC2 and second & 0xC0 == 0x80 else -1
    if data[at + 2] & 0xC0 != 0x80:
        return -1
    if first < 0xF0:
        least = 0xA0 if first == 0xE0 else 0x80
        most = 0x9F if first == 0xED else 0xBF
        return at + 3 if least <= second <= most else -1
    least = 0x90 if first == 0xF0 else 0x80
    most = 0x8F if first == 0xF4 else 0xBF
    return at + 4 if first <= 0xF4 and least <= second <= most and data[at + 3] & 0xC0 == 0x80 else -1


@bare_kernel
def is_utf8(data: Bytes, start: int, end: int) -> bool:
    """Whether data[start:end] is; eight bytes can be read behind it."""
    at = start
    while at < end:
        if at + 8 <= end and eight_bytes(data, at) & TOPS == 0:
            at += 8
        elif data[at] < 0x80:
            at += 1
        else:
            at = behind_character(data, at)
            if at < 0:
                return False
    return at == end
