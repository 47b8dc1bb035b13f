"""What each character is to words, for texts that are not ASCII.

What a word is made of is the grammar's to say (text/tokenizer.py); here is only a table of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import inner_kernel

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

    page: NDArray[np.int32]
    role: NDArray[np.uint8]


@inner_kernel
def size_of_character(lead: int) -> int:
    """Bytes of the character that begins with this byte, in UTF-8."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@inner_kernel
def role_at(page: NDArray[np.int32], role: NDArray[np.uint8], data: NDArray[np.uint8], at: int) -> int:
    """The role of the character that begins at `at`."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return role[np.int64(page[0]) * PAGE + lead]
    following = size_of_character(lead) - 1
    code = lead & (0x3F >> following)
    for i in range(1, following + 1):
        code = code << 6 | np.int64(data[at + i]) & 0x3F
    return role[np.int64(page[code >> 8]) * PAGE + (code & (PAGE - 1))]
