"""One document at a time, cut into words that are looked up: which terms are there, how often and where.

    document       the old man and the sea          queries name   the  sea  an*  man
    words          0 the 1 old 2 man 3 and 4 the 5 sea
    present        the  man  sea  an*                               words, then prefixes
    occurrences    the 0 4   man 2   sea 5   an* 3                  a chain for each term, ascending

The memory is one thread's, and used again for the next document. What a term has from a document
carries the document's stamp, so nothing needs to be cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import HALF, LOWER_HALF, eight_bytes, prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import Terms
from tocsin.text.kernels.terms import (
    find_prefixes,
    find_record,
    first_bytes,
    hash_eights,
    owner_of,
    prefix_lengths,
    second_eight,
)
from tocsin.text.kernels.tokenizer import NOT_ASCII, cut_ascii, cut_characters

STAMP = 0
WORDS = 1
PRESENT = 2
UNNAMED = 3
COUNTED = 4
LARGEST = 5
GROUP = 6
"""The numbers of DocumentWords.state."""

COUNT = 1
FIRST = 2
LAST = 3
SEEN = 4
"""The numbers of a term in DocumentWords.seen, of which the first is a stamp."""

_LAST_STAMP = 2**31 - 2
_TOGETHER = 32
"""Words that are looked up together: the memory of one arrives while others are asked for."""


class DocumentWords(NamedTuple):
    """The words of the last document that was read. Room for B bytes, W words and T terms.

    state             int64[7]     the document's stamp; how many words, present terms and words that are
                                   no terms there are; the stamp of the last document whose words were
                                   all counted; the largest count of those that were; the text group
    folded            uint64[B/8]  its bytes, in lower case; every element begins with a new word
    folded_bytes      uint8[B]     the same memory
    word_start        int32[W]     word w: folded_bytes[word_start[w] : word_end[w]]
    word_end          int32[W]
    word_term         int32[W]     the term that it is, as a word, or -1
    word_place        int64[W]     its element * 2^32 + its place in that
    looked_up         uint64[96]   of words that are being looked up: their hash and first two eights
    present           int32[T]     the terms that the document holds
    seen              int32[4T]    for each term: a stamp, and when it is the document's, how often the
                                   term occurs, its first and its last occurrence
    occurrence_word   int32[W+B]   the word of each occurrence; a word is its own first one, and behind
                                   those are the occurrences of prefixes
    occurrence_next   int32[W+B]   the next occurrence of the same term, or -1
    unnamed           int32[W]     the words that are no terms
    cover             int32[W]     while a document is looked up: see _find_words
    covering          int32[B]     prefixes of a word that is being looked up
    same_word         int32[W]     of words that are no terms, when they are counted (term_weights.py):
                                   the first word that is the same
    word_count        int32[W]     for such a first word: how often it occurs
    other             int64[2^k]   open addressing of such first words: a stamp in the upper half, and
                                   the word
    ends              int64[2W]    where a phrase may end (phrases.py)

    A word gives an occurrence for itself and at most one for each of its bytes, where a prefix ends.
    """

    state: Longs
    folded: Words
    folded_bytes: Bytes
    word_start: Ints
    word_end: Ints
    word_term: Ints
    word_place: Longs
    looked_up: Words
    present: Ints
    seen: Ints
    occurrence_word: Ints
    occurrence_next: Ints
    unnamed: Ints
    cover: Ints
    covering: Ints
    same_word: Ints
    word_count: Ints
    other: Longs
    ends: Longs

    @property
    def room(self) -> int:
        """Bytes that a document may need here: see room_for."""
        return 8 * (len(self.folded) - 2)


@kernel
def room_for(documents: Documents) -> int:
    """Bytes that the longest of the documents needs in DocumentWords."""
    most = 0
    for document in range(documents.elements.size - 1):
        room = 0
        for element in range(documents.elements[document], documents.elements[document + 1]):
            room += (documents.start[element + 1] - documents.start[element] + 15) & ~7
        most = max(most, room)
    return most


@kernel
def no_document_words(terms: int, room: int) -> DocumentWords:
    """Memory for documents that need so much room, over so many terms."""
    folded = np.empty((room >> 3) + 2, np.uint64)
    words = (room >> 1) + 1
    others = 2
    while others < 2 * words:
        others *= 2
    occurrence_word = np.empty(words + room, np.int32)
    for word in range(words):
        occurrence_word[word] = word
    return DocumentWords(
        np.zeros(7, np.int64),
        folded,
        folded.view(np.uint8),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int64),
        np.empty(3 * _TOGETHER, np.uint64),
        np.empty(terms, np.int32),
        np.zeros(SEEN * terms, np.int32),
        occurrence_word,
        np.empty(words + room, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.empty(room, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.zeros(others, np.int64),
        np.empty(2 * words, np.int64),
    )


@inner_kernel
def cut_document(documents: Documents, document: int, words: DocumentWords) -> int:
    """Cut a document into words; how many there are."""
    folded, folded_bytes = words.folded, words.folded_bytes
    word_start, word_end, word_place = words.word_start, words.word_end, words.word_place
    count = 0
    place = 0
    first = documents.elements[document]
    for element in range(first, documents.elements[document + 1]):
        begin, end = documents.start[element], documents.start[element + 1]
        before = count
        count = cut_ascii(documents.data, begin, end, folded, place, word_start, word_end, before)
        if count == NOT_ASCII:
            count = cut_characters(
                documents.data,
                begin,
                end,
                documents.characters.page,
                documents.characters.role,
                folded_bytes,
                8 * place,
                word_start,
                word_end,
                before,
            )
        place += (end - begin + 15) >> 3
        row = (element - first) << 32
        for word in range(before, count):
            word_place[word] = row + word - before
    return count


@inner_kernel
def _mark(words: DocumentWords, stamp: int, present: int, term: int, occurrence: int) -> int:
    """Note that a term occurs; how many terms are present now."""
    seen = words.seen
    at = np.uint64(SEEN) * np.uint64(term)
    if seen[at] != stamp:
        seen[at] = stamp
        seen[at + np.uint64(COUNT)] = 1
        seen[at + np.uint64(FIRST)] = occurrence
        words.present[present] = term
        present += 1
    else:
        seen[at + np.uint64(COUNT)] += 1
        words.occurrence_next[np.uint64(seen[at + np.uint64(LAST)])] = occurrence
    seen[at + np.uint64(LAST)] = occurrence
    words.occurrence_next[np.uint64(occurrence)] = -1
    return present


@inner_kernel
def _find_words(terms: Terms, owner: np.uint64, words: DocumentWords) -> int:
    """Find the terms that the document's words are; how many words may have prefixes besides.

    Those words go to `unnamed`, and beside each, in `cover`, where its prefixes are in Terms.covering;
    -1 for a word that is no term, whose prefixes nobody knows.
    """
    slot, record = terms.slot, terms.record
    data, looked_up = words.folded_bytes, words.looked_up
    word_start, word_end, word_term = words.word_start, words.word_end, words.word_term
    mask = np.uint64(slot.size - 1)
    count = np.uint64(words.state[WORDS])
    left = np.uint64(0)
    for first_word in range(np.uint64(0), count, np.uint64(_TOGETHER)):
        last_word = min(first_word + np.uint64(_TOGETHER), count)
        at = np.uint64(0)
        for word in range(first_word, last_word):
            start = np.int64(word_start[word])
            size = np.int64(word_end[word]) - start
            first = first_bytes(eight_bytes(data, start), size)
            second = second_eight(data, start, size)
            value = hash_eights(owner, first, second, data, start, size)
            looked_up[at] = value
            looked_up[at + np.uint64(1)] = first
            looked_up[at + np.uint64(2)] = second
            at += np.uint64(3)
            prefetch(slot, value & mask)
        for i in range(np.uint64(0), at, np.uint64(3)):
            prefetch(record, slot[looked_up[i] & mask] & LOWER_HALF)
        at = np.uint64(0)
        for word in range(first_word, last_word):
            start = np.int64(word_start[word])
            size = np.int64(word_end[word]) - start
            value, first, second = looked_up[at], looked_up[at + np.uint64(1)], looked_up[at + np.uint64(2)]
            at += np.uint64(3)
            place = find_record(slot, record, value, owner, first, second, data, start, size)
            words.unnamed[left] = word
            if place >= 0:
                term = record[np.uint64(place)] >> HALF
                cover = record[np.uint64(place + 1)] >> HALF
                prefetch(words.seen, np.uint64(SEEN) * term)
                word_term[word] = np.int32(term)
                words.cover[left] = np.int32(cover)
                left += np.uint64(cover != 0)
            else:
                word_term[word] = -1
                words.cover[left] = -1
                left += np.uint64(1)
    return np.int64(left)


@inner_kernel
def _mark_words(words: DocumentWords) -> None:
    """Note the terms that the document's words are, and how often the most frequent occurs."""
    state = words.state
    stamp = np.int32(state[STAMP])
    present = 0
    largest = np.int32(0)
    for word in range(state[WORDS]):
        term = words.word_term[word]
        if term >= 0:
            present = _mark(words, stamp, present, term, word)
            largest = max(largest, words.seen[np.uint64(SEEN) * np.uint64(term) + np.uint64(COUNT)])
    state[PRESENT] = present
    state[LARGEST] = largest


@inner_kernel
def _mark_prefixes(terms: Terms, owner: np.uint64, words: DocumentWords, left: int) -> None:
    """Note the prefixes of the words that _find_words left; those that are no terms stay in `unnamed`."""
    state, data = words.state, words.folded_bytes
    stamp = np.int32(state[STAMP])
    present = state[PRESENT]
    occurrence = words.word_start.size
    unnamed = 0
    for i in range(left):
        word = np.int64(words.unnamed[i])
        cover = np.int64(words.cover[i])
        prefixes = terms.covering
        found = 0
        if cover >= 0:
            found = np.int64(prefixes[cover])
        else:
            words.unnamed[unnamed] = word
            unnamed += 1
            start = np.int64(words.word_start[word])
            size = words.word_end[word] - start
            lengths = prefix_lengths(terms.prefixes, owner, eight_bytes(data, start), size)
            if lengths != 0:
                prefixes = words.covering
                found = find_prefixes(
                    terms.slot, terms.record, owner, data, start, size, lengths, prefixes, 0
                )
        for j in range(cover + 1, cover + 1 + found):
            words.occurrence_word[occurrence] = word
            present = _mark(words, stamp, present, prefixes[j], occurrence)
            occurrence += 1
    state[PRESENT] = present
    state[UNNAMED] = unnamed


@bare_kernel
def read_document(
    documents: Documents, document: int, terms: Terms, group: int, words: DocumentWords
) -> None:
    """Put a document of a text group in place of the one that was read before."""
    state = words.state
    if state[STAMP] == _LAST_STAMP:
        words.seen[:] = 0
        words.other[:] = 0
        state[STAMP] = 0
        state[COUNTED] = 0
    state[STAMP] += 1
    state[GROUP] = group
    state[WORDS] = cut_document(documents, document, words)
    left = _find_words(terms, owner_of(group, 0), words)
    _mark_words(words)
    _mark_prefixes(terms, owner_of(group, 1), words, left)
