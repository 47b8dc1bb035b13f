"""Inputs that are nearly valid: members of a corpus, cut and spliced with words of their language.

Everything comes from one random.Random, so a seed and a number say which input it was.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

LONGEST = 4_096
"""Bytes of a mutated input: what is wrong with long inputs tests/hostile asks."""

_PIECE = re.compile(rb"\w+|\s+|.", re.DOTALL)


def mutated(rng: random.Random, corpus: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """A member of the corpus after some changes; now and then after none."""
    data = rng.choice(corpus)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        data = rng.choice(_CHANGES)(rng, data, corpus, words)[:LONGEST]
    return data


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    """A part of the data that starts and ends where words do: mostly short."""
    ends = [0, *(found.end() for found in _PIECE.finditer(data))]
    first = rng.randrange(len(ends))
    last = min(len(ends) - 1, first + rng.choice((0, 1, 1, 2, 3, 8, 40)))
    return ends[first], ends[last]


def _delete(rng: random.Random, data: bytes, _corpus: Sequence[bytes], _words: Sequence[bytes]) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _put_word(rng: random.Random, data: bytes, _corpus: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start, end = _span(rng, data)
    blank = rng.choice((b"", b" "))
    return data[:start] + blank + rng.choice(words) + blank + data[rng.choice((start, end)) :]


def _splice(rng: random.Random, data: bytes, corpus: Sequence[bytes], _words: Sequence[bytes]) -> bytes:
    other = rng.choice(corpus)
    (start, end), (first, last) = _span(rng, data), _span(rng, other)
    return data[:start] + other[first:last] + data[rng.choice((start, end)) :]


def _repeat(rng: random.Random, data: bytes, _corpus: Sequence[bytes], _words: Sequence[bytes]) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 30)) + data[end:]


def _swap(rng: random.Random, data: bytes, _corpus: Sequence[bytes], _words: Sequence[bytes]) -> bytes:
    (start, end), (first, last) = sorted((_span(rng, data), _span(rng, data)))
    if end > first:
        return data
    return data[:start] + data[first:last] + data[end:first] + data[start:end] + data[last:]


def _flip(rng: random.Random, data: bytes, _corpus: Sequence[bytes], _words: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    new = rng.choice((data[at] ^ (1 << rng.randrange(8)), rng.randrange(256), 0, 0x7F, 0xFF))
    return data[:at] + bytes([new]) + data[at + 1 :]


_CHANGES = (_delete, _put_word, _put_word, _splice, _splice, _repeat, _swap, _flip)
