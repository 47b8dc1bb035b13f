"""Which terms stand side by side in a document, as far as bits can tell.

Most documents that hold all words of a phrase hold them far apart. So before a phrase is checked word by
word, two of its neighbours are asked for among the pairs of neighbours of the document, each of which has
set a bit. Two pairs may share a bit: it may say too much, never too little.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel

_BITS = 14
"""2^14 bits: some thousand pairs leave most of them unset, and they stay in the nearest memory."""

_IN_WORD = np.uint64(63)
_WORD = np.uint64(6)
_ONE = np.uint64(1)


def no_neighbours() -> Words:
    """Room for the bits of one document."""
    return np.zeros((1 << _BITS) >> 6, np.uint64)


@inner_kernel
def pair_of(term: int, following: int) -> np.uint64:
    """The bit of a term and the one behind it. No pair has bit 0."""
    value = np.uint64(term) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(following)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return (value >> np.uint64(64 - _BITS)) | _ONE


@bare_kernel
def note_neighbours(term: Ints, place: Longs, count: int, neighbours: Words) -> None:
    """Set the bits of a document with so many words, each a term or -1, and clear all others."""
    for i in range(neighbours.size):
        neighbours[i] = 0
    for word in range(count - 1):
        if term[word] >= 0 and term[word + 1] >= 0 and place[word + 1] - place[word] == 1:
            pair = pair_of(term[word], term[word + 1])
            neighbours[pair >> _WORD] |= _ONE << (pair & _IN_WORD)


@inner_kernel
def may_be_neighbours(neighbours: Words, pair: int) -> bool:
    """Whether the pair's bit is set; for 0, which is no pair, always."""
    at = np.uint64(pair)
    return pair == 0 or (neighbours[at >> _WORD] >> (at & _IN_WORD)) & _ONE != 0
