"""Text queries indexed by the trie filter: which of them hold in each document."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.jit import entry_point
from tocsin.arrays.pinned import pin
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.text.document_queries import LARGEST_KEPT, DocumentQueries
from tocsin.text.documents import documents_of_texts
from tocsin.text.kernels.access_paths import access_paths
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import no_document_words
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.term_order import drift, order_of_terms
from tocsin.text.kernels.trie import Trie
from tocsin.text.kernels.trie_builder import build_trie
from tocsin.text.kernels.trie_matches import (
    Desk,
    EventTables,
    FilterArrays,
    FoundQueries,
    match_documents,
    match_event,
)
from tocsin.text.kernels.trie_search import search_room
from tocsin.text.kernels.verdicts import room_to_judge

_SMALLEST = 1 << 12

DRIFT_LIMIT = 0.1
"""The share of branch nodes out of order from which on a filter is better made anew."""


class _EventDesk:
    """What one thread searches the documents of single events with."""

    def __init__(self, arrays: FilterArrays, desk: Desk) -> None:
        queries = len(arrays.code.group)
        found = FoundQueries(
            np.zeros(len(arrays.dictionary.unknown) + 1, np.int64),
            np.empty(queries, np.int32),
            np.empty(queries, np.float64),
            np.zeros(4, np.int64),
        )
        self._fit(EventTables(arrays, desk, no_document_words(len(arrays.terms.group), _SMALLEST), found))
        match_event(0, documents_of_texts([]), np.empty(0, np.int32), False, self._pinned[1])
        self._match = entry_point(match_event)

    def _fit(self, tables: EventTables) -> tuple[EventTables, Longs]:
        """Use these from now on: tables and block change together, whatever interrupts."""
        self._pinned = tables, pin(tables)
        return self._pinned

    def find(self, documents: Documents, groups: Ints, with_scores: bool) -> FoundQueries:
        """What is found, in arrays of its own."""
        tables, block = self._pinned
        room = len(documents.data) + 16 * len(documents.start)
        if tables.words.room < room:
            room = max(room, min(2 * room, LARGEST_KEPT))
            words = no_document_words(len(tables.arrays.terms.group), room)
            _, block = self._fit(tables._replace(words=words))
        document, found = 0, tables.found
        while document < len(groups):
            document = self._match(document, documents, groups, with_scores, block)
        if room > LARGEST_KEPT:
            self._fit(tables)
        used = found.start[len(groups)]
        start, score = found.start[: len(groups) + 1], found.score[: used if with_scores else 0]
        return FoundQueries(start.copy(), found.query[:used].copy(), score.copy(), found.count)


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
        self._arrays = FilterArrays(code, terms, dictionary, trie)
        self._desks = Scratch(self._desk)
        self._event_desks = Scratch(lambda: _EventDesk(self._arrays, self._desk()))

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
        paths = access_paths(code, order_of_terms(code, terms), query, selective)
        trie = build_trie(query, paths, code.group, len(dictionary.unknown), len(terms.group))
        return cls(code, terms, trie, dictionary, selective=selective)

    def find(self, documents: Documents, group: int, *, with_scores: bool = False) -> FoundQueries:
        """For each document the indexed queries of a text group that hold, with the scores they ask for."""
        with self._desks.lent() as desk, self._reading.lent(documents) as words:
            return match_documents(self._arrays, documents, group, words, desk, with_scores=with_scores)

    def find_in_event(self, documents: Documents, groups: Ints, *, with_scores: bool) -> FoundQueries:
        """The same of a single event, each of whose documents is of another text group: in one go."""
        with self._event_desks.lent() as desk:
            return desk.find(documents, groups, with_scores)

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

    def _desk(self) -> Desk:
        judging = room_to_judge(self.code, np.arange(len(self.code.group), dtype=np.int32))
        return Desk(search_room(self.trie), judging, no_tally())
