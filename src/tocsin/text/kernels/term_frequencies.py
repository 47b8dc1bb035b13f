"""How often each word of the document occurs: asked for only when somebody wants a score.

A word that a query names was counted when it was looked up. The others find each other by hash,
confirmed by comparison.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import eight_bytes
from tocsin.arrays.jit import inner_kernel
from tocsin.text.kernels.document_words import COUNTED, LARGEST, STAMP, UNNAMED, DocumentWords
from tocsin.text.kernels.terms import first_bytes, hash_word


@inner_kernel
def _same_bytes(data: NDArray[np.uint8], a: int, b: int, size: int) -> bool:
    """Whether so many bytes, one at least, are the same at both places; seven more can be read."""
    at = 0
    while at + 8 < size:
        if eight_bytes(data, a + at) != eight_bytes(data, b + at):
            return False
        at += 8
    different = eight_bytes(data, a + at) ^ eight_bytes(data, b + at)
    return first_bytes(different, size - at) == 0


@inner_kernel
def _first_same_word(words: DocumentWords, word: int, mask: np.uint64) -> int:
    """The first word that is the same as this one, which no query names; itself when there is none."""
    data, other = words.folded_bytes, words.other
    start = np.int64(words.word_start[word])
    size = words.word_end[word] - start
    stamp = words.state[STAMP]
    at = hash_word(np.uint64(0), data, start, size) & mask
    while other[at] >> 32 == stamp:
        known = other[at] & 0xFFFF_FFFF
        begin = np.int64(words.word_start[known])
        if words.word_end[known] - begin == size and _same_bytes(data, begin, start, size):
            return known
        at = (at + np.uint64(1)) & mask
    other[at] = stamp << 32 | word
    return word


@inner_kernel
def count_words(words: DocumentWords) -> None:
    """Count the words that are no terms too, unless that was done for this document."""
    state = words.state
    if state[COUNTED] == state[STAMP]:
        return
    state[COUNTED] = state[STAMP]
    size = 2
    while size < 2 * state[UNNAMED]:
        size *= 2
    mask = np.uint64(size - 1)
    largest = state[LARGEST]
    for i in range(state[UNNAMED]):
        word = np.int64(words.unnamed[i])
        first = _first_same_word(words, word, mask)
        words.same_word[word] = first
        if first == word:
            words.word_count[word] = 0
        words.word_count[first] += 1
        largest = max(largest, np.int64(words.word_count[first]))
    state[LARGEST] = largest
