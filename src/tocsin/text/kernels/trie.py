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
more than `TO_TABLE`, they are also found by hash. The paper's second form is a trie over the characters of
the words. Words are numbers here, so a table by hash does the same in one step. The children of roots are
found by their terms directly, for every term belongs to one group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel

TO_TABLE = 32
"""More children than this are put in the table."""

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

# Places in Trie.state. No row is ever free: those two are 0.
BRANCHES_MADE = 0
BRANCHES_FREE = 1
BRANCHES_LIVE = 2
PREDICATES_MADE = 3
PREDICATES_FREE = 4
PREDICATES_LIVE = 5
IN_TABLE = 6
STATE_SIZE = 7


class Trie(NamedTuple):
    """The filter. 0 ends every chain: branch node 0 is a root, which is nobody's child, and there is no
    predicate node 0. What is called upkeep says how the rows hang together, and is seldom looked at.

    state              int64[7]     counts (see the places above)
    root               int32[G]     the root of each text group
    root_child         int32[T]     the child of its root that has this term, or 0
    branch             int32[4N]    a row each: term; next child of the same parent; first child, negative
                                    when the children are in the table too; first predicate node
    branch_upkeep      int32[4N]    a row each: parent; previous child of the same parent; number of children
    predicate          int32[4P]    a row each: 2 * query + whether it is to be checked; next predicate node
                                    of the branch node; two words that have to be neighbours (see
                                    neighbours.py), or 0
    predicate_upkeep   int32[4P]    a row each: branch node; previous predicate node of the branch node;
                                    next predicate node of the query
    first_of_query     int32[Q]     the first predicate node of a query; 0 for one that no document can
                                    satisfy and that therefore has none, ABSENT for one that is not here
    table              int32[2^k]   open addressing by parent and term: branch node, or 0; at most half full
    """

    state: Longs
    root: Ints
    root_child: Ints
    branch: Ints
    branch_upkeep: Ints
    predicate: Ints
    predicate_upkeep: Ints
    first_of_query: Ints
    table: Ints


@inner_kernel
def slot_of(parent: int, term: int, mask: int) -> int:
    """Where to look for the child of a branch node that has the term."""
    value = np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(term)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(value >> np.uint64(32)) & mask


@inner_kernel
def find_in_table(table: Ints, branch: Ints, upkeep: Ints, parent: int, term: int) -> int:
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
