"""The order of terms along the paths of the trie filter, and how far a filter is from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints
from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.trie import PARENT, ROW, TERM, Trie


class TermOrder(NamedTuple):
    """What decides which of two terms stands above the other on a path: first the rarer one.

    Of two that are alike, as all are where no documents were counted, the one that fewer queries name comes
    first: few paths then begin with a word that is in every other document.

    rarity   float64[T]   the idf of words; -1 for prefixes, which come last
    named    int32[T]     how often queries name the term
    """

    rarity: Doubles
    named: Ints


def order_of_terms(code: QueryCode, terms: Terms) -> TermOrder:
    """The order of terms that these queries have, and that weigh so."""
    rarity = np.where(terms.is_prefix.astype(np.bool_), -1.0, terms.idf)
    return TermOrder(rarity, np.bincount(code.term, minlength=len(rarity)).astype(np.int32))


@bare_kernel
def drift(trie: Trie, rarity: Doubles) -> float:
    """The share of branch nodes with a parent's term that is more common than their own."""
    counted = 0
    out_of_order = 0
    for node in range(trie.branch.size // ROW - 1):
        term = trie.branch[ROW * node + TERM]
        if term >= 0:
            above = trie.branch[ROW * trie.branch[ROW * node + PARENT] + TERM]
            if above >= 0:
                counted += 1
                out_of_order += rarity[above] < rarity[term]
    return out_of_order / counted if counted > 0 else 0.0


@bare_kernel
def sort_falling(number: Ints, first: int, end: int, weight: Doubles, tie: Ints) -> None:
    """Sort number[first:end] by falling weight, those of one weight by rising tie, then by themselves.

    A heap with the number that comes last on top: quick also for a query of many thousand words.
    """
    count = end - first
    for at in range(count // 2 - 1, -1, -1):
        _sift_down(number, first, at, count, weight, tie)
    for size in range(count - 1, 0, -1):
        number[first], number[first + size] = number[first + size], number[first]
        _sift_down(number, first, 0, size, weight, tie)


@bare_kernel
def _sift_down(number: Ints, first: int, at: int, size: int, weight: Doubles, tie: Ints) -> None:
    """Bring the number at a place of the heap to where nothing below it comes later."""
    moved = number[first + at]
    while 2 * at + 1 < size:
        later = 2 * at + 1
        if later + 1 < size and _comes_before(number[first + later], number[first + later + 1], weight, tie):
            later += 1
        if not _comes_before(moved, number[first + later], weight, tie):
            break
        number[first + at] = number[first + later]
        at = later
    number[first + at] = moved


@bare_kernel
def _comes_before(a: int, b: int, weight: Doubles, tie: Ints) -> bool:
    if weight[a] != weight[b]:
        return weight[a] > weight[b]
    return tie[a] < tie[b] or (tie[a] == tie[b] and a < b)
