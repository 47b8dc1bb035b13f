"""One document at a time, cut into words that are looked up: which terms are there, how often and where.

    document       the old man and the sea          queries name   the  sea  an*  man
    words          0 the 1 old 2 man 3 and 4 the 5 sea
    present        the  man  an*  sea                               in order of appearance
    occurrences    the 0   man 2   an* 3   the 4   sea 5            a chain for each term, ascending

The memory is one thread's, and used again for the next document. What a term has from a document
carries the document's stamp, so nothing needs to be cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import HALF, LOWER_HALF, eight_bytes, prefetch
from tocsin.kernels.jit import bare_kernel, inner_kernel, kernel
from tocsin.kernels.text.cutting import NOT_ASCII, cut_ascii, cut_characters
from tocsin.kernels.text.documents import Documents
from tocsin.kernels.text.query_code import Terms
from tocsin.kernels.text.terms import find_prefixes, find_record, hash_word, owner_of, prefix_lengths

STAMP = 0
WORDS = 1
PRESENT = 2
OCCURRENCES = 3
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

    state             int64[7]     the document's stamp; how many words, present terms and occurrences
                                   there are; the stamp of the last document whose words were counted,
                                   and the largest count in it; the text group
    folded            uint64[B/8]  its bytes, in lower case; every element begins with a new word
    folded_bytes      uint8[B]     the same memory
    word_start        int32[W]     word w: folded_bytes[word_start[w] : word_end[w]]
    word_end          int32[W]
    word_term         int32[W]     the term that it is, as a word, or -1
    word_place        int64[W]     its element * 2^32 + its place in that
    hash              uint64[32]   of words that are being looked up
    present           int32[T+1]   the terms that the document holds
    seen              int32[4T]    for each term: a stamp, and when it is the document's, how often the
                                   term occurs, its first and its last occurrence
    occurrence_word   int32[2B]    the word of each occurrence
    occurrence_next   int32[2B]    the next occurrence of the same term, or -1
    covering          int32[B]     prefixes of a word that is being looked up
    same_word         int32[W]     when words are counted (counting.py): the first word that is the same
    word_count        int32[W]     for such a first word: how often it occurs
    other             int64[2^k]   open addressing of such first words that are no terms: a stamp in the
                                   upper half, and the word
    ends              int64[2W]    where a phrase may end (phrases.py)

    A word gives an occurrence for itself and at most one for each of its bytes, where a prefix ends.
    The last entry of present and of occurrence_next is written to and never read.
    """

    state: NDArray[np.int64]
    folded: NDArray[np.uint64]
    folded_bytes: NDArray[np.uint8]
    word_start: NDArray[np.int32]
    word_end: NDArray[np.int32]
    word_term: NDArray[np.int32]
    word_place: NDArray[np.int64]
    hash: NDArray[np.uint64]
    present: NDArray[np.int32]
    seen: NDArray[np.int32]
    occurrence_word: NDArray[np.int32]
    occurrence_next: NDArray[np.int32]
    covering: NDArray[np.int32]
    same_word: NDArray[np.int32]
    word_count: NDArray[np.int32]
    other: NDArray[np.int64]
    ends: NDArray[np.int64]

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
    return DocumentWords(
        np.zeros(7, np.int64),
        folded,
        folded.view(np.uint8),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int64),
        np.empty(_TOGETHER, np.uint64),
        np.empty(terms + 1, np.int32),
        np.zeros(SEEN * terms, np.int32),
        np.empty(2 * room + 2, np.int32),
        np.empty(2 * room + 2, np.int32),
        np.empty(room, np.int32),
        np.empty(words, np.int32),
        np.empty(words, np.int32),
        np.zeros(others, np.int64),
        np.empty(2 * words, np.int64),
    )


@inner_kernel
def is_present(words: DocumentWords, term: int) -> bool:
    """Whether the document holds the term."""
    return words.seen[SEEN * np.int64(term)] == words.state[STAMP]


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
def _mark(words: DocumentWords, stamp: int, present: int, occurrence: int, term: int, word: int) -> int:
    """Note that a term occurs as this word, or as its beginning; how many terms are present now.

    There is no branch on whether the term was seen before: it would be guessed wrong too often.
    """
    seen = words.seen
    at = SEEN * np.int64(term)
    is_first = seen[at] != stamp
    unread = words.occurrence_next.size - 1
    words.occurrence_next[unread if is_first else seen[at + LAST]] = occurrence
    words.occurrence_word[occurrence] = word
    words.occurrence_next[occurrence] = -1
    words.present[present] = term
    seen[at] = stamp
    seen[at + COUNT] = 1 if is_first else seen[at + COUNT] + 1
    seen[at + FIRST] = occurrence if is_first else seen[at + FIRST]
    seen[at + LAST] = occurrence
    return present + np.int64(is_first)


@inner_kernel
def _look_up(terms: Terms, group: int, words: DocumentWords) -> None:
    """Find the terms that the document's words are, and that they begin with."""
    slot, record, covering = terms.slot, terms.record, terms.covering
    data, value, state = words.folded_bytes, words.hash, words.state
    owner = owner_of(group, 0)
    prefix_owner = owner_of(group, 1)
    mask = np.uint64(slot.size - 1)
    stamp = state[STAMP]
    word_count = state[WORDS]
    present = 0
    occurrences = 0
    for first in range(0, word_count, _TOGETHER):
        last = min(first + _TOGETHER, word_count)
        for word in range(first, last):
            start = np.int64(words.word_start[word])
            value[word - first] = hash_word(owner, data, start, words.word_end[word] - start)
            prefetch(slot, value[word - first] & mask)
        for word in range(first, last):
            prefetch(record, np.int64(slot[value[word - first] & mask] & LOWER_HALF))
        for word in range(first, last):
            start = np.int64(words.word_start[word])
            size = words.word_end[word] - start
            place = find_record(slot, record, value[word - first], owner, data, start, size)
            if place >= 0:
                term = np.int64(record[place] >> HALF)
                words.word_term[word] = term
                present = _mark(words, stamp, present, occurrences, term, word)
                occurrences += 1
                at = np.int64(record[place + 1] >> HALF)
                for i in range(at + 1, at + 1 + covering[at]):
                    present = _mark(words, stamp, present, occurrences, covering[i], word)
                    occurrences += 1
                continue
            words.word_term[word] = -1
            lengths = prefix_lengths(terms.prefixes, prefix_owner, eight_bytes(data, start), size)
            if lengths != 0:
                count = find_prefixes(
                    slot, record, prefix_owner, data, start, size, lengths, words.covering, 0
                )
                for i in range(count):
                    present = _mark(words, stamp, present, occurrences, words.covering[i], word)
                    occurrences += 1
    state[PRESENT] = present
    state[OCCURRENCES] = occurrences


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
    _look_up(terms, group, words)
