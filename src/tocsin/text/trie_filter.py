"""Text queries indexed by the trie filter: which of them hold in each document."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags
from tocsin.arrays.radix_sort import no_tally
from tocsin.arrays.scratch import Scratch
from tocsin.text.document_queries import DocumentQueries
from tocsin.text.kernels.access_paths import access_paths
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.term_order import drift, order_of_terms
from tocsin.text.kernels.trie import ABSENT, Trie
from tocsin.text.kernels.trie_builder import build_trie
from tocsin.text.kernels.trie_matches import Desk, FilterArrays, FoundQueries, match_documents
from tocsin.text.kernels.trie_search import search_room
from tocsin.text.kernels.verdicts import room_to_judge

DRIFT_LIMIT = 0.1
"""The share of branch nodes out of order from which on a filter is better made anew."""


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

    def _desk(self) -> Desk:
        judging = room_to_judge(self.code, np.arange(len(self.code.group), dtype=np.int32))
        return Desk(search_room(self.trie), judging, no_tally())
