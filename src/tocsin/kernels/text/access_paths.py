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
from tocsin.kernels.text.query_code import ACCRUE, AND, PLAIN, QueryCode, Terms, arity_of, operation_of

PREFIX_RARITY = 0.7
"""What a prefix counts as in estimates, as if it were a word of this idf: in every second document."""

_BY_WORDS = -1
_ROUNDING = 1.0 - 1e-9


class AccessPaths(NamedTuple):
    """The paths of n queries, in the order in which they were asked for.

    path_start   int64[n+1]   paths of query i: path_start[i] ... path_start[i+1]
    term_start   int64[P+1]   terms of path p: term[term_start[p] : term_start[p+1]]
    term         int32[...]   each once in a path, words by falling idf, then prefixes
    to_check     uint8[P]     0 when the query holds for certain once the path is found
    """

    path_start: NDArray[np.int64]
    term_start: NDArray[np.int64]
    term: NDArray[np.int32]
    to_check: NDArray[np.uint8]


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
def rarity_of_terms(terms: Terms) -> NDArray[np.float64]:
    """The order of terms along a path: the idf of words, and for prefixes, which come last, -1."""
    rarity = terms.idf.copy()
    for term in range(rarity.size):
        if terms.is_prefix[term]:
            rarity[term] = -1.0
    return rarity


@kernel
def access_paths(
    code: QueryCode, rarity: NDArray[np.float64], query: NDArray[np.int32], selective: bool
) -> AccessPaths:
    """The paths of some queries."""
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
    path = np.int64(0)
    for i in range(query.size):
        _estimate(code, rarity, query[i], tree)
        if selective and code.threshold[query[i]] > 0:
            _leave_out(code, rarity, query[i], tree)
        path = _write_paths(code, rarity, query[i], tree, path, term_start, term, to_check)
        path_start[i + 1] = path
    return AccessPaths(path_start, term_start[: path + 1], term[: term_start[path]], to_check[:path])


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

    Estimates are no longer needed: `often` and `waiting` serve for weights and for the leaves that have one.
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
            if not tree.left_out[operand]:
                tree.waiting[counted] = operand
                counted += 1
        operand = np.int64(tree.next_operand[operand])
    if operation_of(step) == ACCRUE and is_flat:
        kept = counted + 1 - _needed_leaves(code.threshold[query], counted)
        sort_falling(tree.waiting, 0, counted, tree.often)
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
    rarity: NDArray[np.float64],
    query: int,
    tree: _Tree,
    path: int,
    term_start: NDArray[np.int64],
    term: NDArray[np.int32],
    to_check: NDArray[np.uint8],
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
        if step >= 0:
            end, is_word = _write_leaf(code, query, at, term, term_start[path])
            path = _end_path(rarity, term, term_start, path, end)
            to_check[path - 1] = not (tree.certain[at] and is_word)
            continue
        is_and = operation_of(step) == AND
        if is_and and tree.choice[at] == _BY_WORDS:
            end, is_certain = _write_words(code, query, tree, at, term, term_start[path])
            path = _end_path(rarity, term, term_start, path, end)
            to_check[path - 1] = not (tree.certain[at] and is_certain)
            continue
        operand = np.int64(tree.first_operand[at])
        while operand >= 0:
            if is_and:
                tree.wanted[operand] = operand == tree.choice[at]
            else:
                is_negated = not _is_group(code, begin + operand) and not _is_plain(code, query, operand)
                tree.wanted[operand] = not is_negated and not tree.left_out[operand]
            tree.certain[operand] = tree.certain[at] and not is_and and not tree.has_negated[at]
            operand = np.int64(tree.next_operand[operand])
    return path


@bare_kernel
def _write_leaf(
    code: QueryCode, query: int, at: int, term: NDArray[np.int32], end: int
) -> tuple[np.int64, bool]:
    """Write the terms of a leaf to term[end:]; their new end, and whether it is a word, not a phrase."""
    leaf = code.leaf_start[query] + code.step[code.step_start[query] + at]
    for j in range(code.term_start[leaf], code.term_start[leaf + 1]):
        term[end] = code.term[j]
        end += 1
    return end, code.term_start[leaf + 1] - code.term_start[leaf] == 1


@bare_kernel
def _write_words(
    code: QueryCode, query: int, tree: _Tree, at: int, term: NDArray[np.int32], end: int
) -> tuple[np.int64, bool]:
    """Write the terms of all plain leaves of an AND; their end, and whether there is nothing else in it."""
    is_certain = True
    operand = np.int64(tree.first_operand[at])
    while operand >= 0:
        if not _is_group(code, code.step_start[query] + operand) and _is_plain(code, query, operand):
            end, is_word = _write_leaf(code, query, operand, term, end)
            is_certain = is_certain and is_word
        else:
            is_certain = False
        operand = np.int64(tree.next_operand[operand])
    return end, is_certain


@bare_kernel
def _end_path(
    rarity: NDArray[np.float64],
    term: NDArray[np.int32],
    term_start: NDArray[np.int64],
    path: int,
    end: int,
) -> int:
    """Put the terms of a path in order, each once; how many paths there are now."""
    first = term_start[path]
    sort_falling(term, first, end, rarity)
    kept = first + 1
    for j in range(first + 1, end):
        if term[j] != term[kept - 1]:
            term[kept] = term[j]
            kept += 1
    term_start[path + 1] = kept
    return path + 1
