"""The trie filter laid out anew: children beside each other, no free rows, no room to spare.

Chains that grew one query at a time lead all over memory. Laid out level by level, the children of a branch
node follow each other, and so do its predicate nodes; walking a chain is then walking along an array.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.text.kernels.trie import (
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
    Trie,
    enter_in_table,
)


def compact(trie: Trie) -> Trie:
    """The same filter in as much memory as it needs."""
    branches = int(trie.state[BRANCHES_LIVE])
    predicates = int(trie.state[PREDICATES_LIVE]) + 1
    copy = Trie(
        np.zeros(STATE_SIZE, np.int64),
        np.arange(len(trie.root), dtype=np.int32),
        np.zeros(len(trie.root_child), np.int32),
        np.zeros(ROW * branches, np.int32),
        np.zeros(ROW * branches, np.int32),
        np.zeros(ROW * predicates, np.int32),
        np.zeros(ROW * predicates, np.int32),
        np.minimum(trie.first_of_query, 0),
        np.zeros(1 << max(2 * int(trie.state[IN_TABLE]) - 1, 0).bit_length(), np.int32),
    )
    copy.state[[BRANCHES_MADE, BRANCHES_LIVE]] = branches
    copy.state[[PREDICATES_MADE, PREDICATES_LIVE]] = predicates, predicates - 1
    copy.branch[ROW * copy.root + TERM] = NO_TERM
    original = np.empty(branches, np.int32)
    original[: len(trie.root)] = trie.root
    _lay_out(trie, copy, original)
    return copy


@bare_kernel
def _lay_out(trie: Trie, copy: Trie, original: NDArray[np.int32]) -> None:
    """Copy what hangs below the roots, level by level; original[n] is the number that node n had."""
    made = np.int64(trie.root.size)
    hung = np.int64(1)
    for node in range(original.size):
        made = _lay_out_children(trie, copy, original, node, made)
        hung = _lay_out_predicates(trie, copy, original[node], node, hung)


@bare_kernel
def _lay_out_children(trie: Trie, copy: Trie, original: NDArray[np.int32], parent: int, made: int) -> int:
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
