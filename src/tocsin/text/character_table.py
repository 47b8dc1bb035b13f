"""What each character is to words, as a table for kernels, made of the grammar's own functions.

A page of the table is made when a text first needs it: most texts need a few of thousands.
"""

from __future__ import annotations

import sys

import numpy as np

from tocsin.fork_locks import CACHE, fork_safe_lock
from tocsin.text.kernels.characters import IN_WORD, PAGE, SEPARATOR, WORD_ALONE, Characters
from tocsin.text.tokenizer import is_word_alone, is_word_character

ASCII_ALONE = Characters(np.empty(0, np.int32), np.empty(0, np.uint8))
"""For texts that are all ASCII: the kernels know by themselves what to make of these."""

_NOT_MADE = -1


class _Pages:
    """The pages that were made so far in this process. A table that was given away never changes."""

    def __init__(self) -> None:
        self._lock = fork_safe_lock(CACHE)
        self._table = Characters(
            np.full((sys.maxunicode + 1) // PAGE, _NOT_MADE, np.int32), np.empty(0, np.uint8)
        )

    def for_text(self, text: str) -> Characters:
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        needed = np.unique(np.append(codes // PAGE, 0))
        with self._lock:
            missing = needed[self._table.page[needed] == _NOT_MADE].tolist()
            if missing:
                page, role = self._table
                page = page.copy()
                page[missing] = len(role) // PAGE + np.arange(len(missing))
                made = [_role(chr(PAGE * number + i)) for number in missing for i in range(PAGE)]
                self._table = Characters(page, np.append(role, np.array(made, np.uint8)))
            return self._table


def _role(character: str) -> int:
    if not is_word_character(character):
        return SEPARATOR
    return WORD_ALONE if is_word_alone(character) else IN_WORD


_PAGES = _Pages()


def characters_of(text: str) -> Characters:
    """A table that knows every character of a text."""
    return ASCII_ALONE if text.isascii() else _PAGES.for_text(text)
