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

Each text group has a root. Nodes are laid out level by level, and those below a node side by side. When a
node has more than `TO_TABLE` children, they are also found by hash. The paper's second form is a trie over
the characters of the words. Words are numbers here, so a table by hash does the same in one step. The
children of roots are found by their terms directly, for every term belongs to one group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.jit import bare_kernel, inner_kernel

TO_TABLE = 32
"""More children than this are put in the table."""

# Columns of Trie.branch; every row is ROW numbers.
ROW = 4
TERM = 0
PARENT = 1
FIRST_CHILD = 2
FIRST_PREDICATE = 3

# Columns of Trie.predicate; every row is HUNG numbers.
HUNG = 2
QUERY = 0
PAIR = 1

NO_TERM = -1
"""The term of a root."""


class Trie(NamedTuple):
    """The filter of Q queries over T terms: N branch nodes, of which node g is the root of text group g.

    branch       int32[4(N+1)]   a row each: term; parent; first child; first predicate node. Children and
                                 predicate nodes end where those of the next row begin, and a row behind
                                 the last says where the last node's end
    predicate    int32[2P]       a row each: 2 * query + whether it is to be checked; two words that have to
                                 be neighbours (see neighbours.py), or 0
    root_child   int32[T]        the child of its root that has this term, or 0
    is_indexed   bool[Q]         whether the query is here, perhaps with no path: no document can satisfy it
    table        int32[2^k]      open addressing by parent and term: branch node, or 0; at most half full
    """

    branch: Ints
    predicate: Ints
    root_child: Ints
    is_indexed: Flags
    table: Ints


@inner_kernel
def children_of(branch: Ints, node: int) -> tuple[np.int64, np.int64]:
    """The first child of a branch node, and the node behind its last."""
    at = ROW * node + FIRST_CHILD
    return np.int64(branch[at]), np.int64(branch[at + ROW])


@inner_kernel
def predicates_of(branch: Ints, node: int) -> tuple[np.int64, np.int64]:
    """The first predicate node below a branch node, and the one behind its last."""
    at = ROW * node + FIRST_PREDICATE
    return np.int64(branch[at]), np.int64(branch[at + ROW])


@inner_kernel
def slot_of(parent: int, term: int, mask: int) -> int:
    """Where to look for the child of a branch node that has the term."""
    value = np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(term)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(value >> np.uint64(32)) & mask


@inner_kernel
def find_in_table(table: Ints, branch: Ints, parent: int, term: int) -> int:
    """The child of a branch node that has the term, or 0, when its children are in the table."""
    mask = np.int64(table.size - 1)
    slot = slot_of(parent, term, mask)
    known = np.int64(table[slot])
    while known != 0 and not (branch[ROW * known + TERM] == term and branch[ROW * known + PARENT] == parent):
        slot = (slot + 1) & mask
        known = np.int64(table[slot])
    return known


@bare_kernel
def enter_in_table(table: Ints, branch: Ints, child: int) -> None:
    """Put a branch node into the table."""
    mask = np.int64(table.size - 1)
    slot = slot_of(branch[ROW * child + PARENT], branch[ROW * child + TERM], mask)
    while table[slot] != 0:
        slot = (slot + 1) & mask
    table[slot] = child
