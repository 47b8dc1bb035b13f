"""Text queries indexed by the trie filter: which of them hold in each document."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.number_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.fork_locks import CACHE, fork_safe_lock
from tocsin.text.document_queries import ask
from tocsin.text.document_scratch import ReadingRoom
from tocsin.text.kernels.access_paths import access_paths
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.term_order import drift, order_of_terms
from tocsin.text.kernels.trie import ABSENT, Trie, empty_trie
from tocsin.text.kernels.trie_changes import delete_queries, insert_queries, with_room
from tocsin.text.kernels.trie_layout import compact
from tocsin.text.kernels.trie_matches import match_documents
from tocsin.text.kernels.trie_search import search_room
from tocsin.text.kernels.verdicts import room_to_judge

Ints = NDArray[np.int32]

DRIFT_LIMIT = 0.1
"""The share of branch nodes out of order from which on a filter is better made anew."""


class Counts(NamedTuple):
    """What a filter did since it was made.

    visited      branch nodes whose words were in a document
    hit          queries to which a path led, in each document
    candidates   those of them of which a phrase, negation or formula was left to check
    found        queries that held
    """

    visited: int = 0
    hit: int = 0
    candidates: int = 0
    found: int = 0


class TextFilter:
    """Queries over all text groups of an index. Threads may share it; nothing in it ever changes but counts.

    selective    whether paths are left out that no match needs when there is a threshold
    """

    def __init__(
        self, code: QueryCode, terms: Terms, trie: Trie, dictionary: DictionaryWords, *, selective: bool
    ) -> None:
        self.code = code
        self.terms = terms
        self.trie = trie
        self.dictionary = dictionary
        self.selective = selective
        self._desks = Scratch(lambda: _Desk(self))
        self._reading = ReadingRoom(len(terms.group))
        self._counts = Counts()
        self._counting = fork_safe_lock(CACHE)

    @classmethod
    def of(
        cls,
        code: QueryCode,
        terms: Terms,
        dictionary: DictionaryWords,
        indexed: NDArray[np.bool_],
        *,
        selective: bool = True,
    ) -> TextFilter:
        """The filter of the queries that are `indexed`; the others can only be asked."""
        query = np.flatnonzero(indexed).astype(np.int32)
        trie = _with_queries(empty_trie(), code, terms, dictionary, query, selective)
        return cls(code, terms, compact(trie), dictionary, selective=selective)

    @classmethod
    def from_arrays(
        cls,
        code: QueryCode,
        terms: Terms,
        trie: Trie,
        dictionary: DictionaryWords,
        *,
        selective: bool = True,
    ) -> TextFilter:
        """A filter whose arrays were saved."""
        return cls(code, terms, trie, dictionary, selective=selective)

    @property
    def counts(self) -> Counts:
        """What `find` did so far."""
        return self._counts

    def find(self, documents: Documents, group: int) -> tuple[NDArray[np.int64], Ints]:
        """For each document the indexed queries of a text group that hold, with the scores they ask for.

        Ascending: document d has found[start[d] : start[d + 1]].
        """
        start, found, _ = self._match(documents, group, with_scores=False)
        return start, found

    def find_scored(
        self, documents: Documents, group: int
    ) -> tuple[NDArray[np.int64], Ints, NDArray[np.float64]]:
        """The same, and the score of each query that was found."""
        return self._match(documents, group, with_scores=True)

    def _match(
        self, documents: Documents, group: int, *, with_scores: bool
    ) -> tuple[NDArray[np.int64], Ints, NDArray[np.float64]]:
        with self._desks.lent() as desk, self._reading.lent(documents) as words:
            start, found, score, count = match_documents(
                documents,
                group,
                self.code,
                self.terms,
                self.dictionary,
                self.trie,
                words,
                desk.search,
                desk.judging,
                desk.tally,
                with_scores=with_scores,
            )
        with self._counting:
            self._counts = Counts(*(np.array(self._counts) + count).tolist())
        return start, found, score

    def ask(
        self, documents: Documents, document: Ints, query: Ints
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """The Boolean reading and the score of query[i] in document[i], indexed or not.

        Pairs of one document stand together.
        """
        with self._reading.lent(documents) as words:
            return ask(self.code, self.terms, self.dictionary, documents, document, query, words)

    def changed(
        self, code: QueryCode, terms: Terms, dictionary: DictionaryWords, *, insert: Ints, delete: Ints
    ) -> TextFilter:
        """A filter with some queries more and some less; this one stays as it is for those who search it.

        The queries, terms and text groups of this filter keep their numbers and weights; fresh ones come
        behind them.
        """
        trie = Trie._make(array.copy() for array in self.trie)
        delete_queries(trie, delete)
        trie = _with_queries(trie, code, terms, dictionary, insert, self.selective)
        return TextFilter(code, terms, trie, dictionary, selective=self.selective)

    def drift(self, terms: Terms) -> float:
        """The share of branch nodes that are out of order if the terms weigh as they do here."""
        return float(drift(self.trie, order_of_terms(self.code, terms).rarity))

    def reweighed(self, terms: Terms, dictionary: DictionaryWords, limit: float = DRIFT_LIMIT) -> TextFilter:
        """The same queries with words that weigh otherwise.

        The order of words along a path decides how quickly a query is found, never whether. So paths stay
        unless so many are out of order that it pays to make them anew; or unless what was left out as
        weighing nothing may now weigh something.
        """
        may_lose = self.selective and bool(((self.terms.idf == 0) & (terms.idf != 0)).any())
        if not may_lose and self.drift(terms) <= limit:
            return TextFilter(self.code, terms, self.trie, dictionary, selective=self.selective)
        indexed = self.trie.first_of_query != ABSENT
        return TextFilter.of(self.code, terms, dictionary, indexed, selective=self.selective)


class _Desk:
    """What one thread works with besides the words of a document."""

    def __init__(self, owner: TextFilter) -> None:
        self.search = search_room(owner.trie)
        self.judging = room_to_judge(owner.code, np.arange(len(owner.code.group), dtype=np.int32))
        self.tally = no_tally()


def _with_queries(
    trie: Trie, code: QueryCode, terms: Terms, dictionary: DictionaryWords, query: Ints, selective: bool
) -> Trie:
    """The filter with some queries more, in the same arrays as far as they have room."""
    paths = access_paths(code, order_of_terms(code, terms), query, selective)
    roomy = with_room(
        trie,
        len(dictionary.unknown),
        len(terms.group),
        len(code.group),
        len(paths.term),
        len(paths.to_check),
    )
    insert_queries(roomy, code.group, query, paths)
    return roomy
