"""Searching the trie filter for the queries that a document may satisfy: Figures 6 to 8 of the paper.

From a root on, the children of a branch node whose terms occur in the document are visited, and theirs in
turn. Which children these are can be found from the filter, by asking of each child whether its term occurs,
or from the document, by looking each of its terms up among the children; whichever are fewer are taken.

Nodes to be visited wait in a list, in which all that were visited stay: nothing recurses, however many words
a query has, and what is farther down the list can be asked for in advance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Ints, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.text.kernels.neighbours import may_be_neighbours, no_neighbours
from tocsin.text.kernels.trie import (
    FIRST_CHILD,
    FIRST_PREDICATE,
    HUNG,
    PAIR,
    QUERY,
    ROW,
    TERM,
    TO_TABLE,
    Trie,
    children_of,
    find_in_table,
    predicates_of,
)

_AHEAD = 8
"""How many nodes ahead what they lead to is asked for; twice as many for the nodes themselves."""


_ONE = np.uint64(1)
_WORD = np.uint64(6)
_IN_WORD = np.uint64(63)


class SearchRoom(NamedTuple):
    """What a search writes to; one for each thread. `occurs` is zero between documents, the rest anything.

    neighbours   uint64[...]    the bits of neighbours.py, to be set before a document is searched for
    occurs       uint64[T/64]   a bit for each term that occurs in the document
    visited      int32[N]       the branch nodes that were visited, and those that are to be
    hit          int32[Q]       the queries whose paths were found: 2 * query + whether it is to be checked
    hit_at       int32[Q]       the place of a query in `hit`, if it stands there
    """

    neighbours: Words
    occurs: Words
    visited: Ints
    hit: Ints
    hit_at: Ints


def search_room(trie: Trie) -> SearchRoom:
    """Room for searching the filter as it is, in any document."""
    queries = len(trie.is_indexed)
    return SearchRoom(
        no_neighbours(),
        np.zeros((len(trie.root_child) >> 6) + 1, np.uint64),
        np.zeros(len(trie.branch) // ROW, np.int32),
        np.zeros(queries, np.int32),
        np.zeros(queries, np.int32),
    )


@bare_kernel
def search_trie(
    trie: Trie, group: int, present: Ints, terms: int, room: SearchRoom
) -> tuple[np.int64, np.int64]:
    """Find the queries of a text group to which a path leads; how many nodes were visited, queries hit.

    The different terms that occur in the document are present[:terms].
    """
    branch, predicate, root_child, _, table = trie
    neighbours, occurs, visited, hit, hit_at = room
    for i in range(terms):
        term = np.uint64(present[i])
        occurs[term >> _WORD] |= _ONE << (term & _IN_WORD)
    count = np.int64(0)
    first, last = children_of(branch, group)
    if last - first > terms:
        for i in range(terms):
            child = root_child[present[i]]
            visited[count] = child
            count += child != 0
    else:
        count = _visit_present(branch, first, last, occurs, visited, count)
    hits = np.int64(0)
    at = np.int64(0)
    while at < count:
        prefetch(branch, ROW * np.int64(visited[at + 2 * _AHEAD if at + 2 * _AHEAD < count else at]))
        ahead = ROW * np.int64(visited[at + _AHEAD if at + _AHEAD < count else at])
        prefetch(branch, ROW * np.int64(branch[ahead + FIRST_CHILD]))
        prefetch(predicate, HUNG * np.int64(branch[ahead + FIRST_PREDICATE]))
        node = np.int64(visited[at])
        first, last = predicates_of(branch, node)
        hits = _hit_predicates(predicate, first, last, neighbours, hit, hit_at, hits)
        first, last = children_of(branch, node)
        if last - first > max(terms, TO_TABLE):
            for i in range(terms):
                child = find_in_table(table, branch, node, np.int64(present[i]))
                visited[count] = child
                count += child != 0
        else:
            count = _visit_present(branch, first, last, occurs, visited, count)
        at += 1
    for i in range(terms):
        occurs[np.uint64(present[i]) >> _WORD] = 0
    return count, hits


@inner_kernel
def _visit_present(branch: Ints, first: int, last: int, occurs: Words, visited: Ints, count: int) -> int:
    """Write down the nodes from `first` to before `last` that appear in the document; the new count."""
    for child in range(first, last):
        visited[count] = child
        term = np.uint64(branch[ROW * child + TERM])
        count += np.int64((occurs[term >> _WORD] >> (term & _IN_WORD)) & _ONE)
    return count


@inner_kernel
def _hit_predicates(
    predicate: Ints, first: int, last: int, neighbours: Words, hit: Ints, hit_at: Ints, hits: int
) -> int:
    """Write down the queries of predicate nodes that lie side by side, each once; how many are written then.

    A query that is hit again, by another operand of its OR or ACCRUE, need not be checked if that hit
    leaves nothing to check.
    """
    for hung in range(first, last):
        marked_query = predicate[HUNG * hung + QUERY]
        if may_be_neighbours(neighbours, predicate[HUNG * hung + PAIR]):
            query = marked_query >> 1
            place = np.int64(hit_at[query])
            if place < hits and hit[place] >> 1 == query:
                hit[place] &= marked_query
            else:
                hit[hits] = marked_query
                hit_at[query] = hits
                hits += 1
    return hits
