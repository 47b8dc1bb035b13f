"""Documents meet queries: Figure 6 of the paper for a batch of documents.

cut into words ──> search the filter ──> check what is left of the queries that were hit ──> scores

A *candidate* is a query and a document whose check begins: of phrases, negations, the formula.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import prefetch
from tocsin.kernels.jit import bare_kernel, inner_kernel
from tocsin.kernels.number_sorting import bits_of, sort_numbers
from tocsin.kernels.text.dictionary import DictionaryWords
from tocsin.kernels.text.document_words import PRESENT, WORDS, DocumentWords, read_document
from tocsin.kernels.text.documents import Documents
from tocsin.kernels.text.judging import JudgingRoom, query_holds, score_of
from tocsin.kernels.text.neighbours import note_neighbours
from tocsin.kernels.text.query_code import QueryCode, Terms
from tocsin.kernels.text.trie_filter import Trie
from tocsin.kernels.text.trie_search import SearchRoom, search_trie

VISITED = 0
HIT = 1
CANDIDATES = 2
FOUND = 3
"""What is counted: branch nodes visited, queries hit by a path, candidates, queries that hold."""

_AHEAD = 4
"""How many candidates ahead their leaves are asked for; twice as many for where they begin."""


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
    score = np.empty(len(found) if with_scores else 0, np.float64)
    document, hits = 0, 0
    while document < size:
        used = found_start[document]
        if used + hits > len(found):
            found = np.concatenate([found[:used], np.empty(max(hits, used), np.int32)])
            if with_scores:
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
        )
    used = found_start[size]
    count[FOUND] = used
    return found_start, found[:used], score[:used], count


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
) -> tuple[np.int64, np.int64]:
    """Go on with a document; the next that needs more room in `found`, and how much it may need.

    `score` is as long as `found`, or has no room at all when no scores are asked for.
    """
    bits = bits_of(code.group.size)
    used = found_start[document]
    while document < found_start.size - 1:
        read_document(documents, document, terms, group, words)
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
            _ask_ahead(code, room.hit, i, candidates)
            if query_holds(code, np.int64(room.hit[i]), words, judging):
                found[used] = room.hit[i]
                used += 1
        sort_numbers(found[first:used], room.hit[: used - first], bits, tally)
        if first < used:
            used = _reach_thresholds(found, score, first, used, code, dictionary, terms, words, judging)
        document += 1
        found_start[document] = used
        count[VISITED] += visited
        count[HIT] += hits
        count[CANDIDATES] += candidates
    return document, np.int64(0)


@bare_kernel
def _reach_thresholds(
    found: NDArray[np.int32],
    score: NDArray[np.float64],
    first: int,
    last: int,
    code: QueryCode,
    dictionary: DictionaryWords,
    terms: Terms,
    words: DocumentWords,
    judging: JudgingRoom,
) -> int:
    """Keep of the queries found[first:last], whose Boolean reading holds, those with the score that they ask
    for, and write the scores of all if there is room for them; where those that are kept end."""
    kept = first
    for i in range(first, last):
        query = np.int64(found[i])
        threshold = code.threshold[query]
        if score.size > 0 or threshold > 0:
            value = score_of(code, query, dictionary, terms, words, judging)
            if value < threshold:
                continue
            if score.size > 0:
                score[kept] = value
        found[kept] = query
        kept += 1
    return kept


@inner_kernel
def _ask_ahead(code: QueryCode, candidate: NDArray[np.int32], at: int, candidates: int) -> None:
    """Ask for what the next candidates will need: they are anywhere in large arrays."""
    if at + 2 * _AHEAD < candidates:
        query = np.int64(candidate[at + 2 * _AHEAD])
        prefetch(code.step_start, query)
        prefetch(code.leaf_start, query)
        prefetch(code.threshold, query)
    if at + _AHEAD < candidates:
        query = np.int64(candidate[at + _AHEAD])
        leaf = code.leaf_start[query]
        prefetch(code.step, code.step_start[query])
        prefetch(code.term_start, leaf)
        prefetch(code.negated, leaf)
        prefetch(code.gap, leaf)
    if at + _AHEAD // 2 < candidates:
        leaf = code.leaf_start[candidate[at + _AHEAD // 2]]
        prefetch(code.term, code.term_start[leaf])
