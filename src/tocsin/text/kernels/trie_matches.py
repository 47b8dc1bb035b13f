"""Documents meet queries: Figure 6 of the paper for a batch of documents, and single questions.

cut into words ──> search the filter ──> check what is left of the queries that were hit ──> scores

A *candidate* is a query and a document whose check begins: of phrases, negations, the formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.arrays.pinned import pinned
from tocsin.arrays.radix_sort import bits_of, sort_numbers
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import PRESENT, WORDS, DocumentWords, read_document
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.neighbours import note_neighbours
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.trie import Trie
from tocsin.text.kernels.trie_search import SearchRoom, search_trie
from tocsin.text.kernels.verdicts import JudgingRoom, ask_ahead, query_holds, room_to_judge, write_scores

WORDS_AT_ONCE = 1 << 20
"""Words of documents that are read before the kernel comes back."""

VISITED = 0
HIT = 1
CANDIDATES = 2
FOUND = 3
"""What is counted: branch nodes visited, queries hit by a path, candidates, queries that hold."""


class FoundQueries(NamedTuple):
    """What a filter found in documents. D documents.

    start    int64[D+1]     queries of document d, ascending: query[start[d] : start[d + 1]]
    query    int32[...]
    score    float64[...]   the score of each; empty when nobody wanted any
    count    int64[4]       how much there was to do: see FOUND
    """

    start: Longs
    query: Ints
    score: Doubles
    count: Longs


class FilterTables(NamedTuple):
    """Queries, the filter that finds them, and what one thread writes to; `tally` is for sorting.

    `found` has room for the documents of a call; the number of what is counted goes up from call to call.
    """

    code: QueryCode
    terms: Terms
    dictionary: DictionaryWords
    trie: Trie
    search: SearchRoom
    judging: JudgingRoom
    tally: Longs
    words: DocumentWords
    found: FoundQueries


@bare_kernel
def match_documents(
    document: int, documents: Documents, groups: Ints, with_scores: bool, block: Longs
) -> tuple[np.int64, np.int64]:
    """Find the queries that hold in documents from `document` on, of which groups[d] is the text group of d.

    `block` has FilterTables (arrays/pinned.py). A query with a threshold holds when its score reaches it.
    With scores, there is one for each that was found: now that the document is read, it costs little.

    Gives the document to go on with, and how much room it may need that is not there. It also comes back
    after WORDS_AT_ONCE, and needs nothing then: Ctrl-C is seen between calls alone.
    """
    code, terms, dictionary, trie, room, judging, tally, words, into = pinned(block, FilterTables)
    found_start, found, score, count = into
    bits = bits_of(code.group.size)
    used = found_start[document]
    read = np.int64(0)
    while document < groups.size and read < WORDS_AT_ONCE:
        group = np.int64(groups[document])
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
def _put_thresholds_last(threshold: Doubles, found: Ints, first: int, last: int) -> int:
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
def _keep_high_scores(threshold: Doubles, found: Ints, score: Doubles, first: int, last: int) -> int:
    """Keep those of found[first:last] that have the score they ask for; where they end."""
    kept = first
    for i in range(first, last):
        if not score[i] < threshold[found[i]]:
            found[kept] = found[i]
            score[kept] = score[i]
            kept += 1
    return kept


@bare_kernel
def score_documents(documents: Documents, document: Ints, query: Ints, score: Doubles, block: Longs) -> int:
    """Write the score of query[i] in document[i], whatever threshold it has; how many there are.

    Pairs of a document, of which all queries are of its group, stand together. `block` has FilterTables.
    """
    code, terms, dictionary, _, _, judging, _, words, _ = pinned(block, FilterTables)
    first = 0
    while first < document.size:
        last = first
        while last < document.size and document[last] == document[first]:
            last += 1
        read_document(documents, np.int64(document[first]), terms, np.int64(code.group[query[first]]), words)
        write_scores(code, query, first, last, dictionary, terms, words, judging, score)
        first = last
    return first


@kernel
def ask_pairs(
    code: QueryCode,
    terms: Terms,
    dictionary: DictionaryWords,
    documents: Documents,
    document: Ints,
    query: Ints,
    words: DocumentWords,
) -> tuple[Flags, Doubles]:
    """The Boolean reading and the score of query[i] in document[i], whatever threshold it has.

    A document is read once when its pairs, of which all queries are of its group, come together.
    """
    count = document.size
    holds = np.zeros(count, np.bool_)
    score = np.zeros(count, np.float64)
    room = room_to_judge(code, query)
    first = 0
    while first < count:
        last = first
        while last < count and document[last] == document[first]:
            last += 1
        group = np.int64(code.group[query[first]])
        read_document(documents, np.int64(document[first]), terms, group, words)
        for i in range(first, last):
            holds[i] = query_holds(code, np.int64(query[i]), words, room)
        write_scores(code, query, first, last, dictionary, terms, words, room, score)
        first = last
    return holds, score
