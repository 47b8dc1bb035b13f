"""Documents meet queries: Figure 6 of the paper for a batch of documents.

cut into words ──> search the filter ──> check what is left of the queries that were hit

A *candidate* is a query and a document whose check begins: of phrases, negations, the formula, the score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.growing import with_room
from tocsin.kernels.jit import bare_kernel, kernel
from tocsin.kernels.number_sorting import bits_of, sort_numbers
from tocsin.kernels.text.dictionary import DictionaryWords
from tocsin.kernels.text.document_words import PRESENT, WORDS, DocumentWords, read_document
from tocsin.kernels.text.documents import Documents
from tocsin.kernels.text.judging import JudgingRoom, ask_ahead, query_matches, write_scores
from tocsin.kernels.text.neighbours import note_neighbours
from tocsin.kernels.text.query_code import QueryCode, Terms
from tocsin.kernels.text.trie_filter import Trie
from tocsin.kernels.text.trie_search import SearchRoom, search_trie

VISITED = 0
HIT = 1
CANDIDATES = 2
FOUND = 3
"""What is counted: branch nodes visited, queries hit by a path, candidates, queries that hold."""


@kernel
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
    with_scores: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
    """For each document the queries of a text group that hold, ascending; and the counts of all.

    Document d: found[found_start[d] : found_start[d + 1]]. A query with a threshold holds when its score
    reaches it. With scores, there is one for each that was found: now that the document is read, it costs
    little.
    """
    count = np.zeros(4, np.int64)
    size = documents.elements.size - 1
    found_start = np.zeros(size + 1, np.int64)
    found = np.empty(16 * size, np.int32)
    score = np.empty(found.size if with_scores else 0, np.float64)
    document, hits = 0, 0
    while document < size:
        used = found_start[document]
        found = with_room(found, used, hits)
        if with_scores and score.size < found.size:
            longer = np.empty(found.size, np.float64)
            longer[:used] = score[:used]
            score = longer
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
            ask_ahead(code, room.hit, i, candidates)
            if query_matches(code, room.hit[i], dictionary, terms, words, judging):
                found[used] = room.hit[i]
                used += 1
        sort_numbers(found[first:used], room.hit[: used - first], bits, tally)
        if score.size > 0:
            write_scores(code, found, first, used, dictionary, terms, words, judging, score)
        document += 1
        found_start[document] = used
        count[VISITED] += visited
        count[HIT] += hits
        count[CANDIDATES] += candidates
    return document, np.int64(0)
