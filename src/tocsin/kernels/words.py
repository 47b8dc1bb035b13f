"""The bytes of a condition as words: names and keywords, quoted text, blanks and comments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel

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


@kernel
def is_name_start(byte: int) -> bool:
    """A letter or an underscore."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95


@kernel
def is_name_part(byte: int) -> bool:
    """A letter, a digit or an underscore."""
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte == 95 or 48 <= byte <= 57


@kernel
def _is_space(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13


@kernel
def skip_blanks(data: NDArray[np.uint8], at: int, end: int) -> int:
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


@kernel
def end_of_word(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Behind the name or keyword that begins at `at`."""
    while at < end and is_name_part(data[at]):
        at += 1
    return at


@kernel
def spells(data: NDArray[np.uint8], at: int, word: bytes) -> bool:
    """Whether the letters at `at` are those of a word, which is given in lower case."""
    for i in range(len(word)):
        if (data[at + i] | 32) != word[i]:
            return False
    return True


@kernel
def classify(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Which keyword the bare word data[at:end] is, if any."""
    size = end - at
    if size == 2:
        if spells(data, at, b"or"):
            return WORD_OR
        if spells(data, at, b"in"):
            return WORD_IN
        if spells(data, at, b"is"):
            return WORD_IS
    elif size == 3:
        if spells(data, at, b"and"):
            return WORD_AND
        if spells(data, at, b"not"):
            return WORD_NOT
        if spells(data, at, b"xor"):
            return WORD_XOR
    elif size == 4:
        if spells(data, at, b"xnor"):
            return WORD_XNOR
        if spells(data, at, b"true"):
            return WORD_TRUE
        if spells(data, at, b"null"):
            return WORD_NULL
        if spells(data, at, b"like"):
            return WORD_LIKE
    elif size == 5:
        if spells(data, at, b"false"):
            return WORD_FALSE
        if spells(data, at, b"ilike"):
            return WORD_ILIKE
    elif size == 7:
        if spells(data, at, b"between"):
            return WORD_BETWEEN
        if spells(data, at, b"matches"):
            return WORD_MATCHES
    return WORD_OTHER


@kernel
def skip_quoted(data: NDArray[np.uint8], at: int, end: int) -> int:
    """Behind the quoted text that begins at `at` (a doubled quote stays inside); -1: unterminated."""
    quote = data[at]
    at += 1
    while at < end:
        if data[at] == quote:
            if at + 1 < end and data[at + 1] == quote:
                at += 2
                continue
            return at + 1
        at += 1
    return -1
