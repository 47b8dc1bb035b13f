"""Words come to weigh otherwise, paths stay or are made anew, other queries are indexed: in any order."""

from __future__ import annotations

import math
import random

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.conftest import examples
from tests.text.filters import holds, kernel_words
from tests.text.kernels.trie_shape import check_invariants
from tests.text_cases import Weights, make_document, make_flat_query, make_query, make_weights

from tocsin.text import Operation, TextFilter, TextQuery, documents_of_texts, query_code
from tocsin.text.kernels.term_order import order_of_terms

GROUPS = 2
RANDOM = random.Random(20)
QUERIES = [make_query(RANDOM) for _ in range(60)]
QUERIES += [make_flat_query(RANDOM, operation) for operation in Operation for _ in range(15)]
DOCUMENTS = [make_document(RANDOM) for _ in range(80)]
WEIGHTS = [[make_weights(RANDOM) for _ in range(GROUPS)] for _ in range(12)]
THRESHOLDS = (math.nan, math.nan, 0.0, 0.4, 1.0, 1.2, math.sqrt(2), 1.6)
"""Made before, so that Hypothesis spends its choices on the order of things."""

fresh = st.tuples(
    st.sampled_from(range(len(QUERIES))), st.sampled_from(THRESHOLDS), st.integers(0, GROUPS - 1)
)


class AnyOrder(RuleBasedStateMachine):
    """`asked` are all queries, by number: the query, its threshold, its text group; `live` are indexed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[TextQuery, float, int]] = []
        self.live: set[int] = set()
        self.weights: list[Weights] = WEIGHTS[0]
        self.filter: TextFilter
        self.is_ordered = True

    @initialize(some=st.lists(fresh, max_size=20), weights=st.sampled_from(WEIGHTS), selective=st.booleans())
    def build(self, some: list[tuple[int, float, int]], weights: list[Weights], selective: bool) -> None:
        self.weights = weights
        words = kernel_words(weights)
        self.asked = [(QUERIES[number], threshold, group) for number, threshold, group in some]
        self.live = set(range(len(some)))
        code, terms = query_code(
            [query for query, _, _ in self.asked],
            [group for _, _, group in self.asked],
            [threshold for _, threshold, _ in self.asked],
            words,
        )
        self.filter = TextFilter.of(code, terms, words, np.ones(len(some), np.bool_), selective=selective)

    @rule(weights=st.sampled_from(WEIGHTS), limit=st.sampled_from([0.0, 0.3, 1.0]))
    def reweigh(self, weights: list[Weights], limit: float) -> None:
        self.weights = weights
        words = kernel_words(weights)
        terms = self.filter.terms
        idf = [
            weights[group].idf(terms.data[terms.start[term] : terms.start[term + 1]].tobytes().decode())
            for term, group in enumerate(terms.group.tolist())
        ]
        before = self.filter.trie
        self.filter = self.filter.reweighed(terms._replace(idf=np.array(idf)), words, limit)
        self.is_ordered = self.filter.trie is not before
        assert self.filter.drift(self.filter.terms) <= limit

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def index_others(self, data: st.DataObject) -> None:
        self.live = data.draw(st.sets(st.sampled_from(range(len(self.asked)))))
        indexed = np.array([number in self.live for number in range(len(self.asked))], np.bool_)
        self.filter = TextFilter.of(
            self.filter.code,
            self.filter.terms,
            self.filter.dictionary,
            indexed,
            selective=self.filter.selective,
        )
        self.is_ordered = True

    @rule(some=st.lists(st.sampled_from(range(len(DOCUMENTS))), min_size=1, max_size=6))
    def search(self, some: list[int]) -> None:
        texts = [DOCUMENTS[number] for number in some]
        for group in range(GROUPS):
            start, found = self.filter.find(documents_of_texts(texts), group)[:2]
            for place, text in enumerate(texts):
                assert found[start[place] : start[place + 1]].tolist() == [
                    number
                    for number in sorted(self.live)
                    if self.asked[number][2] == group
                    and holds(self.asked[number][0], self.asked[number][1], text, self.weights[group])
                ]

    @invariant()
    def the_structure_is_sound(self) -> None:
        if hasattr(self, "filter"):
            order = order_of_terms(self.filter.code, self.filter.terms)
            rarity = order.rarity if self.is_ordered else None
            check_invariants(self.filter.trie, rarity)


AnyOrder.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=20)
TestAnyOrder = AnyOrder.TestCase
