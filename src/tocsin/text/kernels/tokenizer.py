"""Bytes cut into words, as text/tokenizer.py cuts characters.

ASCII is cut eight bytes at a time: a bit for each byte that is part of a word, 64 of them together,
and where that bit changes a word begins or ends. Everything else is cut character by character.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import TOPS, bytes_between, name_parts
from tocsin.arrays.byte_hash import word_of
from tocsin.arrays.jit import inner_kernel
from tocsin.text.kernels.characters import IN_WORD, SEPARATOR, role_at, size_of_character

NOT_ASCII = -1

_ONE = np.uint64(1)
_GATHER = np.uint64(0x0102_0408_1020_4080)


@inner_kernel
def in_lower_case(eight: np.uint64) -> np.uint64:
    """Eight bytes of ASCII with small letters for capitals."""
    return eight | (bytes_between(eight, 65, 90) >> np.uint64(2))


@inner_kernel
def _bits_of_tops(tops: np.uint64) -> np.uint64:
    """The top bits of eight bytes as the eight lowest bits, in their order."""
    return ((tops >> np.uint64(7)) * _GATHER) >> np.uint64(56)


@inner_kernel
def _put_eight(eight: np.uint64, folded: NDArray[np.uint64], place: int) -> np.uint64:
    """Put eight bytes to `folded` in lower case; the bits of those that are part of a word."""
    eight = in_lower_case(eight)
    folded[place] = eight
    return _bits_of_tops(name_parts(eight))


@inner_kernel
def cut_ascii(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    folded: NDArray[np.uint64],
    place: int,
    word_start: NDArray[np.int32],
    word_end: NDArray[np.int32],
    count: int,
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
def cut_characters(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    page: NDArray[np.int32],
    role: NDArray[np.uint8],
    folded: NDArray[np.uint8],
    place: int,
    word_start: NDArray[np.int32],
    word_end: NDArray[np.int32],
    count: int,
) -> int:
    """Cut data[at:end], which is normalised UTF-8: how many words there are with it.

    The bytes go as they are to folded[place] and behind it.
    """
    begin = -1
    while at < end:
        its_role = role_at(page, role, data, at)
        if its_role != IN_WORD and begin >= 0:
            word_start[count] = begin
            word_end[count] = place
            count += 1
            begin = -1
        size = size_of_character(np.int64(data[at]))
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
