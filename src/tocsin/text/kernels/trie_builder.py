"""The trie filter of some queries: cases 1, 2 and 3 of the paper.

A query comes as paths (access_paths.py): an AND as one path of all its words, an OR or ACCRUE as one path
for each operand. Where a path goes that is there already, its nodes are shared.

Chains that grow one query at a time lead all over memory. So the filter is laid out anew in the end, level
by level: the children of a branch node follow each other, and so do its predicate nodes; walking a chain is
then walking along an array.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.access_paths import AccessPaths
from tocsin.text.kernels.trie import (
    ABSENT,
    BRANCH,
    BRANCHES_LIVE,
    BRANCHES_MADE,
    CHILDREN,
    FIRST_CHILD,
    FIRST_PREDICATE,
    IN_TABLE,
    NEXT,
    NEXT_OF_QUERY,
    NO_TERM,
    PAIR,
    PARENT,
    PREDICATES_LIVE,
    PREDICATES_MADE,
    PREVIOUS,
    QUERY,
    ROW,
    STATE_SIZE,
    TERM,
    TO_TABLE,
    Trie,
    enter_in_table,
    find_child,
)


def build_trie(query: Ints, paths: AccessPaths, query_group: Ints, groups: int, terms: int) -> Trie:
    """The filter of query[i] under paths i, of all queries, whose text groups are given, and of all terms."""
    grown = _roots(groups, terms, len(query_group), groups + len(paths.term), len(paths.to_check) + 1)
    _insert_queries(grown, query_group, query, paths)
    state = grown.state
    branches, predicates = int(state[BRANCHES_MADE]), int(state[PREDICATES_MADE])
    trie = _roots(groups, terms, 0, branches, predicates, int(state[IN_TABLE]))
    trie = trie._replace(first_of_query=grown.first_of_query)
    trie.state[[BRANCHES_MADE, BRANCHES_LIVE]] = branches
    trie.state[[PREDICATES_MADE, PREDICATES_LIVE]] = predicates, predicates - 1
    original = np.empty(branches, np.int32)
    original[:groups] = grown.root
    _lay_out(grown, trie, original)
    return trie


def _roots(
    groups: int, terms: int, queries: int, branches: int, predicates: int, in_table: int | None = None
) -> Trie:
    """Roots without children, and room for so many nodes, all of which may come to stand in the table."""
    entries = branches if in_table is None else in_table
    trie = Trie(
        np.zeros(STATE_SIZE, np.int64),
        np.arange(groups, dtype=np.int32),
        np.zeros(terms, np.int32),
        np.zeros(ROW * branches, np.int32),
        np.zeros(ROW * branches, np.int32),
        np.zeros(ROW * predicates, np.int32),
        np.zeros(ROW * predicates, np.int32),
        np.full(queries, ABSENT, np.int32),
        np.zeros(1 << max(2 * entries - 1, 0).bit_length(), np.int32),
    )
    trie.state[[BRANCHES_MADE, PREDICATES_MADE]] = groups, 1
    trie.branch[ROW * trie.root + TERM] = NO_TERM
    return trie


@bare_kernel
def _insert_queries(trie: Trie, group: Ints, query: Ints, paths: AccessPaths) -> None:
    """Put query[i] of text group group[query[i]] in under paths i."""
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
def _grow_branch(trie: Trie, parent: int, term: int) -> int:
    """A new child of a branch node, first in its list."""
    branch, upkeep = trie.branch, trie.branch_upkeep
    child = trie.state[BRANCHES_MADE]
    trie.state[BRANCHES_MADE] = child + 1
    first = np.int64(branch[ROW * parent + FIRST_CHILD])
    branch[ROW * child + TERM] = term
    branch[ROW * child + NEXT] = abs(first)
    upkeep[ROW * child + PARENT] = parent
    branch[ROW * parent + FIRST_CHILD] = -child if first < 0 else child
    upkeep[ROW * parent + CHILDREN] += 1
    if branch[ROW * parent + TERM] == NO_TERM:
        trie.root_child[term] = child
    elif first < 0:
        enter_in_table(trie, child)
    elif upkeep[ROW * parent + CHILDREN] > TO_TABLE:
        branch[ROW * parent + FIRST_CHILD] = -child
        entered = child
        while entered != 0:
            enter_in_table(trie, entered)
            entered = np.int64(branch[ROW * entered + NEXT])
    return child


@bare_kernel
def _hang_predicate(trie: Trie, node: int, query: int, to_check: int, pair: int) -> None:
    """A new predicate node below a branch node, first in its list.

    Two paths of a query may lead to one node, as in `a | a`. Then it has been the last to come there, and
    what need not be checked on one of the paths need not be checked at all.
    """
    predicate = trie.predicate
    first = np.int64(trie.branch[ROW * node + FIRST_PREDICATE])
    if first != 0 and predicate[ROW * first + QUERY] >> 1 == query:
        predicate[ROW * first + QUERY] &= np.int32(-2) | np.int32(to_check)
        if predicate[ROW * first + PAIR] != pair:
            predicate[ROW * first + PAIR] = 0
        return
    made = trie.state[PREDICATES_MADE]
    trie.state[PREDICATES_MADE] = made + 1
    predicate[ROW * made + QUERY] = 2 * query + to_check
    predicate[ROW * made + NEXT] = first
    predicate[ROW * made + PAIR] = pair
    trie.branch[ROW * node + FIRST_PREDICATE] = made


@bare_kernel
def _lay_out(trie: Trie, copy: Trie, original: Ints) -> None:
    """Copy what hangs below the roots, level by level; original[n] is the number that node n had."""
    made = np.int64(trie.root.size)
    hung = np.int64(1)
    for node in range(original.size):
        made = _lay_out_children(trie, copy, original, node, made)
        hung = _lay_out_predicates(trie, copy, original[node], node, hung)


@bare_kernel
def _lay_out_children(trie: Trie, copy: Trie, original: Ints, parent: int, made: int) -> int:
    """Copy the children of a branch node behind the nodes that are made; how many are then made."""
    old_parent = np.int64(original[parent])
    old = np.int64(trie.branch[ROW * old_parent + FIRST_CHILD])
    is_table = old < 0
    old = abs(old)
    if old != 0:
        copy.branch[ROW * parent + FIRST_CHILD] = -made if is_table else made
    copy.branch_upkeep[ROW * parent + CHILDREN] = trie.branch_upkeep[ROW * old_parent + CHILDREN]
    previous = np.int64(0)
    while old != 0:
        term = trie.branch[ROW * old + TERM]
        original[made] = old
        copy.branch[ROW * made + TERM] = term
        copy.branch_upkeep[ROW * made + PARENT] = parent
        copy.branch_upkeep[ROW * made + PREVIOUS] = previous
        if previous != 0:
            copy.branch[ROW * previous + NEXT] = made
        if copy.branch[ROW * parent + TERM] == NO_TERM:
            copy.root_child[term] = made
        elif is_table:
            enter_in_table(copy, made)
        previous = made
        made += 1
        old = np.int64(trie.branch[ROW * old + NEXT])
    return made


@bare_kernel
def _lay_out_predicates(trie: Trie, copy: Trie, old_branch: int, branch: int, hung: int) -> int:
    """Copy the predicate nodes of a branch node behind those that hang already; how many then do."""
    old = np.int64(trie.branch[ROW * old_branch + FIRST_PREDICATE])
    if old != 0:
        copy.branch[ROW * branch + FIRST_PREDICATE] = hung
    previous = np.int64(0)
    while old != 0:
        marked_query = trie.predicate[ROW * old + QUERY]
        copy.predicate[ROW * hung + QUERY] = marked_query
        copy.predicate[ROW * hung + PAIR] = trie.predicate[ROW * old + PAIR]
        copy.predicate_upkeep[ROW * hung + BRANCH] = branch
        copy.predicate_upkeep[ROW * hung + PREVIOUS] = previous
        if previous != 0:
            copy.predicate[ROW * previous + NEXT] = hung
        copy.predicate_upkeep[ROW * hung + NEXT_OF_QUERY] = copy.first_of_query[marked_query >> 1]
        copy.first_of_query[marked_query >> 1] = hung
        previous = hung
        hung += 1
        old = np.int64(trie.predicate[ROW * old + NEXT])
    return hung
