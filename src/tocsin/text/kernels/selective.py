"""Selective indexing: what of a query with a threshold t > 0 no match needs to be found by.

- A leaf whose words all weigh 0 adds nothing to an OR or ACCRUE: a match has another leaf.
- k leaves of non-zero weight score at most sqrt(k) in a flat ACCRUE, so a match has at least m = ceil(t * t)
  of them, and of any m leaves one is among all but m - 1. Those of least idf are left out.

The paper leaves more out, and loses matches: under OR the words whose idf is below t, though a lone word of
whatever idf scores 1; under ACCRUE a sub-vector that bounds a cosine, which its score is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.query_code import ACCRUE, AND, QueryCode, operation_of
from tocsin.text.kernels.query_tree import QueryTree, is_group, is_plain, leaf_of
from tocsin.text.kernels.weight_sort import sort_falling

_ROUNDING = 1.0 - 1e-9
"""Scores are rounded: one that is no larger than sqrt(k) may come out a little larger."""


@bare_kernel
def leave_out(code: QueryCode, rarity: NDArray[np.float64], query: int, tree: QueryTree) -> None:
    """Mark the leaves that need no path, as the threshold is above 0: see the head of this file.

    Estimates are no longer needed: `often` serves for the weights of leaves, `waiting` for those that have
    one, and `choice`, which leaves have not, for saying that ties are not broken.
    """
    last = code.step_start[query + 1] - code.step_start[query] - 1
    step = code.step[code.step_start[query] + last]
    if step >= 0:
        tree.left_out[last] = _weight_of_rarest(code, rarity, query, last) == 0
        return
    if operation_of(step) == AND:
        return
    is_flat = True
    counted = 0
    operand = np.int64(tree.first_operand[last])
    while operand >= 0:
        if is_group(code, query, operand):
            is_flat = False
        elif is_plain(code, query, operand):
            tree.often[operand] = _weight_of_rarest(code, rarity, query, operand)
            tree.left_out[operand] = tree.often[operand] == 0
            tree.choice[operand] = 0
            if not tree.left_out[operand]:
                tree.waiting[counted] = operand
                counted += 1
        operand = np.int64(tree.next_operand[operand])
    if operation_of(step) == ACCRUE and is_flat:
        kept = counted + 1 - _needed_leaves(code.threshold[query], counted)
        sort_falling(tree.waiting, 0, counted, tree.often, tree.choice)
        for i in range(kept, counted):
            tree.left_out[tree.waiting[i]] = 1


@bare_kernel
def _weight_of_rarest(code: QueryCode, rarity: NDArray[np.float64], query: int, at: int) -> float:
    """The idf of a leaf's rarest word; any prefix may cover a word that is rarer."""
    leaf = leaf_of(code, query, at)
    rarest = 0.0
    for j in range(code.term_start[leaf], code.term_start[leaf + 1]):
        idf = rarity[code.term[j]]
        rarest = max(rarest, idf if idf >= 0 else np.inf)
    return rarest


@bare_kernel
def _needed_leaves(threshold: float, leaves: int) -> int:
    """How many leaves of non-zero weight a flat ACCRUE needs for its threshold; leaves + 1: too many."""
    least = threshold * threshold * _ROUNDING
    return np.int64(np.ceil(least)) if least <= leaves else leaves + 1
