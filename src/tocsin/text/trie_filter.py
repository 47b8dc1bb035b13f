"""Text queries indexed by the trie filter: which of them hold in each document."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.arrays.jit import entry_point
from tocsin.arrays.pinned import pin
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.text.document_queries import LARGEST_KEPT, DocumentQueries
from tocsin.text.documents import documents_of_texts
from tocsin.text.kernels.access_paths import access_paths
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import no_document_words, room_for
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.term_order import drift, order_of_terms
from tocsin.text.kernels.trie import ROW, Trie
from tocsin.text.kernels.trie_builder import build_trie
from tocsin.text.kernels.trie_matches import (
    FOUND,
    FilterTables,
    FoundQueries,
    match_documents,
    score_documents,
)
from tocsin.text.kernels.trie_search import search_room
from tocsin.text.kernels.verdicts import room_to_judge

_FEW = 1 << 10
_FEW_BYTES = 1 << 12

DRIFT_LIMIT = 0.1
"""The share of branch nodes out of order from which on a filter is better made anew."""


class _Desk:
    """What one thread searches documents with."""

    def __init__(self, code: QueryCode, terms: Terms, dictionary: DictionaryWords, trie: Trie) -> None:
        judging = room_to_judge(code, np.arange(len(code.group), dtype=np.int32))
        words = no_document_words(len(terms.group), _FEW_BYTES)
        found = FoundQueries(
            np.zeros(1, np.int64), np.empty(_FEW, np.int32), np.empty(_FEW), np.zeros(4, np.int64)
        )
        search = search_room(trie)
        tables = FilterTables(code, terms, dictionary, trie, search, judging, no_tally(), words, found)
        match_documents(0, documents_of_texts([]), np.empty(0, np.int32), False, self._fit(tables))
        self._match = entry_point(match_documents)

    def _fit(self, tables: FilterTables) -> Longs:
        """Use these from now on: tables and block change together, whatever interrupts."""
        block = pin(tables)
        self._pinned = tables, block
        return block

    def _with_room(self, documents: Documents) -> FilterTables:
        """The tables, with room for the longest of some documents."""
        tables = self._pinned[0]
        most = len(documents.data) + 16 * len(documents.start)
        if tables.words.room < most and tables.words.room < (room := room_for(documents)):
            room = max(room, min(2 * room, LARGEST_KEPT))
            return tables._replace(words=no_document_words(len(tables.terms.group), room))
        return tables

    @cached_property
    def _score(self) -> Callable[[Documents, Ints, Ints, Doubles, Longs], int]:
        nothing = np.empty(0, np.int32)
        score_documents(documents_of_texts([]), nothing, nothing, np.empty(0), self._pinned[1])
        return entry_point(score_documents)

    def scores(self, documents: Documents, document: Ints, query: Ints) -> Doubles:
        """The score of query[i] in document[i]; pairs of one document stand together."""
        score, at_first = np.empty(len(query)), self._pinned
        tables = self._with_room(documents)
        block = at_first[1] if tables is at_first[0] else self._fit(tables)
        self._score(documents, document, query, score, block)
        if tables.words.room > LARGEST_KEPT:
            self._pinned = at_first
        return score

    def find(self, documents: Documents, groups: Ints, with_scores: bool) -> FoundQueries:
        """For each document the queries of its text group that hold, in arrays of their own."""
        at_first = self._pinned
        block = at_first[1]
        tables = self._with_room(documents)
        if len(tables.found.start) <= len(groups):
            start = np.zeros(len(groups) + 1, np.int64)
            tables = tables._replace(found=tables.found._replace(start=start))
        if tables is not at_first[0]:
            block = self._fit(tables)
        document, found = 0, tables.found
        found.count.fill(0)
        while document < len(groups):
            document, hits = map(int, self._match(document, documents, groups, with_scores, block))
            if hits:
                used = found.start[document]
                more = max(hits, used)
                found = found._replace(
                    query=np.concatenate([found.query[:used], np.empty(more, np.int32)]),
                    score=np.concatenate([found.score[:used], np.empty(more)]),
                )
                block = self._fit(tables._replace(found=found))
        if max(tables.words.room, len(found.query)) > LARGEST_KEPT:
            self._pinned = at_first
        start, used = found.start[: len(groups) + 1].copy(), found.start[len(groups)]
        found.count[FOUND] = used
        score = found.score[: used if with_scores else 0].copy()
        return FoundQueries(start, found.query[:used].copy(), score, found.count.copy())


class TextFilter(DocumentQueries):
    """Queries over all text groups of an index. Threads may share it; nothing in it ever changes.

    selective    whether paths are left out that no match needs when there is a threshold
    """

    def __init__(
        self,
        code: QueryCode,
        terms: Terms,
        trie: Trie,
        dictionary: DictionaryWords,
        *,
        selective: bool = True,
    ) -> None:
        super().__init__(code, terms, dictionary)
        self.trie = trie
        self.selective = selective
        self._desks = Scratch(lambda: _Desk(code, terms, dictionary, trie))

    @classmethod
    def of(
        cls,
        code: QueryCode,
        terms: Terms,
        dictionary: DictionaryWords,
        indexed: Flags,
        *,
        selective: bool = True,
    ) -> TextFilter:
        """The filter of the queries that are `indexed`; the others can only be asked."""
        query = np.flatnonzero(indexed).astype(np.int32)
        if not len(dictionary.unknown) and not len(terms.group):
            none = np.empty(0, np.int32)
            trie = Trie(np.zeros(ROW, np.int32), none, none, np.zeros(0, np.bool_), np.zeros(1, np.int32))
            return cls(code, terms, trie, dictionary, selective=selective)
        paths = access_paths(code, order_of_terms(code, terms), query, selective)
        trie = build_trie(query, paths, code.group, len(dictionary.unknown), len(terms.group))
        return cls(code, terms, trie, dictionary, selective=selective)

    def find(self, documents: Documents, group: int, *, with_scores: bool = False) -> FoundQueries:
        """For each document the indexed queries of a text group that hold, with the scores they ask for."""
        groups = np.full(len(documents.elements) - 1, group, np.int32)
        return self.find_in_groups(documents, groups, with_scores=with_scores)

    def find_in_groups(self, documents: Documents, groups: Ints, *, with_scores: bool) -> FoundQueries:
        """The same, each document of a text group of its own."""
        with self._desks.lent() as desk:
            return desk.find(documents, groups, with_scores)

    def scores(self, documents: Documents, document: Ints, query: Ints) -> Doubles:
        """What `ask` says of scores, for the few documents of one event: without the price of a long call."""
        if not self.is_short(documents, query):
            return self.ask(documents, document, query)[1]
        with self._desks.lent() as desk:
            return desk.scores(documents, document, query)

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
        return TextFilter.of(self.code, terms, dictionary, self.trie.is_indexed, selective=self.selective)
