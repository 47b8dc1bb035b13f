"""Rules without free text and patterns: what no kernel is called for is what the kernels would make."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin.arrays.packed import packed_bytes
from tocsin.conditions.graph import pattern_arrays
from tocsin.conditions.kernels.automaton import build_automata
from tocsin.text import TextBase, TextFilter, query_arrays
from tocsin.text.kernels.access_paths import access_paths
from tocsin.text.kernels.query_parser import read_queries
from tocsin.text.kernels.term_order import order_of_terms
from tocsin.text.kernels.trie_builder import build_trie


def same(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    """Whether two tuples of arrays are the same, types and all."""
    pairs = zip(one, other, strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and (a == b).all() for a, b in pairs)


def test_no_queries_and_no_trie() -> None:
    words, none, flags = TextBase().words, np.empty(0, np.int32), np.zeros(0, np.bool_)
    read = read_queries(np.empty(0, np.uint8), np.zeros(1, np.int64), none, flags, flags)
    code, terms = query_arrays._numbered(read, none, np.empty(0), words)
    own_code, own_terms = query_arrays._no_queries()
    assert same(code, own_code)
    assert same(terms, own_terms)
    trie = build_trie(none, access_paths(code, order_of_terms(code, terms), none, True), none, 0, 0)
    assert same(trie, TextFilter.of(code, terms, words, flags).trie)


@pytest.mark.parametrize("count", [0, 2, 6])
def test_no_automata(count: int) -> None:
    built = build_automata(np.zeros(count + 1, np.int64), *packed_bytes([]))
    assert same(built, pattern_arrays._no_automata(count))
