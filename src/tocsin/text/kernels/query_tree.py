"""The syntax tree of a text query, and the ways in which its groups are found.

An AND is found by all its words and phrases together, or by one of its groups: whichever is estimated to be
found least often, as if words had nothing to do with each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Doubles, Ints
from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.query_code import AND, PLAIN, QueryCode, arity_of, operation_of

PREFIX_RARITY = 0.7
"""What a prefix counts as in estimates, as if it were a word of this idf: in every second document."""

BY_WORDS = -1
"""The choice of an AND that is found by its words and phrases."""


class QueryTree(NamedTuple):
    """The syntax tree of one query, and what is decided about its steps. S steps.

    first_operand   int32[S]     of a group
    next_operand    int32[S]     of the same group, or -1
    often           float64[S]   estimated share of the documents in which a way to this step is found
    choice          int32[S]     of an AND: the group that it is found by, or BY_WORDS
    has_negated     uint8[S]     of a group: whether an operand is negated
    wanted          uint8[S]     whether the step is to be found
    certain         uint8[S]     whether the query holds when the step does
    left_out        uint8[S]     whether an operand of the outermost group needs no path
    waiting         int32[S]     the operands that no group has taken yet
    """

    first_operand: Ints
    next_operand: Ints
    often: Doubles
    choice: Ints
    has_negated: Bytes
    wanted: Bytes
    certain: Bytes
    left_out: Bytes
    waiting: Ints


def room_for_tree(steps: int) -> QueryTree:
    """Room for queries of up to so many steps."""
    return QueryTree(
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
def choose_ways(code: QueryCode, rarity: Doubles, query: int, tree: QueryTree) -> None:
    """Link the steps of a query to a tree, and choose for each AND the way that is found least often."""
    begin = code.step_start[query]
    waiting = 0
    for at in range(code.step_start[query + 1] - begin):
        step = code.step[begin + at]
        tree.left_out[at] = 0
        tree.wanted[at] = 0
        tree.next_operand[at] = -1
        if step >= 0:
            tree.often[at] = _often(code, rarity, leaf_of(code, query, at))
        else:
            waiting -= arity_of(step)
            _estimate_group(code, query, tree, at, waiting)
        tree.waiting[waiting] = at
        waiting += 1


@bare_kernel
def _often(code: QueryCode, rarity: Doubles, leaf: int) -> float:
    """How often all terms of a leaf are found, as if they had nothing to do with each other."""
    total = 0.0
    for j in range(code.term_start[leaf], code.term_start[leaf + 1]):
        idf = rarity[code.term[j]]
        total += idf if idf >= 0 else PREFIX_RARITY
    return np.exp(-total)


@bare_kernel
def _estimate_group(code: QueryCode, query: int, tree: QueryTree, at: int, bottom: int) -> None:
    """Link the operands of a group, which wait from `bottom` on, and estimate how often it is found."""
    step = code.step[code.step_start[query] + at]
    arity = arity_of(step)
    has_words = False
    by_words = 1.0
    by_any = 0.0
    by_group = 2.0
    tree.choice[at] = BY_WORDS
    tree.has_negated[at] = 0
    tree.first_operand[at] = tree.waiting[bottom]
    for i in range(arity):
        operand = tree.waiting[bottom + i]
        if i + 1 < arity:
            tree.next_operand[operand] = tree.waiting[bottom + i + 1]
        often = tree.often[operand]
        if is_group(code, query, operand):
            by_any += often
            if often < by_group:
                by_group = often
                tree.choice[at] = operand
        elif is_plain(code, query, operand):
            by_any += often
            by_words *= often
            has_words = True
        else:
            tree.has_negated[at] = 1
    if operation_of(step) != AND:
        tree.often[at] = min(by_any, 1.0)
    else:
        if has_words and by_words <= by_group:
            tree.choice[at] = BY_WORDS
        tree.often[at] = min(by_words, by_group) if has_words else by_group


@bare_kernel
def is_group(code: QueryCode, query: int, at: int) -> bool:
    """Whether a step of a query is a group, not a leaf."""
    return code.step[code.step_start[query] + at] < 0


@bare_kernel
def is_plain(code: QueryCode, query: int, at: int) -> bool:
    """Whether a step of a query is a leaf that is not negated."""
    return not is_group(code, query, at) and code.negated[leaf_of(code, query, at)] == PLAIN


@bare_kernel
def leaf_of(code: QueryCode, query: int, at: int) -> int:
    """The leaf, numbered over all queries, that a step of a query is."""
    return code.leaf_start[query] + code.step[code.step_start[query] + at]
