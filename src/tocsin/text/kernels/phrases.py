"""Whether a word or phrase occurs in the document that was read.

Where a phrase of so many of its words may end is a list of places. A phrase grows by a word at every
occurrence of it that stands close enough behind one of those places: behind the last one before it,
which is the closest.

    "a b"~1  in  a a x b b        ends of `a`   0 1        b at 3: 1 is close enough     b at 4: not
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import inner_kernel
from tocsin.text.kernels.document_words import FIRST, SEEN, STAMP, DocumentWords
from tocsin.text.kernels.query_code import ANY_GAP, QueryCode

_WITHIN_ELEMENT = 2**31 - 1
"""How far apart two words of one element can be. Words of different elements are further apart."""


@inner_kernel
def leaf_occurs(code: QueryCode, leaf: int, words: DocumentWords) -> bool:
    """Whether a leaf, numbered over all queries and taken without its negation, is in the document."""
    first, last = code.term_start[leaf], code.term_start[leaf + 1]
    for i in range(first, last):
        if words.seen[SEEN * np.int64(code.term[i])] != words.state[STAMP]:
            return False
    return last - first == 1 or _phrase_occurs(code.term, first, last, code.gap[leaf], words)


@inner_kernel
def _phrase_occurs(term: Ints, first: int, last: int, gap: int, words: DocumentWords) -> bool:
    """Whether terms that are all present come in order, neighbours no further apart than the gap."""
    seen, place, ends = words.seen, words.word_place, words.ends
    occurrence_word, occurrence_next = words.occurrence_word, words.occurrence_next
    reach = np.int64(_WITHIN_ELEMENT) if gap == ANY_GAP else np.int64(gap) + 1
    half = words.word_start.size
    count = 0
    at = seen[SEEN * np.int64(term[first]) + FIRST]
    while at >= 0:
        ends[count] = place[occurrence_word[at]]
        count += 1
        at = occurrence_next[at]
    known = 0
    grown = half
    for i in range(first + 1, last):
        fresh = 0
        before = 0
        at = seen[SEEN * np.int64(term[i]) + FIRST]
        while at >= 0:
            here = place[occurrence_word[at]]
            while before + 1 < count and ends[known + before + 1] < here:
                before += 1
            if 0 < here - ends[known + before] <= reach:
                ends[grown + fresh] = here
                fresh += 1
            at = occurrence_next[at]
        if fresh == 0:
            return False
        count = fresh
        known, grown = grown, known
    return True
