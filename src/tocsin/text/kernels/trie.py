"""The trie filter: text queries under the words that must occur before they can hold.

After the trie filter of the TriggerMan paper. A *branch node* is a term under the terms of the nodes above
it; a *predicate node* hangs below the last term of a path and stands for a query that may hold when all
terms of the path occur in a document. Terms come by falling idf along every path, so that the rarest word
is asked for first and common ones only below it.

    a & b & !c                 root
    a & d                      ├ a
    a & "d e"                  │ ├ b  (1 ?)       ?  something is left to check: negation, phrase,
    b & f                      │ └ d  (2)            formula
                               │   └ e  (3 ?)
                               └ b
                                 └ f  (4)

Each text group has a root. The children of a branch node are a list, a chain of nodes; when they become
more than `TO_TABLE`, they are also found by hash, and when they become fewer than `TO_LIST` no longer: far
apart, so that a query that comes and goes does not move them to and fro. The paper's second form is a trie
over the characters of the words. Words are numbers here, so a table by hash does the same in one step.
The children of roots are found by their terms directly, for every term belongs to one group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel, inner_kernel

TO_TABLE = 32
TO_LIST = 8
"""More children than the first are put in the table, fewer than the second are taken out of it."""

# Columns of Trie.branch and of Trie.branch_upkeep; every row is ROW numbers.
ROW = 4
TERM = 0
NEXT = 1
FIRST_CHILD = 2
FIRST_PREDICATE = 3

PARENT = 0
PREVIOUS = 1
CHILDREN = 2

# Columns of Trie.predicate, besides NEXT, and of Trie.predicate_upkeep, besides PREVIOUS.
QUERY = 0
PAIR = 2

BRANCH = 0
NEXT_OF_QUERY = 2

NO_TERM = -1
"""The term of a root."""

ABSENT = -1
"""In place of the first predicate node of a query that is not in the filter."""

FREE = -2
"""The term of a branch node, and the query of a predicate node, that waits to be used again."""

# Places in Trie.state.
BRANCHES_MADE = 0
BRANCHES_FREE = 1
BRANCHES_LIVE = 2
PREDICATES_MADE = 3
PREDICATES_FREE = 4
PREDICATES_LIVE = 5
IN_TABLE = 6
STATE_SIZE = 7


class Trie(NamedTuple):
    """The filter. Arrays have room to spare; freed rows wait in chains to be used again. 0 ends every chain:
    branch node 0 is a root, which is nobody's child, and there is no predicate node 0.

    state              int64[7]     counts and heads of the chains (see the places above)
    root               int32[G]     the root of each text group
    root_child         int32[T]     the child of its root that has this term, or 0
    branch             int32[4N]    a row each, for searching: term; next child of the same parent (of a
                                    free row: next free row); first child, negative when the children are
                                    in the table too; first predicate node
    branch_upkeep      int32[4N]    a row each, for changes: parent; previous child of the same parent;
                                    number of children
    predicate          int32[4P]    a row each, for searching: 2 * query + whether it is to be checked; next
                                    predicate node of the branch node (of a free row: next free row); two
                                    words that have to be neighbours (see neighbours.py), or 0
    predicate_upkeep   int32[4P]    a row each, for changes: branch node; previous predicate node of the
                                    branch node; next predicate node of the query
    first_of_query     int32[Q]     the first predicate node of a query; 0 for one that no document can
                                    satisfy and that therefore has none, ABSENT for one that is not here
    table              int32[2^k]   open addressing by parent and term: branch node, or 0; at most half full
    """

    state: NDArray[np.int64]
    root: NDArray[np.int32]
    root_child: NDArray[np.int32]
    branch: NDArray[np.int32]
    branch_upkeep: NDArray[np.int32]
    predicate: NDArray[np.int32]
    predicate_upkeep: NDArray[np.int32]
    first_of_query: NDArray[np.int32]
    table: NDArray[np.int32]


@inner_kernel
def slot_of(parent: int, term: int, mask: int) -> int:
    """Where to look for the child of a branch node that has the term."""
    value = np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(term)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(value >> np.uint64(32)) & mask


@inner_kernel
def find_in_table(
    table: NDArray[np.int32],
    branch: NDArray[np.int32],
    upkeep: NDArray[np.int32],
    parent: int,
    term: int,
) -> int:
    """The child of a branch node that has the term, or 0, when its children are in the table."""
    mask = np.int64(table.size - 1)
    slot = slot_of(parent, term, mask)
    known = np.int64(table[slot])
    while known != 0 and not (branch[ROW * known + TERM] == term and upkeep[ROW * known + PARENT] == parent):
        slot = (slot + 1) & mask
        known = np.int64(table[slot])
    return known


@bare_kernel
def find_child(trie: Trie, parent: int, term: int) -> int:
    """The child of a branch node that has the term, or 0."""
    if trie.branch[ROW * parent + TERM] == NO_TERM:
        return np.int64(trie.root_child[term])
    child = np.int64(trie.branch[ROW * parent + FIRST_CHILD])
    if child < 0:
        return find_in_table(trie.table, trie.branch, trie.branch_upkeep, parent, term)
    while child != 0 and trie.branch[ROW * child + TERM] != term:
        child = np.int64(trie.branch[ROW * child + NEXT])
    return child


@bare_kernel
def enter_in_table(trie: Trie, child: int) -> None:
    """Put a branch node into the table."""
    mask = np.int64(trie.table.size - 1)
    parent = trie.branch_upkeep[ROW * child + PARENT]
    slot = slot_of(parent, trie.branch[ROW * child + TERM], mask)
    while trie.table[slot] != 0:
        slot = (slot + 1) & mask
    trie.table[slot] = child
    trie.state[IN_TABLE] += 1


@bare_kernel
def strike_from_table(trie: Trie, child: int) -> None:
    """Take a branch node out of the table; what stood behind it moves up, so that no gap is left."""
    table = trie.table
    mask = np.int64(table.size - 1)
    parent = trie.branch_upkeep[ROW * child + PARENT]
    slot = slot_of(parent, trie.branch[ROW * child + TERM], mask)
    while table[slot] != child:
        slot = (slot + 1) & mask
    gap = slot
    slot = (slot + 1) & mask
    while table[slot] != 0:
        moving = np.int64(table[slot])
        home = slot_of(trie.branch_upkeep[ROW * moving + PARENT], trie.branch[ROW * moving + TERM], mask)
        if (slot - home) & mask >= (slot - gap) & mask:
            table[gap] = moving
            gap = slot
        slot = (slot + 1) & mask
    table[gap] = 0
    trie.state[IN_TABLE] -= 1


def empty_trie() -> Trie:
    """A filter without text groups and queries."""
    trie = Trie(
        np.zeros(STATE_SIZE, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.zeros(ROW, np.int32),
        np.zeros(ROW, np.int32),
        np.empty(0, np.int32),
        np.zeros(1, np.int32),
    )
    trie.state[PREDICATES_MADE] = 1
    return trie
