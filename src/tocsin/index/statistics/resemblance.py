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
words joined by AND, which they never exceed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.grammar.text.query import Group, Leaf, Operation, TextQuery, Word
from tocsin.index.statistics.hashes import END
from tocsin.index.statistics.sketches import Sketch, WordSketches

MOST_WORDS_OF_PREFIX = 256
"""Words that a prefix is taken for, those in most documents; what the others add is added to the count."""

LARGEST_SAMPLE = 4096
"""Documents that a query is asked of, at most."""

_NOTHING = Sketch(0.0, np.empty(0, np.int64))


def text_selectivity(query: TextQuery, sketches: WordSketches, threshold: float = 0.0) -> float:
    """The share of documents that satisfy the query: 0 < s <= 1.

    With a threshold a query that is one flat ACCRUE needs several of its words at once (as many as the
    filter relies on): a score of t is reached by no fewer than t * t words.
    """
    documents = sketches.dictionary.documents
    least = 0.5 / (documents + 1)
    sets = {word: sketch_of(word, sketches) for leaf in query.leaves() for word in leaf.words}
    sample = _sample(list(sets.values()))
    members = {word: _members(sample.hashes, sketch) for word, sketch in sets.items()}
    needed = 1
    if threshold > 0 and len(query.steps) > 1 and _is_flat_accrue(query):
        needed = max(1, math.ceil(min(threshold * threshold * (1 - 1e-9), len(query.steps))))
    found = _asked(query, sets, members, max(1, documents), needed)
    hits = int(np.count_nonzero(found.holds))
    estimate = hits * sample.stands_for / max(1, documents)
    if hits == 0 and not sample.is_whole:
        estimate = min(found.independent, sample.stands_for / max(1, documents))
    return min(1.0, max(least, found.at_least, min(estimate, found.at_most)))


def sketch_of(word: Word, sketches: WordSketches) -> Sketch:
    """The documents that hold a word, or one of the words that begin with a prefix."""
    dictionary = sketches.dictionary
    if not word.is_prefix:
        place = dictionary.place_of(word.text)
        return _NOTHING if place is None else sketches.at(place)
    places = dictionary.places_starting_with(word.text)
    if len(places) > MOST_WORDS_OF_PREFIX:
        count = dictionary.arrays.documents[places.start : places.stop]
        chosen = np.argpartition(-count, MOST_WORDS_OF_PREFIX)[:MOST_WORDS_OF_PREFIX] + places.start
        rest = int(count.sum()) - int(dictionary.arrays.documents[chosen].sum())
    else:
        chosen, rest = np.arange(places.start, places.stop), 0
    return _union(
        [sketches.at(place) for place in chosen.tolist()], sketches.size, rest, dictionary.documents
    )


def _union(sets: Sequence[Sketch], size: int, more: int, documents: int) -> Sketch:
    """The documents in any of the sets, and no more than `more` others that nothing else is known of."""
    sample = _sample(sets)
    count = len(sample.hashes) * sample.stands_for
    largest = max((each.documents for each in sets), default=0.0)
    count = max(largest, min(count, sum(each.documents for each in sets)))
    whole = sample.is_whole and not more
    return Sketch(
        count if whole else min(max(count + more, size + 1.0), float(documents)),
        sample.hashes if whole else sample.hashes[:size],
    )


class _Sample(NamedTuple):
    """Documents of which it is known whether they are in each of some sets.

    hashes       of the documents, ascending
    is_whole     whether these are all documents in any of the sets
    stands_for   how many documents of the sets each of them stands for
    """

    hashes: NDArray[np.int64]
    is_whole: bool
    stands_for: float


def _sample(sets: Sequence[Sketch]) -> _Sample:
    every = np.concatenate([_NOTHING.hashes, *(each.hashes for each in sets)])
    end = min((int(each.hashes[-1]) for each in sets if not each.is_whole and len(each.hashes)), default=END)
    if end < END:
        every = every[every <= end]
    every.sort()
    is_fresh = np.ones(len(every), np.bool_)
    np.not_equal(every[1:], every[:-1], out=is_fresh[1:])
    known = every[is_fresh]
    if end == END and len(known) <= LARGEST_SAMPLE:
        return _Sample(known, True, 1.0)
    known = known[:LARGEST_SAMPLE]
    reference = max(sets, key=lambda each: each.documents)
    seen = int(np.count_nonzero(_members(known, reference)))
    stands_for = reference.documents / seen if seen else END / (int(known[-1]) + 1)
    return _Sample(known, False, stands_for)


def _members(hashes: NDArray[np.int64], sketch: Sketch) -> NDArray[np.bool_]:
    """Which of the documents with these hashes, ascending, are in the set."""
    holds = np.zeros(len(hashes), np.bool_)
    if len(hashes):
        wanted = sketch.hashes[: np.searchsorted(sketch.hashes, hashes[-1], side="right")]
        place = np.searchsorted(hashes, wanted)
        holds[place[hashes[place] == wanted]] = True
    return holds


class _Part(NamedTuple):
    """A step of a query: the documents of the sample in which it holds, and what is known of its share."""

    holds: NDArray[np.bool_]
    at_least: float
    at_most: float
    independent: float
    is_negated: bool = False


def _asked(
    query: TextQuery,
    sets: dict[Word, Sketch],
    members: dict[Word, NDArray[np.bool_]],
    documents: int,
    needed: int,
) -> _Part:
    """The whole query; `needed` operands of an ACCRUE have to hold."""
    waiting: list[_Part] = []
    for step in query.steps:
        if isinstance(step, Group):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            waiting.append(_joined(step.operation, operands, needed))
        else:
            waiting.append(_leaf(step, sets, members, documents))
    return waiting[0]


def _leaf(
    leaf: Leaf, sets: dict[Word, Sketch], members: dict[Word, NDArray[np.bool_]], documents: int
) -> _Part:
    shares = [min(1.0, sets[word].documents / documents) for word in leaf.words]
    holds = np.logical_and.reduce([members[word] for word in leaf.words])
    if leaf.negated:
        at_least = 1.0 - min(shares)
        return _Part(~holds, at_least, 1.0 if len(shares) > 1 else at_least, 1.0 - math.prod(shares), True)
    at_least = shares[0] if len(shares) == 1 else 0.0
    return _Part(holds, at_least, min(shares), math.prod(shares))


def _joined(operation: Operation, operands: Sequence[_Part], needed: int) -> _Part:
    plain = [each for each in operands if not each.is_negated]
    negated = [each for each in operands if each.is_negated]
    if operation is Operation.AND:
        parts = operands
    else:
        parts = [_any_of(plain, needed if operation is Operation.ACCRUE else 1), *negated]
    return _Part(
        np.logical_and.reduce([each.holds for each in parts]),
        max(0.0, 1.0 - sum(1.0 - each.at_least for each in parts)),
        min(each.at_most for each in parts),
        math.prod(each.independent for each in parts),
    )


def _any_of(parts: Sequence[_Part], needed: int) -> _Part:
    """Where so many of the parts hold."""
    count = np.zeros(len(parts[0].holds), np.int32)
    for part in parts:
        count += part.holds
    at_most = min(1.0, sum(each.at_most for each in parts) / needed)
    independent = 1.0 - math.prod(1.0 - each.independent for each in parts)
    at_least = max(each.at_least for each in parts) if needed == 1 else 0.0
    return _Part(count >= needed, at_least, at_most, min(independent, at_most))


def _is_flat_accrue(query: TextQuery) -> bool:
    groups = [step for step in query.steps if isinstance(step, Group)]
    return len(groups) == 1 and groups[0].operation is Operation.ACCRUE
