"""How much the words and phrases of a query weigh in the document that was read.

The weight of a word is its count by the largest count of any word, times its idf. All of this is the
arithmetic of text/meaning.py, in the same order, to the last bit. A word that a query names was counted when
it was looked up. The others are counted when somebody wants a score: they find each other by hash, confirmed
by comparison.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import eight_bytes
from tocsin.arrays.dtypes import Bytes
from tocsin.arrays.jit import inner_kernel
from tocsin.text.kernels.dictionary import DictionaryWords, idf_of
from tocsin.text.kernels.document_words import (
    COUNT,
    COUNTED,
    FIRST,
    GROUP,
    LARGEST,
    SEEN,
    STAMP,
    UNNAMED,
    DocumentWords,
)
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.terms import first_bytes, hash_word


@inner_kernel
def _same_bytes(data: Bytes, a: int, b: int, size: int) -> bool:
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


@inner_kernel
def _unnamed_weight(dictionary: DictionaryWords, words: DocumentWords, word: int) -> float:
    """The weight of a word that is no term; 0 when the same word stood before it."""
    if words.same_word[word] != word:
        return 0.0
    idf = idf_of(
        dictionary,
        words.state[GROUP],
        words.folded_bytes,
        np.int64(words.word_start[word]),
        np.int64(words.word_end[word]),
    )
    return np.float64(words.word_count[word]) / np.float64(words.state[LARGEST]) * idf


@inner_kernel
def _word_weight(terms: Terms, words: DocumentWords, term: int) -> float:
    """The weight of a word that is a term, and present."""
    count = np.float64(words.seen[SEEN * np.int64(term) + COUNT])
    return count / np.float64(words.state[LARGEST]) * terms.idf[term]


@inner_kernel
def _term_weight(dictionary: DictionaryWords, terms: Terms, words: DocumentWords, term: int) -> float:
    """The weight of a term that is present; of a prefix the most that a word it covers weighs."""
    if terms.is_prefix[term] == 0:
        return _word_weight(terms, words, term)
    most = 0.0
    occurrence = words.seen[SEEN * np.int64(term) + FIRST]
    while occurrence >= 0:
        word = words.occurrence_word[occurrence]
        covered = words.word_term[word]
        if covered < 0:
            most = max(most, _unnamed_weight(dictionary, words, word))
        else:
            most = max(most, _word_weight(terms, words, covered))
        occurrence = words.occurrence_next[occurrence]
    return most


@inner_kernel
def leaf_weight(
    code: QueryCode, dictionary: DictionaryWords, terms: Terms, words: DocumentWords, leaf: int
) -> float:
    """The weight of a leaf that occurs, its document's words counted: the least that is not 0."""
    least = 0.0
    for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
        weight = _term_weight(dictionary, terms, words, np.int64(code.term[i]))
        if weight != 0 and (least == 0 or weight < least):
            least = weight
    return least
