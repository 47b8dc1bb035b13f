"""Queries enter and leave the trie filter: cases 1, 2 and 3 of the paper.

A query comes as paths (access_paths.py): an AND as one path of all its words, an OR or ACCRUE as one path
for each operand. Where a path goes that is there already, its nodes are shared. A query that leaves takes
its predicate nodes with it, and the branch nodes that then lead nowhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.access_paths import AccessPaths
from tocsin.text.kernels.trie import (
    ABSENT,
    BRANCH,
    BRANCHES_FREE,
    BRANCHES_LIVE,
    BRANCHES_MADE,
    CHILDREN,
    FIRST_CHILD,
    FIRST_PREDICATE,
    FREE,
    IN_TABLE,
    NEXT,
    NEXT_OF_QUERY,
    NO_TERM,
    PAIR,
    PARENT,
    PREDICATES_FREE,
    PREDICATES_LIVE,
    PREDICATES_MADE,
    PREVIOUS,
    QUERY,
    ROW,
    TERM,
    TO_LIST,
    TO_TABLE,
    Trie,
    enter_in_table,
    find_child,
    strike_from_table,
)


@bare_kernel
def insert_queries(
    trie: Trie, group: NDArray[np.int32], query: NDArray[np.int32], paths: AccessPaths
) -> None:
    """Put queries in, none of which is there: query[i] of text group group[query[i]] under paths i.

    There must be room for as many more nodes as `paths` names.
    """
    for i in range(query.size):
        trie.first_of_query[query[i]] = 0
        for path in range(paths.path_start[i], paths.path_start[i + 1]):
            node = np.int64(trie.root[group[query[i]]])
            for j in range(paths.term_start[path], paths.term_start[path + 1]):
                term = np.int64(paths.term[j])
                child = find_child(trie, node, term)
                node = child if child != 0 else _grow_branch(trie, node, term)
            _hang_predicate(trie, node, query[i], paths.to_check[path], paths.pair[path])


@bare_kernel
def delete_queries(trie: Trie, query: NDArray[np.int32]) -> None:
    """Take queries out, and what only they needed; one that is not there changes nothing."""
    for i in range(query.size):
        predicate = np.int64(trie.first_of_query[query[i]])
        trie.first_of_query[query[i]] = ABSENT
        while predicate > 0:
            following = np.int64(trie.predicate_upkeep[ROW * predicate + NEXT_OF_QUERY])
            branch = np.int64(trie.predicate_upkeep[ROW * predicate + BRANCH])
            _take_down_predicate(trie, predicate)
            _prune(trie, branch)
            predicate = following


@bare_kernel
def enter_children(trie: Trie, parent: int) -> None:
    """From a list to a table: find the children of a branch node by hash from now on."""
    first = np.int64(trie.branch[ROW * parent + FIRST_CHILD])
    trie.branch[ROW * parent + FIRST_CHILD] = -first
    child = first
    while child != 0:
        enter_in_table(trie, child)
        child = np.int64(trie.branch[ROW * child + NEXT])


@bare_kernel
def _strike_children(trie: Trie, parent: int) -> None:
    """From a table back to a list."""
    first = -np.int64(trie.branch[ROW * parent + FIRST_CHILD])
    trie.branch[ROW * parent + FIRST_CHILD] = first
    child = first
    while child != 0:
        strike_from_table(trie, child)
        child = np.int64(trie.branch[ROW * child + NEXT])


@bare_kernel
def _grow_branch(trie: Trie, parent: int, term: int) -> int:
    """A new child of a branch node, first in its list."""
    state, branch, upkeep = trie.state, trie.branch, trie.branch_upkeep
    child = state[BRANCHES_FREE]
    if child != 0:
        state[BRANCHES_FREE] = branch[ROW * child + NEXT]
    else:
        child = state[BRANCHES_MADE]
        state[BRANCHES_MADE] = child + 1
    state[BRANCHES_LIVE] += 1
    first = np.int64(branch[ROW * parent + FIRST_CHILD])
    branch[ROW * child + TERM] = term
    branch[ROW * child + NEXT] = abs(first)
    branch[ROW * child + FIRST_CHILD] = 0
    branch[ROW * child + FIRST_PREDICATE] = 0
    upkeep[ROW * child + PARENT] = parent
    upkeep[ROW * child + PREVIOUS] = 0
    upkeep[ROW * child + CHILDREN] = 0
    if first != 0:
        upkeep[ROW * abs(first) + PREVIOUS] = child
    branch[ROW * parent + FIRST_CHILD] = -child if first < 0 else child
    upkeep[ROW * parent + CHILDREN] += 1
    if branch[ROW * parent + TERM] == NO_TERM:
        trie.root_child[term] = child
    elif first < 0:
        enter_in_table(trie, child)
    elif upkeep[ROW * parent + CHILDREN] > TO_TABLE:
        enter_children(trie, parent)
    return child


@bare_kernel
def _prune(trie: Trie, node: int) -> None:
    """Take a branch node away if nothing hangs below it, and then likewise its parent."""
    state, branch, upkeep = trie.state, trie.branch, trie.branch_upkeep
    while (
        branch[ROW * node + TERM] != NO_TERM
        and branch[ROW * node + FIRST_CHILD] == 0
        and branch[ROW * node + FIRST_PREDICATE] == 0
    ):
        parent = np.int64(upkeep[ROW * node + PARENT])
        is_root = branch[ROW * parent + TERM] == NO_TERM
        is_table = branch[ROW * parent + FIRST_CHILD] < 0
        if is_root:
            trie.root_child[branch[ROW * node + TERM]] = 0
        elif is_table:
            strike_from_table(trie, node)
        following = np.int64(branch[ROW * node + NEXT])
        previous = np.int64(upkeep[ROW * node + PREVIOUS])
        if following != 0:
            upkeep[ROW * following + PREVIOUS] = previous
        if previous != 0:
            branch[ROW * previous + NEXT] = following
        else:
            branch[ROW * parent + FIRST_CHILD] = -following if is_table else following
        upkeep[ROW * parent + CHILDREN] -= 1
        branch[ROW * node + TERM] = FREE
        branch[ROW * node + NEXT] = state[BRANCHES_FREE]
        state[BRANCHES_FREE] = node
        state[BRANCHES_LIVE] -= 1
        if is_table and upkeep[ROW * parent + CHILDREN] < TO_LIST:
            _strike_children(trie, parent)
        node = parent


@bare_kernel
def _hang_predicate(trie: Trie, node: int, query: int, to_check: int, pair: int) -> None:
    """A new predicate node below a branch node, first in its list.

    Two paths of a query may lead to one node, as in `a | a`. Then it has been the last to come there, and
    what need not be checked on one of the paths need not be checked at all.
    """
    state, predicate, upkeep = trie.state, trie.predicate, trie.predicate_upkeep
    first = np.int64(trie.branch[ROW * node + FIRST_PREDICATE])
    if first != 0 and predicate[ROW * first + QUERY] >> 1 == query:
        predicate[ROW * first + QUERY] &= np.int32(-2) | np.int32(to_check)
        if predicate[ROW * first + PAIR] != pair:
            predicate[ROW * first + PAIR] = 0
        return
    made = state[PREDICATES_FREE]
    if made != 0:
        state[PREDICATES_FREE] = predicate[ROW * made + NEXT]
    else:
        made = state[PREDICATES_MADE]
        state[PREDICATES_MADE] = made + 1
    state[PREDICATES_LIVE] += 1
    predicate[ROW * made + QUERY] = 2 * query + to_check
    predicate[ROW * made + NEXT] = first
    predicate[ROW * made + PAIR] = pair
    upkeep[ROW * made + BRANCH] = node
    upkeep[ROW * made + PREVIOUS] = 0
    upkeep[ROW * made + NEXT_OF_QUERY] = trie.first_of_query[query]
    if first != 0:
        upkeep[ROW * first + PREVIOUS] = made
    trie.branch[ROW * node + FIRST_PREDICATE] = made
    trie.first_of_query[query] = made


@bare_kernel
def _take_down_predicate(trie: Trie, gone: int) -> None:
    """Take a predicate node out of the list of its branch node, and free its row."""
    state, predicate, upkeep = trie.state, trie.predicate, trie.predicate_upkeep
    following = np.int64(predicate[ROW * gone + NEXT])
    previous = np.int64(upkeep[ROW * gone + PREVIOUS])
    if following != 0:
        upkeep[ROW * following + PREVIOUS] = previous
    if previous != 0:
        predicate[ROW * previous + NEXT] = following
    else:
        trie.branch[ROW * upkeep[ROW * gone + BRANCH] + FIRST_PREDICATE] = following
    predicate[ROW * gone + QUERY] = FREE
    predicate[ROW * gone + NEXT] = state[PREDICATES_FREE]
    state[PREDICATES_FREE] = gone
    state[PREDICATES_LIVE] -= 1


@bare_kernel
def enter_all(trie: Trie) -> None:
    """Fill an empty table with every node whose parent has so many children that they are to be there."""
    trie.state[IN_TABLE] = 0
    for node in range(trie.state[BRANCHES_MADE]):
        if trie.branch[ROW * node + TERM] >= 0:
            parent = np.int64(trie.branch_upkeep[ROW * node + PARENT])
            if trie.branch[ROW * parent + FIRST_CHILD] < 0:
                enter_in_table(trie, node)


def with_room(trie: Trie, groups: int, terms: int, queries: int, branches: int, predicates: int) -> Trie:
    """The filter with room for so many text groups, terms and queries in all, and so many more nodes.

    What had room keeps its arrays; what had not is copied to arrays twice as long, so copying costs little.
    """
    branches += groups - len(trie.root)
    most_branches = int(trie.state[BRANCHES_MADE]) + branches
    most_predicates = int(trie.state[PREDICATES_MADE]) + predicates
    # A new child is one entry of the table, or the last that its siblings waited for to become entries.
    entries = min(int(trie.state[IN_TABLE]) + branches * (TO_TABLE + 1), most_branches)
    roomy = Trie(
        trie.state,
        trie.root,
        _longer(trie.root_child, terms, 0),
        _longer(trie.branch, ROW * most_branches, 0),
        _longer(trie.branch_upkeep, ROW * most_branches, 0),
        _longer(trie.predicate, ROW * most_predicates, 0),
        _longer(trie.predicate_upkeep, ROW * most_predicates, 0),
        _longer(trie.first_of_query, queries, ABSENT),
        trie.table,
    )
    if 2 * entries > len(trie.table):
        roomy = roomy._replace(table=np.zeros(1 << (2 * entries - 1).bit_length(), np.int32))
        enter_all(roomy)
    return _with_roots(roomy, groups)


def _with_roots(trie: Trie, groups: int) -> Trie:
    """The filter with a root for each of so many text groups."""
    made = int(trie.state[BRANCHES_MADE])
    fresh = np.arange(made, made + groups - len(trie.root), dtype=np.int32)
    trie.branch[ROW * fresh + TERM] = NO_TERM
    trie.state[BRANCHES_MADE] += len(fresh)
    trie.state[BRANCHES_LIVE] += len(fresh)
    return trie._replace(root=np.concatenate([trie.root, fresh]))


def _longer(array: NDArray[np.int32], needed: int, filling: int) -> NDArray[np.int32]:
    if needed <= len(array):
        return array
    longer = np.full(max(needed, 2 * len(array)), filling, np.int32)
    longer[: len(array)] = array
    return longer
