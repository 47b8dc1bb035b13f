"""What of a query is put into the trie filter: paths of terms, one of which every match goes through.

    word or phrase     its terms
    OR, ACCRUE         the paths of every operand that is not negated
    AND                one path of the terms of all its words and phrases, or instead the paths of one of its
                       groups: whichever is estimated to be found least often

Every match of an AND goes through each of its operands, so one is enough, and nothing is multiplied out. The
rest of the query is a formula that is checked where a path was found. A path is *certain* when it leaves
nothing to check.

Selective indexing leaves paths out that no match needs when the query has a threshold t > 0:

- A leaf whose words all weigh 0 adds nothing to an OR or ACCRUE: a match has another leaf.
- k leaves of non-zero weight score at most sqrt(k) in a flat ACCRUE, so a match has at least m = ceil(t * t)
  of them, and of any m leaves one is among all but m - 1. Those of least idf are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import bare_kernel, kernel
from tocsin.kernels.text.falling import sort_falling
from tocsin.kernels.text.neighbours import pair_of
from tocsin.kernels.text.query_code import ACCRUE, AND, PLAIN, QueryCode, Terms, arity_of, operation_of

PREFIX_RARITY = 0.7
"""What a prefix counts as in estimates, as if it were a word of this idf: in every second document."""

_BY_WORDS = -1
_ROUNDING = 1.0 - 1e-9


class AccessPaths(NamedTuple):
    """The paths of n queries, in the order in which they were asked for.

    path_start   int64[n+1]   paths of query i: path_start[i] ... path_start[i+1]
    term_start   int64[P+1]   terms of path p: term[term_start[p] : term_start[p+1]]
    term         int32[...]   each once in a path, in the order of TermOrder
    to_check     uint8[P]     0 when the query holds for certain once the path is found
    pair         int32[P]     of neighbours.py: two words that have to be neighbours besides, or 0
    """

    path_start: NDArray[np.int64]
    term_start: NDArray[np.int64]
    term: NDArray[np.int32]
    to_check: NDArray[np.uint8]
    pair: NDArray[np.int32]


class TermOrder(NamedTuple):
    """What decides which of two terms stands above the other on a path: first the rarer one.

    Of two that are alike, as all are where no documents were counted, the one that fewer queries name comes
    first: few paths then begin with a word that is in every other document.

    rarity   float64[T]   the idf of words; -1 for prefixes, which come last
    named    int32[T]     how often queries name the term
    """

    rarity: NDArray[np.float64]
    named: NDArray[np.int32]


class _Tree(NamedTuple):
    """The syntax tree of one query, and what is decided about its steps. S steps.

    first_operand   int32[S]     of a group
    next_operand    int32[S]     of the same group, or -1
    often           float64[S]   estimated share of the documents in which a way to this step is found
    choice          int32[S]     of an AND: the group that it is found by, or _BY_WORDS
    has_negated     uint8[S]     of a group: whether an operand is negated
    wanted          uint8[S]     whether the step is to be found
    certain         uint8[S]     whether the query holds when the step does
    left_out        uint8[S]     whether an operand of the outermost group needs no path
    waiting         int32[S]     the operands that no group has taken yet
    """

    first_operand: NDArray[np.int32]
    next_operand: NDArray[np.int32]
    often: NDArray[np.float64]
    choice: NDArray[np.int32]
    has_negated: NDArray[np.uint8]
    wanted: NDArray[np.uint8]
    certain: NDArray[np.uint8]
    left_out: NDArray[np.uint8]
    waiting: NDArray[np.int32]


@kernel
def order_of_terms(code: QueryCode, terms: Terms) -> TermOrder:
    """The order of terms that these queries have, and that weigh so."""
    rarity = terms.idf.copy()
    for term in range(rarity.size):
        if terms.is_prefix[term]:
            rarity[term] = -1.0
    named = np.zeros(rarity.size, np.int32)
    for j in range(code.term.size):
        named[code.term[j]] += 1
    return TermOrder(rarity, named)


@kernel
def access_paths(code: QueryCode, order: TermOrder, query: NDArray[np.int32], selective: bool) -> AccessPaths:
    """The paths of some queries."""
    rarity = order.rarity
    leaves = 0
    terms = 0
    longest = 0
    for i in range(query.size):
        q = query[i]
        leaves += code.leaf_start[q + 1] - code.leaf_start[q]
        terms += code.term_start[code.leaf_start[q + 1]] - code.term_start[code.leaf_start[q]]
        longest = max(longest, code.step_start[q + 1] - code.step_start[q])
    tree = _room_for_tree(longest)
    path_start = np.zeros(query.size + 1, np.int64)
    term_start = np.zeros(leaves + 1, np.int64)
    term = np.empty(terms, np.int32)
    to_check = np.empty(leaves, np.uint8)
    pair = np.empty(leaves, np.int32)
    path = np.int64(0)
    for i in range(query.size):
        _estimate(code, rarity, query[i], tree)
        if selective and code.threshold[query[i]] > 0:
            _leave_out(code, rarity, query[i], tree)
        path = _write_paths(code, order, query[i], tree, path, term_start, term, to_check, pair)
        path_start[i + 1] = path
    return AccessPaths(
        path_start, term_start[: path + 1], term[: term_start[path]], to_check[:path], pair[:path]
    )


@kernel
def _room_for_tree(steps: int) -> _Tree:
    return _Tree(
        np.empty(steps, np.int32),
        np.empty(steps, np.int32),
        np.empty(steps, np.float64),
        np.empty(steps, np.int32),
        np.empty(steps, np.uint8),
        np.empty(steps, np.uint8),
        np.empty(steps, np.uint8),
        np.empty(steps, np.uint8),
        np.empty(steps, np.int32),
    )


@bare_kernel
def _estimate(code: QueryCode, rarity: NDArray[np.float64], query: int, tree: _Tree) -> None:
    """Link the steps of a query to a tree, and choose for each AND the way that is found least often."""
    begin = code.step_start[query]
    waiting = 0
    for at in range(code.step_start[query + 1] - begin):
        step = code.step[begin + at]
        tree.left_out[at] = 0
        tree.wanted[at] = 0
        tree.next_operand[at] = -1
        if step >= 0:
            tree.often[at] = _often(code, rarity, code.leaf_start[query] + step)
        else:
            waiting -= arity_of(step)
            _estimate_group(code, query, tree, at, waiting)
        tree.waiting[waiting] = at
        waiting += 1


@bare_kernel
def _often(code: QueryCode, rarity: NDArray[np.float64], leaf: int) -> float:
    """How often all terms of a leaf are found, as if they had nothing to do with each other."""
    total = 0.0
    for j in range(code.term_start[leaf], code.term_start[leaf + 1]):
        idf = rarity[code.term[j]]
        total += idf if idf >= 0 else PREFIX_RARITY
    return np.exp(-total)


@bare_kernel
def _estimate_group(code: QueryCode, query: int, tree: _Tree, at: int, bottom: int) -> None:
    """Link the operands of a group, which wait from `bottom` on, and estimate how often it is found."""
    begin = code.step_start[query]
    step = code.step[begin + at]
    arity = arity_of(step)
    has_words = False
    by_words = 1.0
    by_any = 0.0
    by_group = 2.0
    tree.choice[at] = _BY_WORDS
    tree.has_negated[at] = 0
    tree.first_operand[at] = tree.waiting[bottom]
    for i in range(arity):
        operand = tree.waiting[bottom + i]
        if i + 1 < arity:
            tree.next_operand[operand] = tree.waiting[bottom + i + 1]
        often = tree.often[operand]
        if _is_group(code, begin + operand):
            by_any += often
            if often < by_group:
                by_group = often
                tree.choice[at] = operand
        elif _is_plain(code, query, operand):
            by_any += often
            by_words *= often
            has_words = True
        else:
            tree.has_negated[at] = 1
    if operation_of(step) != AND:
        tree.often[at] = min(by_any, 1.0)
    else:
        if has_words and by_words <= by_group:
            tree.choice[at] = _BY_WORDS
        tree.often[at] = min(by_words, by_group) if has_words else by_group


@bare_kernel
def _is_group(code: QueryCode, step: int) -> bool:
    return code.step[step] < 0


@bare_kernel
def _is_plain(code: QueryCode, query: int, at: int) -> bool:
    """Whether a leaf is not negated."""
    return code.negated[code.leaf_start[query] + code.step[code.step_start[query] + at]] == PLAIN


@bare_kernel
def _leave_out(code: QueryCode, rarity: NDArray[np.float64], query: int, tree: _Tree) -> None:
    """Mark the leaves that need no path, as the threshold is above 0: see the head of this file.

    Estimates are no longer needed: `often` serves for the weights of leaves, `waiting` for those that have
    one, and `choice`, which leaves have not, for saying that ties are not broken.
    """
    begin = code.step_start[query]
    last = code.step_start[query + 1] - begin - 1
    step = code.step[begin + last]
    if step >= 0:
        tree.left_out[last] = _weight_of_rarest(code, rarity, query, last) == 0
        return
    if operation_of(step) == AND:
        return
    is_flat = True
    counted = 0
    operand = np.int64(tree.first_operand[last])
    while operand >= 0:
        if _is_group(code, begin + operand):
            is_flat = False
        elif _is_plain(code, query, operand):
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
    leaf = code.leaf_start[query] + code.step[code.step_start[query] + at]
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


@bare_kernel
def _write_paths(
    code: QueryCode,
    order: TermOrder,
    query: int,
    tree: _Tree,
    path: int,
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    to_check: NDArray[np.uint8],
    pair: NDArray[np.int32],
) -> int:
    """Write the paths of a query behind the first so many, from its outermost group inwards."""
    begin = code.step_start[query]
    last = code.step_start[query + 1] - begin - 1
    tree.wanted[last] = not tree.left_out[last]
    tree.certain[last] = not (code.threshold[query] > 0)
    for at in range(last, -1, -1):
        if not tree.wanted[at]:
            continue
        step = code.step[begin + at]
        is_and = step < 0 and operation_of(step) == AND
        if step >= 0 or (is_and and tree.choice[at] == _BY_WORDS):
            to_check[path] = not tree.certain[at]
            pair[path] = 0
            term_start[path + 1] = term_start[path]
            if step >= 0:
                _add_leaf(code, order.rarity, query, at, path, term_start, term, to_check, pair)
            else:
                _add_words(code, order.rarity, query, tree, at, path, term_start, term, to_check, pair)
            _put_in_order(order, term, term_start, path)
            path += 1
        else:
            _want_operands(code, query, tree, at, is_and)
    return path


@bare_kernel
def _want_operands(code: QueryCode, query: int, tree: _Tree, at: int, is_and: bool) -> None:
    """A group is to be found: an AND by the group that it chose, any other by all that is not negated."""
    begin = code.step_start[query]
    operand = np.int64(tree.first_operand[at])
    while operand >= 0:
        if is_and:
            tree.wanted[operand] = operand == tree.choice[at]
        else:
            is_negated = not _is_group(code, begin + operand) and not _is_plain(code, query, operand)
            tree.wanted[operand] = not is_negated and not tree.left_out[operand]
        tree.certain[operand] = tree.certain[at] and not is_and and not tree.has_negated[at]
        operand = np.int64(tree.next_operand[operand])


@bare_kernel
def _add_words(
    code: QueryCode,
    rarity: NDArray[np.float64],
    query: int,
    tree: _Tree,
    at: int,
    path: int,
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    to_check: NDArray[np.uint8],
    pair: NDArray[np.int32],
) -> None:
    """Add the terms of all plain leaves of an AND to a path; whatever else it has is left to check."""
    operand = np.int64(tree.first_operand[at])
    while operand >= 0:
        if not _is_group(code, code.step_start[query] + operand) and _is_plain(code, query, operand):
            _add_leaf(code, rarity, query, operand, path, term_start, term, to_check, pair)
        else:
            to_check[path] = 1
        operand = np.int64(tree.next_operand[operand])


@bare_kernel
def _add_leaf(
    code: QueryCode,
    rarity: NDArray[np.float64],
    query: int,
    at: int,
    path: int,
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    to_check: NDArray[np.uint8],
    pair: NDArray[np.int32],
) -> None:
    """Add the terms of a leaf to a path; a phrase is left to check, two neighbours of it at once."""
    leaf = code.leaf_start[query] + code.step[code.step_start[query] + at]
    first, last = code.term_start[leaf], code.term_start[leaf + 1]
    end = term_start[path + 1]
    for j in range(first, last):
        term[end] = code.term[j]
        end += 1
    term_start[path + 1] = end
    if last - first > 1:
        to_check[path] = 1
        for j in range(first, last - 1):
            if pair[path] == 0 and code.gap[leaf] == 0:
                if rarity[code.term[j]] >= 0 and rarity[code.term[j + 1]] >= 0:
                    pair[path] = pair_of(code.term[j], code.term[j + 1])


@bare_kernel
def _put_in_order(
    order: TermOrder, term: NDArray[np.int32], term_start: NDArray[np.int64], path: int
) -> None:
    """Put the terms of a path, which is the last one, in order, each once."""
    first, end = term_start[path], term_start[path + 1]
    sort_falling(term, first, end, order.rarity, order.named)
    kept = first + 1
    for j in range(first + 1, end):
        if term[j] != term[kept - 1]:
            term[kept] = term[j]
            kept += 1
    term_start[path + 1] = kept
