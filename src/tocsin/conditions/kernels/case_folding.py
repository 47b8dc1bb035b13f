"""`ilike` folding over bytes: each code point replaced by the one it folds to.

What folds to what is the grammar's to say (conditions/language/like_patterns.py); here is only a table of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints
from tocsin.arrays.jit import kernel

PAGE = 256
"""Code points in a page of the table."""


class FoldTable(NamedTuple):
    """The folding of every code point, in pages; all pages that fold nothing are page 0 of `fold_by`.

    page      int32[0x1100]   the page of code point c is page[c // 256]
    fold_by   int32[...]      c folds to c + fold_by[page[c // 256] * 256 + c % 256]
    """

    page: Ints
    fold_by: Ints


@kernel
def room_to_fold(size: int) -> int:
    """Bytes that a text of so many bytes may have when folded: two bytes may become three."""
    return size + size // 2


@kernel
def fold_text(table: FoldTable, text: Bytes, folded: Bytes) -> int:
    """Write a text, which is UTF-8, folded to the beginning of `folded`; its size there."""
    at = 0
    size = 0
    while at < text.size:
        lead = np.int64(text[at])
        if lead < 0x80:
            folded[size] = np.uint8(lead + 32 if 65 <= lead <= 90 else lead)
            size += 1
            at += 1
            continue
        following = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        code = lead & (0x3F >> following)
        for i in range(1, following + 1):
            code = code << 6 | np.int64(text[at + i]) & 0x3F
        at += following + 1
        code += table.fold_by[np.int64(table.page[code >> 8]) * PAGE + (code & (PAGE - 1))]
        if code < 0x80:
            folded[size] = np.uint8(code)
            size += 1
            continue
        following = 1 if code < 0x800 else 2 if code < 0x10000 else 3
        mark = 0xC0 if following == 1 else 0xE0 if following == 2 else 0xF0
        folded[size] = np.uint8(mark | code >> 6 * following)
        for i in range(1, following + 1):
            folded[size + i] = np.uint8(0x80 | (code >> 6 * (following - i)) & 0x3F)
        size += following + 1
    return size
