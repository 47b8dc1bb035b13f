"""A trie filter that queries enter, with what the kernels need to know of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from tests.text.kernels.trie_shape import Hung, path_of, shape_of

from tocsin import Dictionary
from tocsin.text import Terms, parse_query, query_code, words_for_kernels
from tocsin.text.kernels.access_paths import AccessPaths, access_paths
from tocsin.text.kernels.neighbours import note_neighbours
from tocsin.text.kernels.term_order import order_of_terms
from tocsin.text.kernels.trie_builder import build_trie
from tocsin.text.kernels.trie_search import search_room, search_trie


class Planted:
    """Queries, numbered as they are written here, and a filter that holds those that were put in.

    idfs          of the words; 1 of all others
    thresholds    of the queries, NaN for none
    """

    def __init__(
        self,
        queries: Sequence[str],
        idfs: Mapping[str, float] | None = None,
        thresholds: Sequence[float] | None = None,
        *,
        selective: bool = True,
    ) -> None:
        words = words_for_kernels([Dictionary().with_idf(idfs or {})])
        self.code, self.terms = query_code(
            [parse_query(query) for query in queries],
            [0] * len(queries),
            thresholds or [math.nan] * len(queries),
            words,
        )
        self.order = order_of_terms(self.code, self.terms)
        self.selective = selective
        self.planted: list[int] = []
        self.insert()

    @property
    def rarity(self) -> NDArray[np.float64]:
        return self.order.rarity

    def paths(self, queries: Iterable[int]) -> AccessPaths:
        asked = np.array(list(queries), np.int32)
        return access_paths(self.code, self.order, asked, self.selective)

    def insert(self, *queries: int) -> None:
        """The filter of all queries that were put in, in that order."""
        self.planted += queries
        asked = np.array(self.planted, np.int32)
        paths = self.paths(self.planted)
        self.trie = build_trie(asked, paths, self.code.group, 1, len(self.terms.group))

    def word(self, term: int) -> str:
        return word_of(self.terms, term)

    def shape(self) -> dict[str, set[Hung]]:
        """What hangs below each branch node, by the words that lead there."""
        return {
            " ".join(map(self.word, path)): hung for (_, path), hung in shape_of(self.trie).items() if path
        }

    def search(self, words: str) -> tuple[set[str], set[Hung]]:
        """The branch nodes that are visited, by the words that lead there, and the queries that are hit."""
        numbers = {self.word(term): term for term in range(len(self.terms.group))}
        term = np.array([numbers.get(word, -1) for word in words.split()], np.int32)
        present = np.unique(term[term >= 0])
        room = search_room(self.trie)
        note_neighbours(term, np.arange(len(term)), len(term), room.neighbours)
        visited, hits = search_trie(self.trie, 0, present, len(present), room)
        nodes = [int(node) for node in room.visited[:visited]]
        assert len(set(nodes)) == len(nodes), "a node visited twice"
        assert not room.occurs.any()
        return (
            {" ".join(map(self.word, path_of(self.trie, node))) for node in nodes},
            {Hung(int(number) >> 1, bool(number & 1)) for number in room.hit[:hits]},
        )


def word_of(terms: Terms, term: int) -> str:
    """A term as a query writes it."""
    text = terms.data[terms.start[term] : terms.start[term + 1]].tobytes().decode()
    return text + "*" if terms.is_prefix[term] else text
