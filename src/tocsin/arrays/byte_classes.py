"""The bytes of a condition as words: names and keywords, quoted text, blanks and comments."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import ALL, EVERY_BYTE, eight_bytes, lowest_bit
from tocsin.arrays.dtypes import Bytes, Longs, Words
from tocsin.arrays.jit import inner_kernel

WORD_OTHER = 0
WORD_AND = 1
WORD_OR = 2
WORD_XOR = 3
WORD_XNOR = 4
WORD_NOT = 5
WORD_TRUE = 6
WORD_FALSE = 7
WORD_BETWEEN = 8
WORD_IN = 9
WORD_IS = 10
WORD_NULL = 11
WORD_LIKE = 12
WORD_ILIKE = 13
WORD_MATCHES = 14

_KEYWORDS = {
    b"and": WORD_AND,
    b"or": WORD_OR,
    b"xor": WORD_XOR,
    b"xnor": WORD_XNOR,
    b"not": WORD_NOT,
    b"true": WORD_TRUE,
    b"false": WORD_FALSE,
    b"between": WORD_BETWEEN,
    b"in": WORD_IN,
    b"is": WORD_IS,
    b"null": WORD_NULL,
    b"like": WORD_LIKE,
    b"ilike": WORD_ILIKE,
    b"matches": WORD_MATCHES,
}

_SPREAD = np.uint64(0x78E5_1061_7311_D8A3)
"""A keyword's letters, as a number, times this: the upper bits are different for all keywords."""

_SLOT_BITS = 6
_TO_SLOT = np.uint64(64 - _SLOT_BITS)


def _keyword_slots() -> tuple[Words, Longs]:
    """The keywords' letters as numbers, and their codes, each at the slot of its number."""
    letters = np.zeros(1 << _SLOT_BITS, np.uint64)
    code = np.full(1 << _SLOT_BITS, WORD_OTHER, np.int64)
    for word, its_code in _KEYWORDS.items():
        number = int.from_bytes(word, "little")
        slot = (number * int(_SPREAD) % 2**64) >> int(_TO_SLOT)
        letters[slot], code[slot] = number, its_code
    return letters, code


_LETTERS, _CODE = _keyword_slots()
_LONGEST = 7

TOPS = np.uint64(0x8080_8080_8080_8080)
"""The top bit of every byte."""

_LOWER_CASE = np.uint64(0x2020_2020_2020_2020)


@inner_kernel
def bytes_equal(word: np.uint64, byte: int) -> np.uint64:
    """The top bit of each of eight bytes that is `byte`."""
    differs = word ^ (EVERY_BYTE * np.uint64(byte))
    return ~(((differs & ~TOPS) + ~TOPS) | differs) & TOPS


@inner_kernel
def bytes_between(word: np.uint64, first: int, last: int) -> np.uint64:
    """The top bit of each of eight bytes, all below 128, that is first ... last."""
    from_first = word + EVERY_BYTE * np.uint64(128 - first)
    behind_last = word + EVERY_BYTE * np.uint64(127 - last)
    return from_first & ~behind_last & TOPS


@inner_kernel
def name_parts(word: np.uint64) -> np.uint64:
    """The top bit of each of eight bytes that is a letter, a digit or an underscore."""
    ascii_bytes = word & ~TOPS
    letters = bytes_between(ascii_bytes | _LOWER_CASE, 97, 122)
    return (letters | bytes_between(ascii_bytes, 48, 57) | bytes_between(ascii_bytes, 95, 95)) & ~word


@inner_kernel
def is_name_start(byte: int) -> bool:
    """A letter or an underscore."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95


@inner_kernel
def is_name_part(byte: int) -> bool:
    """A letter, a digit or an underscore."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95 or 48 <= byte <= 57


@inner_kernel
def _is_space(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13


@inner_kernel
def skip_blanks(data: Bytes, at: int, end: int) -> int:
    """The next byte that is neither white space nor part of a comment."""
    while at < end:
        if _is_space(data[at]):
            at += 1
        elif data[at] == 45 and at + 1 < end and data[at + 1] == 45:
            while at < end and data[at] != 10:
                at += 1
        else:
            break
    return at


@inner_kernel
def end_of_word(data: Bytes, at: int, end: int) -> int:
    """Behind the name or keyword that begins at `at`."""
    while at + 8 <= data.size and at < end:
        others = ~name_parts(eight_bytes(data, at)) & TOPS
        if others != 0:
            return min(end, at + (lowest_bit(others) >> 3))
        at += 8
    while at < end and is_name_part(data[at]):
        at += 1
    return min(at, end)


@inner_kernel
def classify(data: Bytes, at: int, end: int) -> int:
    """Which keyword the bare word data[at:end] is, if any. It has letters."""
    size = end - at
    if size > _LONGEST:
        return WORD_OTHER
    if at + 8 <= data.size:
        letters = eight_bytes(data, at)
    else:
        letters = np.uint64(0)
        for i in range(size):
            letters |= np.uint64(data[at + i]) << np.uint64(8 * i)
    letters = (letters | _LOWER_CASE) & (ALL >> np.uint64(64 - 8 * size))
    slot = np.int64(letters * _SPREAD >> _TO_SLOT)
    return _CODE[slot] if _LETTERS[slot] == letters else WORD_OTHER


@inner_kernel
def skip_quoted(data: Bytes, at: int, end: int) -> int:
    """Behind the quoted text that begins at `at` (a doubled quote stays inside); -1: unterminated."""
    quote = data[at]
    at += 1
    while at < end:
        if at + 8 <= data.size:
            quotes = bytes_equal(eight_bytes(data, at), quote)
            if quotes == 0:
                at += 8
                continue
            at += lowest_bit(quotes) >> 3
            if at >= end:
                break
        if data[at] == quote:
            if at + 1 < end and data[at + 1] == quote:
                at += 2
                continue
            return at + 1
        at += 1
    return -1
