"""How often a text query holds, by the resemblance of sets of documents.

As in Chen and others, Selectivity Estimation for Boolean Queries (PODS 2000), which the TriggerMan paper
follows, words stand for the sets of documents that hold them, and small samples of these sets tell how
they overlap. With sketches that keep the least hashes (word_counts.py), the documents of least hash in
all the query's words together are a sample of their union in which it is known of every document which
words it holds; so the query is asked of each, whatever its form:

    golf       3 8 14 21 | 40            the 4 least hashes of its documents; of more it knows nothing
    tennis     5 8 30                    all of its documents
    sample     3 5 8 14 21               up to the least end of a sketch that is not whole: 21
    golf & !tennis  holds in 3, 14, 21   of 4 documents of golf in the sample, which stand for all of golf's

The share is exact where all sketches are whole, which goes for words that are in few documents. When no
document of the sample satisfies the query, words are taken to be independent. Phrases count as their
words joined by AND, which they never exceed. With a threshold, a query that is one flat ACCRUE needs
several of its words at once (as many as the filter relies on): a score of t is reached by no fewer than
t * t of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints
from tocsin.arrays.packed import starts
from tocsin.history.statistics.word_sketches import Sketch, WordSketches
from tocsin.text import (
    Dictionary,
    DictionaryWords,
    QueryCode,
    Terms,
    TermSketches,
    TextQuery,
    query_code,
    shares_of_queries,
    words_for_kernels,
)

MOST_WORDS_OF_PREFIX = 256
"""Words that a prefix is taken for, those in most documents; what the others have is added to the count."""

_NOTHING = Sketch(0.0, np.empty(0, np.int64))


def text_selectivity(query: TextQuery, sketches: WordSketches, threshold: float = 0.0) -> float:
    """The share of documents that satisfy the query: 0 < s <= 1."""
    code, terms = query_code([query], [0], [threshold], _no_words())
    return float(text_selectivities(code, terms, np.zeros(1, np.int32), sketches)[0])


@cache
def _no_words() -> DictionaryWords:
    """A query's arrays name a dictionary, which sketches have no use for."""
    return words_for_kernels([Dictionary()])


def text_selectivities(code: QueryCode, terms: Terms, query: Ints, sketches: WordSketches) -> Doubles:
    """The same of many queries by their numbers, all of the text group that these are the sketches of."""
    group = int(code.group[query[0]]) if len(query) else -1
    return shares_of_queries(
        code, query, term_sketches(terms, group, sketches), sketches.dictionary.documents
    )


def term_sketches(terms: Terms, group: int, sketches: WordSketches) -> TermSketches:
    """The sketches of a group's terms; those of other groups are left empty."""
    data = terms.data.tobytes()
    found = [_NOTHING] * len(terms.group)
    for term in np.flatnonzero(terms.group == group).tolist():
        text = data[terms.start[term] : terms.start[term + 1]].decode()
        found[term] = prefix_sketch(text, sketches) if terms.is_prefix[term] else word_sketch(text, sketches)
    return TermSketches(
        np.array([each.documents for each in found], np.float64),
        np.array([each.is_whole for each in found], np.bool_),
        starts([len(each.hashes) for each in found], np.int64),
        np.concatenate([_NOTHING.hashes, *(each.hashes for each in found)]),
    )


def word_sketch(word: str, sketches: WordSketches) -> Sketch:
    """The documents that hold a word."""
    place = sketches.dictionary.place_of(word)
    return _NOTHING if place is None else sketches.at(place)


def prefix_sketch(prefix: str, sketches: WordSketches) -> Sketch:
    """The documents that hold a word that begins so."""
    documents = sketches.dictionary.arrays.documents
    places = sketches.dictionary.places_starting_with(prefix)
    chosen = np.arange(places.start, places.stop)
    if len(places) > MOST_WORDS_OF_PREFIX:
        order = np.argpartition(-documents[chosen], MOST_WORDS_OF_PREFIX)
        chosen = chosen[order[:MOST_WORDS_OF_PREFIX]]
    others = int(documents[places.start : places.stop].sum() - documents[chosen].sum())
    union = _union([sketches.at(place) for place in chosen.tolist()])
    if union.is_whole and not others:
        return union
    most = float(sketches.dictionary.documents)
    return Sketch(
        min(most, max(union.documents + others, sketches.size + 1.0)), union.hashes[: sketches.size]
    )


def _union(sets: Sequence[Sketch]) -> Sketch:
    """The documents in any of the sets: counted by the largest of them, of which the sample has a share."""
    hashes = np.unique(np.concatenate([_NOTHING.hashes, *(each.hashes for each in sets)]))
    ends = [int(each.hashes[-1]) for each in sets if not each.is_whole]
    if not ends:
        return Sketch(float(len(hashes)), hashes)
    known = hashes[: np.searchsorted(hashes, min(ends), side="right")]
    largest = max(sets, key=lambda each: each.documents)
    seen = int(np.count_nonzero(np.isin(known, largest.hashes)))
    count = largest.documents * len(known) / max(1, seen)
    return Sketch(max(largest.documents, min(count, sum(each.documents for each in sets))), known)
