"""The trie filter of some queries.

A query comes as paths (access_paths.py): an AND as one path of all its words, an OR or ACCRUE as one path
for each operand. Paths that begin alike share the nodes of their beginning. So the paths are put in the order
of words in a dictionary; those through a branch node then stand side by side, and of them, in order of their
next terms, those through each of its children:

    paths in order     a b 1     a d 2     a d e 3     b f 4        a path ends with its query
    level by level     a [0, 3)  b [3, 4)
                       b [0, 1)  d [1, 3)  f [3, 4)
                       e [2, 3)
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.arrays.list_sort import dictionary_order
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.radix_sort import order_by
from tocsin.text.kernels.access_paths import AccessPaths
from tocsin.text.kernels.trie import (
    FIRST_CHILD,
    FIRST_PREDICATE,
    HUNG,
    NO_TERM,
    PAIR,
    PARENT,
    QUERY,
    ROW,
    TERM,
    TO_TABLE,
    Trie,
    children_of,
    enter_in_table,
)


def build_trie(query: Ints, paths: AccessPaths, query_group: Ints, groups: int, terms: int) -> Trie:
    """The filter of query[i] under paths i, of all queries, whose text groups are given, and of all terms."""
    path_query = np.repeat(query, np.diff(paths.path_start))
    group = query_group[path_query]
    first_term = paths.term[paths.term_start[:-1]]
    by_first = order_by(group.astype(np.uint64) << np.uint64(32) | first_term.astype(np.uint64))
    lists = _in_order(paths, path_query + np.int32(terms), by_first)
    path_start = starts(np.bincount(group, minlength=groups), np.int64)
    nodes = groups + len(paths.term) + 1
    trie = Trie(
        np.zeros(ROW * nodes, np.int32),
        np.zeros(HUNG * len(path_query), np.int32),
        np.zeros(terms, np.int32),
        np.zeros(len(query_group), np.bool_),
        np.empty(0, np.int32),
    )
    trie.is_indexed[query] = True
    order, span = dictionary_order(lists), np.empty((2, nodes), np.int64)
    span[:, :groups] = path_start[:-1], path_start[1:]
    to_check, pair = paths.to_check[by_first[order]], paths.pair[by_first[order]]
    made, hung = _plant(trie, groups, lists, order, to_check, pair, span[0], span[1])
    branch, predicate = trie.branch[: ROW * (made + 1)].copy(), trie.predicate[: HUNG * hung].copy()
    children = np.diff(branch[FIRST_CHILD::ROW])
    parents = groups + np.flatnonzero(children[groups:] > TO_TABLE)
    table = np.zeros(1 << max(2 * int(children[parents].sum()) - 1, 0).bit_length(), np.int32)
    _enter_children(table, branch, parents)
    return trie._replace(branch=branch, predicate=predicate, table=table)


@kernel
def _in_order(paths: AccessPaths, last: Ints, order: Ints) -> Lists:
    """The paths as lists in this order, each with its last number."""
    start = np.zeros(order.size + 1, np.int64)
    item = np.empty(paths.term.size + order.size, np.int32)
    end = np.int64(0)
    for i in range(order.size):
        for j in range(paths.term_start[order[i]], paths.term_start[order[i] + 1]):
            item[end] = paths.term[j]
            end += 1
        item[end] = last[order[i]]
        end += 1
        start[i + 1] = end
    return Lists(start, item)


@bare_kernel
def _plant(
    trie: Trie, groups: int, lists: Lists, order: Ints, to_check: Bytes, pair: Ints, begin: Longs, end: Longs
) -> tuple[np.int64, np.int64]:
    """Make nodes of paths order[0], order[1], ...; how many branch and predicate nodes there are.

    The paths through node n are order[begin[n] : end[n]], which is known of the roots.
    """
    branch, predicate = trie.branch, trie.predicate
    terms = trie.root_child.size
    made, hung, depth = np.int64(groups), np.int64(0), np.int64(0)
    level_end = made
    node = np.int64(0)
    while node < made:
        if node == level_end:
            depth += 1
            level_end = made
        if node < groups:
            branch[ROW * node + TERM] = NO_TERM
        branch[ROW * node + FIRST_CHILD] = made
        branch[ROW * node + FIRST_PREDICATE] = hung
        known = np.int64(-1)
        for i in range(begin[node], end[node]):
            number = np.int64(lists.item[lists.start[order[i]] + depth])
            if number >= terms:
                _hang(predicate, number - terms, number == known, to_check[i], pair[i], hung)
                hung += number != known
            elif number != known:
                branch[ROW * made + TERM] = number
                branch[ROW * made + PARENT] = node
                begin[made] = i
                if node < groups:
                    trie.root_child[number] = made
                made += 1
            if number < terms:
                end[made - 1] = i + 1
            known = number
        node += 1
    branch[ROW * made + FIRST_CHILD] = made
    branch[ROW * made + FIRST_PREDICATE] = hung
    return made, hung


@bare_kernel
def _hang(predicate: Ints, query: int, again: bool, to_check: int, pair: int, hung: int) -> None:
    """Make predicate node `hung`; or, when a path of the query led to the same place before, change that one.

    As in `a | a`. What need not be checked on one of the paths need not be checked at all.
    """
    if not again:
        predicate[HUNG * hung + QUERY] = 2 * query + to_check
        predicate[HUNG * hung + PAIR] = pair
        return
    predicate[HUNG * (hung - 1) + QUERY] &= np.int32(-2) | np.int32(to_check)
    if predicate[HUNG * (hung - 1) + PAIR] != pair:
        predicate[HUNG * (hung - 1) + PAIR] = 0


@bare_kernel
def _enter_children(table: Ints, branch: Ints, parents: Longs) -> None:
    for i in range(parents.size):
        first, last = children_of(branch, parents[i])
        for child in range(first, last):
            enter_in_table(table, branch, child)
