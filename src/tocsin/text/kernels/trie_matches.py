"""Documents meet queries: Figure 6 of the paper for a batch of documents.

cut into words ──> search the filter ──> check what is left of the queries that were hit ──> scores

A *candidate* is a query and a document whose check begins: of phrases, negations, the formula.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.number_sort import bits_of, sort_numbers
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import PRESENT, WORDS, DocumentWords, read_document
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.neighbours import note_neighbours
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.trie import Trie
from tocsin.text.kernels.trie_search import SearchRoom, search_trie
from tocsin.text.kernels.verdicts import JudgingRoom, ask_ahead, query_holds, write_scores

WORDS_AT_ONCE = 1 << 20
"""Words of documents that are read before the kernel comes back."""

VISITED = 0
HIT = 1
CANDIDATES = 2
FOUND = 3
"""What is counted: branch nodes visited, queries hit by a path, candidates, queries that hold."""


def match_documents(
    documents: Documents,
    group: int,
    code: QueryCode,
    terms: Terms,
    dictionary: DictionaryWords,
    trie: Trie,
    words: DocumentWords,
    room: SearchRoom,
    judging: JudgingRoom,
    tally: NDArray[np.int64],
    *,
    with_scores: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """For each document the queries of a text group that hold, ascending; and the counts of all.

    Document d: found[found_start[d] : found_start[d + 1]]. A query with a threshold holds when its score
    reaches it. With scores, there is one for each that was found: now that the document is read, it costs
    little.
    """
    count = np.zeros(4, np.int64)
    size = len(documents.elements) - 1
    found_start = np.zeros(size + 1, np.int64)
    found = np.empty(16 * size, np.int32)
    score = np.empty(len(found), np.float64)
    document, hits = 0, 0
    while document < size:
        used = found_start[document]
        if used + hits > len(found):
            found = np.concatenate([found[:used], np.empty(max(hits, used), np.int32)])
            score = np.concatenate([score[:used], np.empty(max(hits, used), np.float64)])
        document, hits = _match_from(
            document,
            found_start,
            found,
            score,
            count,
            documents,
            group,
            code,
            terms,
            dictionary,
            trie,
            words,
            room,
            judging,
            tally,
            with_scores,
        )
    used = found_start[size]
    count[FOUND] = used
    return found_start, found[:used], score[: used if with_scores else 0], count


@bare_kernel
def _match_from(
    document: int,
    found_start: NDArray[np.int64],
    found: NDArray[np.int32],
    score: NDArray[np.float64],
    count: NDArray[np.int64],
    documents: Documents,
    group: int,
    code: QueryCode,
    terms: Terms,
    dictionary: DictionaryWords,
    trie: Trie,
    words: DocumentWords,
    room: SearchRoom,
    judging: JudgingRoom,
    tally: NDArray[np.int64],
    with_scores: bool,
) -> tuple[np.int64, np.int64]:
    """Go on with a document; the next that needs more room in `found`, and how much it may need.

    It also comes back after WORDS_AT_ONCE, and needs nothing then: Ctrl-C is seen between calls alone.
    """
    bits = bits_of(code.group.size)
    used = found_start[document]
    read = np.int64(0)
    while document < found_start.size - 1 and read < WORDS_AT_ONCE:
        read_document(documents, document, terms, group, words)
        read += words.state[WORDS]
        note_neighbours(words.word_term, words.word_place, words.state[WORDS], room.neighbours)
        visited, hits = search_trie(trie, group, words.present, words.state[PRESENT], room)
        if used + hits > found.size:
            return document, hits
        first = used
        candidates = np.int64(0)
        for i in range(hits):
            query = room.hit[i] >> 1
            if room.hit[i] & 1 != 0:
                room.hit[candidates] = query
                candidates += 1
            else:
                found[used] = query
                used += 1
        for i in range(candidates):
            ask_ahead(code, room.hit, i, candidates)
            if query_holds(code, np.int64(room.hit[i]), words, judging):
                found[used] = room.hit[i]
                used += 1
        if with_scores:
            sort_numbers(found[first:used], room.hit[: used - first], bits, tally)
        to_score = first if with_scores else _put_thresholds_last(code.threshold, found, first, used)
        if to_score < used:
            write_scores(code, found, to_score, used, dictionary, terms, words, judging, score)
            used = _keep_high_scores(code.threshold, found, score, to_score, used)
        if not with_scores:
            sort_numbers(found[first:used], room.hit[: used - first], bits, tally)
        document += 1
        found_start[document] = used
        count[VISITED] += visited
        count[HIT] += hits
        count[CANDIDATES] += candidates
    return document, np.int64(0)


@bare_kernel
def _put_thresholds_last(
    threshold: NDArray[np.float64], found: NDArray[np.int32], first: int, last: int
) -> int:
    """Put those of found[first:last] that ask for a score behind the others; where they begin."""
    middle = first
    for i in range(first, last):
        query = found[i]
        if not threshold[query] > 0:
            found[i] = found[middle]
            found[middle] = query
            middle += 1
    return middle


@bare_kernel
def _keep_high_scores(
    threshold: NDArray[np.float64],
    found: NDArray[np.int32],
    score: NDArray[np.float64],
    first: int,
    last: int,
) -> int:
    """Keep those of found[first:last] that have the score they ask for; where they end."""
    kept = first
    for i in range(first, last):
        if not score[i] < threshold[found[i]]:
            found[kept] = found[i]
            score[kept] = score[i]
            kept += 1
    return kept
