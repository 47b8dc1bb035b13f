"""How much the words and phrases of a query weigh in the document that was read.

The weight of a word is its count by the largest count of any word, times its idf. All of this is the
arithmetic of text/meaning.py, in the same order, to the last bit.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.jit import inner_kernel
from tocsin.text.kernels.dictionary import DictionaryWords, idf_of
from tocsin.text.kernels.document_words import COUNT, FIRST, GROUP, LARGEST, SEEN, DocumentWords
from tocsin.text.kernels.query_code import QueryCode, Terms


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
