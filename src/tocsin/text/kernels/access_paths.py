"""What of a query is put into the trie filter: paths of terms, one of which every match goes through.

    word or phrase     its terms
    OR, ACCRUE         the paths of every operand that is not negated
    AND                one path of the terms of all its words and phrases, or instead the paths of one of its
                       groups: whichever is estimated to be found least often (query_tree.py)

Every match of an AND goes through each of its operands, so one is enough, and nothing is multiplied out. The
rest of the query is a formula that is checked where a path was found. A path is *certain* when it leaves
nothing to check but the score.

Selective indexing: some paths no match needs to be found by when there is a threshold t > 0.

- A leaf whose words all weigh 0 adds nothing to an OR or ACCRUE: a match has another leaf.
- k leaves of non-zero weight score at most sqrt(k) in a flat ACCRUE, so a match has at least m = ceil(t * t)
  of them, and of any m leaves one is among all but m - 1. Those of least idf are left out.

The paper leaves more out, and loses matches: under OR the words whose idf is below t, though a lone word of
whatever idf scores 1; under ACCRUE a sub-vector that bounds a cosine, which its score is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs
from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.neighbours import pair_of
from tocsin.text.kernels.query_code import ACCRUE, AND, QueryCode, operation_of
from tocsin.text.kernels.query_tree import (
    BY_WORDS,
    QueryTree,
    choose_ways,
    is_group,
    is_plain,
    leaf_of,
    room_for_tree,
)
from tocsin.text.kernels.term_order import TermOrder, sort_falling

_ROUNDING = 1.0 - 1e-9
"""Scores are rounded: one that is no larger than sqrt(k) may come out a little larger."""


class AccessPaths(NamedTuple):
    """The paths of n queries, in the order in which they were asked for.

    path_start   int64[n+1]   paths of query i: path_start[i] ... path_start[i+1]
    term_start   int64[P+1]   terms of path p: term[term_start[p] : term_start[p+1]]
    term         int32[...]   each once in a path, in the order of TermOrder
    to_check     uint8[P]     0 when the Boolean reading holds for certain once the path is found
    pair         int32[P]     of neighbours.py: two words that have to be neighbours besides, or 0
    """

    path_start: Longs
    term_start: Longs
    term: Ints
    to_check: Bytes
    pair: Ints


def access_paths(code: QueryCode, order: TermOrder, query: Ints, selective: bool) -> AccessPaths:
    """The paths of some queries."""
    first_leaf, last_leaf = code.leaf_start[query], code.leaf_start[query + 1]
    leaves = int((last_leaf - first_leaf).sum())
    terms = int((code.term_start[last_leaf] - code.term_start[first_leaf]).sum())
    steps = code.step_start[query + 1] - code.step_start[query]
    paths = AccessPaths(
        np.zeros(len(query) + 1, np.int64),
        np.zeros(leaves + 1, np.int64),
        np.empty(terms, np.int32),
        np.zeros(leaves, np.uint8),
        np.zeros(leaves, np.int32),
    )
    _write_all(code, order, query, selective, room_for_tree(int(steps.max(initial=0))), paths)
    count = paths.path_start[-1]
    return AccessPaths(
        paths.path_start,
        paths.term_start[: count + 1],
        paths.term[: paths.term_start[count]],
        paths.to_check[:count],
        paths.pair[:count],
    )


@bare_kernel
def _write_all(
    code: QueryCode, order: TermOrder, query: Ints, selective: bool, tree: QueryTree, paths: AccessPaths
) -> None:
    for i in range(query.size):
        choose_ways(code, order.rarity, query[i], tree)
        if selective and code.threshold[query[i]] > 0:
            _leave_out(code, order.rarity, query[i], tree)
        paths.path_start[i + 1] = _write_paths(code, order, query[i], tree, paths, paths.path_start[i])


@bare_kernel
def _write_paths(
    code: QueryCode, order: TermOrder, query: int, tree: QueryTree, paths: AccessPaths, path: int
) -> int:
    """Write the paths of a query from `path` on, its outermost group first; where the next one begins."""
    begin = code.step_start[query]
    last = code.step_start[query + 1] - begin - 1
    tree.wanted[last] = not tree.left_out[last]
    tree.certain[last] = 1
    for at in range(last, -1, -1):
        if not tree.wanted[at]:
            continue
        step = code.step[begin + at]
        is_and = step < 0 and operation_of(step) == AND
        if step >= 0 or (is_and and tree.choice[at] == BY_WORDS):
            paths.to_check[path] = not tree.certain[at]
            paths.term_start[path + 1] = paths.term_start[path]
            if step >= 0:
                _add_leaf(code, order.rarity, leaf_of(code, query, at), paths, path)
            else:
                _add_words(code, order.rarity, query, tree, at, paths, path)
            _put_in_order(order, paths.term, paths.term_start, path)
            path += 1
        else:
            _want_operands(code, query, tree, at, is_and)
    return path


@bare_kernel
def _want_operands(code: QueryCode, query: int, tree: QueryTree, at: int, is_and: bool) -> None:
    """A group is to be found: an AND by the group that it chose, any other by all that is not negated."""
    operand = np.int64(tree.first_operand[at])
    while operand >= 0:
        if is_and:
            tree.wanted[operand] = operand == tree.choice[at]
        else:
            may_lead = is_group(code, query, operand) or is_plain(code, query, operand)
            tree.wanted[operand] = may_lead and not tree.left_out[operand]
        tree.certain[operand] = tree.certain[at] and not is_and and not tree.has_negated[at]
        operand = np.int64(tree.next_operand[operand])


@bare_kernel
def _add_words(
    code: QueryCode, rarity: Doubles, query: int, tree: QueryTree, at: int, paths: AccessPaths, path: int
) -> None:
    """Add the terms of all plain leaves of an AND to a path; whatever else it has is left to check."""
    operand = np.int64(tree.first_operand[at])
    while operand >= 0:
        if is_plain(code, query, operand):
            _add_leaf(code, rarity, leaf_of(code, query, operand), paths, path)
        else:
            paths.to_check[path] = 1
        operand = np.int64(tree.next_operand[operand])


@bare_kernel
def _add_leaf(code: QueryCode, rarity: Doubles, leaf: int, paths: AccessPaths, path: int) -> None:
    """Add the terms of a leaf to a path; a phrase is left to check, of which two neighbours are told."""
    first, last = code.term_start[leaf], code.term_start[leaf + 1]
    end = paths.term_start[path + 1]
    for j in range(first, last):
        paths.term[end] = code.term[j]
        end += 1
    paths.term_start[path + 1] = end
    if last - first > 1:
        paths.to_check[path] = 1
        for j in range(first, last - 1):
            are_words = rarity[code.term[j]] >= 0 and rarity[code.term[j + 1]] >= 0
            if paths.pair[path] == 0 and code.gap[leaf] == 0 and are_words:
                paths.pair[path] = pair_of(code.term[j], code.term[j + 1])


@bare_kernel
def _put_in_order(order: TermOrder, term: Ints, term_start: Longs, path: int) -> None:
    """Put the terms of a path, which is the last one, in order, each once."""
    first, end = term_start[path], term_start[path + 1]
    sort_falling(term, first, end, order.rarity, order.named)
    kept = first + 1
    for j in range(first + 1, end):
        if term[j] != term[kept - 1]:
            term[kept] = term[j]
            kept += 1
    term_start[path + 1] = kept


@bare_kernel
def _leave_out(code: QueryCode, rarity: Doubles, query: int, tree: QueryTree) -> None:
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
def _weight_of_rarest(code: QueryCode, rarity: Doubles, query: int, at: int) -> float:
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
