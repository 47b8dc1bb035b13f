"""The order of terms along the paths of the trie filter, and how far a filter is from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.trie import BRANCHES_MADE, PARENT, ROW, TERM, Trie


class TermOrder(NamedTuple):
    """What decides which of two terms stands above the other on a path: first the rarer one.

    Of two that are alike, as all are where no documents were counted, the one that fewer queries name comes
    first: few paths then begin with a word that is in every other document.

    rarity   float64[T]   the idf of words; -1 for prefixes, which come last
    named    int32[T]     how often queries name the term
    """

    rarity: NDArray[np.float64]
    named: NDArray[np.int32]


def order_of_terms(code: QueryCode, terms: Terms) -> TermOrder:
    """The order of terms that these queries have, and that weigh so."""
    rarity = np.where(terms.is_prefix.astype(np.bool_), -1.0, terms.idf)
    return TermOrder(rarity, np.bincount(code.term, minlength=len(rarity)).astype(np.int32))


@bare_kernel
def drift(trie: Trie, rarity: NDArray[np.float64]) -> float:
    """The share of branch nodes with a parent's term that is more common than their own."""
    counted = 0
    out_of_order = 0
    for node in range(trie.state[BRANCHES_MADE]):
        term = trie.branch[ROW * node + TERM]
        if term >= 0:
            above = trie.branch[ROW * trie.branch_upkeep[ROW * node + PARENT] + TERM]
            if above >= 0:
                counted += 1
                out_of_order += rarity[above] < rarity[term]
    return out_of_order / counted if counted > 0 else 0.0
