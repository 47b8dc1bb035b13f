"""Bytes cut into words, as text/tokenizer.py cuts characters.

ASCII is cut eight bytes at a time: a bit for each byte that is part of a word, 64 of them together,
and where that bit changes a word begins or ends. Everything else is cut character by character, by a table
of what each character is to words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import TOPS, bytes_between, name_parts
from tocsin.arrays.dtypes import Bytes, Ints, Words
from tocsin.arrays.jit import inner_kernel
from tocsin.arrays.text_table import word_of

NOT_ASCII = -1

_ONE = np.uint64(1)
_GATHER = np.uint64(0x0102_0408_1020_4080)

PAGE = 256
"""Code points in a page of the table."""

SEPARATOR = 0
IN_WORD = 1
WORD_ALONE = 2
"""A Han, Hiragana or Katakana character is a word, whatever stands beside it."""


class Characters(NamedTuple):
    """The role of every code point, in pages. Where all texts are ASCII, nobody looks and it is empty.

    page   int32[0x1100]   the page of code point c is page[c // 256]
    role   uint8[...]      role[page[c // 256] * 256 + c % 256]: SEPARATOR, IN_WORD or WORD_ALONE
    """

    page: Ints
    role: Bytes


@inner_kernel
def in_lower_case(eight: np.uint64) -> np.uint64:
    """Eight bytes of ASCII with small letters for capitals."""
    return eight | (bytes_between(eight, 65, 90) >> np.uint64(2))


@inner_kernel
def _bits_of_tops(tops: np.uint64) -> np.uint64:
    """The top bits of eight bytes as the eight lowest bits, in their order."""
    return ((tops >> np.uint64(7)) * _GATHER) >> np.uint64(56)


@inner_kernel
def _put_eight(eight: np.uint64, folded: Words, place: int) -> np.uint64:
    """Put eight bytes to `folded` in lower case; the bits of those that are part of a word."""
    eight = in_lower_case(eight)
    folded[place] = eight
    return _bits_of_tops(name_parts(eight))


@inner_kernel
def cut_ascii(
    data: Bytes, at: int, end: int, folded: Words, place: int, word_start: Ints, word_end: Ints, count: int
) -> int:
    """Cut data[at:end]: how many words there are with it, or NOT_ASCII.

    The bytes go to `folded` in lower case, eight in a word, from folded[place] on; the words are
    given by the bytes of it that they begin with and end before.
    """
    begun = count
    ended = count
    before = np.uint64(0)
    while at < end:
        base = 8 * place
        bits = np.uint64(0)
        every = np.uint64(0)
        if at + 64 <= end:
            for i in range(8):
                eight = eight_bytes(data, at + 8 * i)
                every |= eight
                bits |= _put_eight(eight, folded, place + i) << np.uint64(8 * i)
            place += 8
        else:
            for i in range((end - at + 7) >> 3):
                eight = word_of(data, at + 8 * i, end)
                every |= eight
                bits |= _put_eight(eight, folded, place) << np.uint64(8 * i)
                place += 1
        if every & TOPS != 0:
            return NOT_ASCII
        at += 64
        shifted = bits << _ONE | before
        before = bits >> np.uint64(63)
        starts = bits & ~shifted
        while starts != 0:
            word_start[begun] = base + lowest_bit(starts)
            begun += 1
            starts &= starts - _ONE
        ends = ~bits & shifted
        while ends != 0:
            word_end[ended] = base + lowest_bit(ends)
            ended += 1
            ends &= ends - _ONE
    if ended < begun:
        word_end[ended] = 8 * place
    return begun


@inner_kernel
def _size_of_character(lead: int) -> int:
    """Bytes of the character that begins with this byte, in UTF-8."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@inner_kernel
def _role_at(page: Ints, role: Bytes, data: Bytes, at: int) -> int:
    """The role of the character that begins at `at`."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return role[np.int64(page[0]) * PAGE + lead]
    following = _size_of_character(lead) - 1
    code = lead & (0x3F >> following)
    for i in range(1, following + 1):
        code = code << 6 | np.int64(data[at + i]) & 0x3F
    return role[np.int64(page[code >> 8]) * PAGE + (code & (PAGE - 1))]


@inner_kernel
def cut_characters(
    data: Bytes,
    at: int,
    end: int,
    page: Ints,
    role: Bytes,
    folded: Bytes,
    place: int,
    word_start: Ints,
    word_end: Ints,
    count: int,
) -> int:
    """Cut data[at:end], which is normalised UTF-8: how many words there are with it.

    The bytes go as they are to folded[place] and behind it.
    """
    begin = -1
    while at < end:
        its_role = _role_at(page, role, data, at)
        if its_role != IN_WORD and begin >= 0:
            word_start[count] = begin
            word_end[count] = place
            count += 1
            begin = -1
        size = _size_of_character(np.int64(data[at]))
        if its_role == IN_WORD:
            if begin < 0:
                begin = place
        elif its_role != SEPARATOR:
            word_start[count] = place
            word_end[count] = place + size
            count += 1
        for _ in range(size):
            folded[place] = data[at]
            place += 1
            at += 1
    if begin >= 0:
        word_start[count] = begin
        word_end[count] = place
        count += 1
    return count
