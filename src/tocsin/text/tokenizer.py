"""How a text is cut into words, documents and queries alike.

A text is normalised (NFKC, case folding, NFKC) and cut into runs of letters, marks, numbers and
underscores. A Han, Hiragana or Katakana character is a word of its own: these scripts put no spaces
between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import category, normalize

import re2

_ASCII_WORD = re.compile("[0-9a-z_]+")


def normalised(text: str) -> str:
    """The text as words are looked for in it."""
    if text.isascii():
        return text.lower()
    return normalize("NFKC", normalize("NFKC", text).casefold())


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return cut(normalised(text))


def cut(text: str) -> list[str]:
    """The words of a normalised text, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return list(_cut_unicode(text))


def _cut_unicode(text: str) -> Iterator[str]:
    start = 0
    for place, character in enumerate(text):
        if not is_word_character(character) or is_word_alone(character):
            if start < place:
                yield text[start:place]
            start = place + 1
            if is_word_alone(character):
                yield character
    if start < len(text):
        yield text[start:]


def is_word_character(character: str) -> bool:
    """Whether words may hold the character: Unicode's categories L, M and N, and the underscore."""
    return character == "_" or category(character)[0] in "LMN"


@cache
def is_word_alone(character: str) -> bool:
    """Whether the character is a word of its own, whatever stands beside it."""
    return is_word_character(character) and _alone().search(character.encode()) is not None


@cache
def _alone() -> re2._Regexp:
    return re2.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
