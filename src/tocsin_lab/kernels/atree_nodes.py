"""The A-Tree as it lives: nodes, edges and the expression-to-node table, all in arrays that are reused.

After Ji and Jacobsen, "A-Tree" (SIGMOD 2021), section 4. A node is one expression: a predicate (an
l-node) or an operator over operands (an i-node; an r-node when it is a rule). Two things are told apart:

    operands    what the expression says, flat and sorted; with the operator its identity, for ever
    children    how it is computed today: operands, or *covers*: nodes of the same operator whose
                operands are some of these

                 AND(a b c d)          operands a b c d
                  /       \\            children AND(a b c), d
           AND(a b c)      d

So an expression is one node however it was grouped, and reorganising changes only children. A node's
use count is the number of rules it is the root of plus the number of nodes it is an operand of; serving
as a cover does not count, so what no expression needs goes away (section 4.2.4).

Every child of a node covers an operand that no other child covers; so a node never has more children
than operands, and room for edges is known from the operands alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import kernel

# Operators; LEAF has one operand, the reference of a predicate (2 * (predicate + 1) + negated).
FREE = 0
LEAF = 1
AND = 2
OR = 3
NOT = 4
XOR = 5
XNOR = 6

# Columns of Atree.node.
OPERATOR = 0
LEVEL = 1
USES = 2
OPERANDS = 3
WIDTH = 4
KINDS = 5
FIRST_CHILD = 6
FIRST_PARENT = 7
NODE_COLUMNS = 8

# Columns of Atree.edge.
CHILD = 0
PARENT = 1
NEXT_CHILD = 2
PREVIOUS_CHILD = 3
NEXT_PARENT = 4
PREVIOUS_PARENT = 5
PARENT_OPERATOR = 6
PARENT_KINDS = 7
EDGE_COLUMNS = 8

# Places in Atree.state.
NODES_MADE = 0
NODES_FREE = 1
EDGES_MADE = 2
EDGES_FREE = 3
POOL_MADE = 4
NODES_LIVE = 5
EDGES_LIVE = 6
WIDTH_LIVE = 7
POOL_FREE = 8
POOL_CLASSES = 32
STATE_SIZE = POOL_FREE + POOL_CLASSES


class Atree(NamedTuple):
    """The tree. Arrays have room to spare; freed rows and blocks wait in chains to be used again.

    state      int64[...]     counts and the heads of the chains (see the places above)
    node       int32[N, 8]    operator, level, use count; place of the operands in `pool`, how many, their
                              kinds; first child edge, first parent edge
                              in a free row the column LEVEL is the next free one
    identity   uint64[N]      the expression's ID, whatever the order and grouping of its operands
    edge       int32[E, 8]    child, parent; next and previous edge among the parent's child edges,
                              next and previous among the child's parent edges; -1 ends a chain
                              the parent's operator and kinds, so that a search need not visit it
                              in a free row the column CHILD is the next free one
    pool       int32[P]       operands, ascending, in blocks of 2^c; the first entry of a free block is
                              the next free block of its size
    table      int32[2^k]     open addressing by identity: node, or -1; at most half full

    The *kinds* of a node's operands are 31 bits, of which each operand sets one by its ID: when some bit
    of one node is not set in another, it has an operand that the other has not.
    """

    state: Longs
    node: Ints
    identity: Words
    edge: Ints
    pool: Ints
    table: Ints


@kernel
def mixed(value: np.uint64) -> np.uint64:
    """A good scattering of 64 bits (the finaliser of splitmix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def identify(identity: Words, operator: int, operand: Ints) -> np.uint64:
    """The ID of an expression: a sum over its operands' IDs, so that their order leaves no trace."""
    total = np.uint64(operand.size)
    for i in range(operand.size):
        if operator == LEAF:
            total += mixed(np.uint64(operand[i]))
        else:
            total += mixed(identity[operand[i]])
    return mixed(total ^ (np.uint64(operator) << np.uint64(56)))


# ---- The expression-to-node table


@kernel
def find_node(tree: Atree, value: np.uint64, operator: int, operand: Ints) -> int:
    """The node of an expression, or -1; equal IDs are confirmed by comparing the operands."""
    mask = np.int64(tree.table.size - 1)
    slot = np.int64(value & np.uint64(mask))
    while tree.table[slot] >= 0:
        known = np.int64(tree.table[slot])
        if (
            tree.identity[known] == value
            and tree.node[known, OPERATOR] == operator
            and tree.node[known, WIDTH] == operand.size
        ):
            begin = np.int64(tree.node[known, OPERANDS])
            same = True
            for i in range(operand.size):
                if tree.pool[begin + i] != operand[i]:
                    same = False
                    break
            if same:
                return known
        slot = (slot + 1) & mask
    return -1


@kernel
def enter_node(table: Ints, identity: Words, node: int) -> None:
    """Put a node into the table."""
    mask = np.int64(table.size - 1)
    slot = np.int64(identity[node] & np.uint64(mask))
    while table[slot] >= 0:
        slot = (slot + 1) & mask
    table[slot] = node


@kernel
def strike_node(table: Ints, identity: Words, node: int) -> None:
    """Take a node out of the table; what stood behind it moves up, so no gap is left."""
    mask = np.int64(table.size - 1)
    slot = np.int64(identity[node] & np.uint64(mask))
    while table[slot] != node:
        slot = (slot + 1) & mask
    gap = slot
    while True:
        slot = (slot + 1) & mask
        moving = table[slot]
        if moving < 0:
            break
        home = np.int64(identity[moving] & np.uint64(mask))
        if (slot - home) & mask >= (slot - gap) & mask:
            table[gap] = moving
            gap = slot
    table[gap] = -1


@kernel
def enter_all(tree: Atree) -> None:
    """Fill an empty table with every node there is."""
    for node in range(tree.state[NODES_MADE]):
        if tree.node[node, OPERATOR] != FREE:
            enter_node(tree.table, tree.identity, node)


# ---- Rows and blocks


@kernel
def block_class(width: int) -> int:
    """The size class of a block of operands: the least c with 2^c >= width."""
    size_class = 0
    while (1 << size_class) < width:
        size_class += 1
    return size_class


@kernel
def make_node(tree: Atree, operator: int, operand: Ints, value: np.uint64) -> int:
    """A node without edges, with use count 0 and level 1, and its operands copied."""
    state = tree.state
    node = state[NODES_FREE]
    if node >= 0:
        state[NODES_FREE] = tree.node[node, LEVEL]
    else:
        node = state[NODES_MADE]
        state[NODES_MADE] = node + 1
    chain = POOL_FREE + block_class(operand.size)
    begin = state[chain]
    if begin >= 0:
        state[chain] = tree.pool[begin]
    else:
        begin = state[POOL_MADE]
        state[POOL_MADE] = begin + (np.int64(1) << (chain - POOL_FREE))
    kinds = np.int64(0)
    for i in range(operand.size):
        tree.pool[begin + i] = operand[i]
        if operator != LEAF:
            kinds |= np.int64(1) << np.int64(tree.identity[operand[i]] % np.uint64(31))
    row = tree.node[node]
    row[OPERATOR] = operator
    row[LEVEL] = 1
    row[USES] = 0
    row[OPERANDS] = begin
    row[WIDTH] = operand.size
    row[KINDS] = kinds
    row[FIRST_CHILD] = -1
    row[FIRST_PARENT] = -1
    tree.identity[node] = value
    state[NODES_LIVE] += 1
    state[WIDTH_LIVE] += operand.size
    return node


@kernel
def free_node(tree: Atree, node: int) -> None:
    """Give back the row and the operands of a node that has no edges any more."""
    state = tree.state
    row = tree.node[node]
    begin = np.int64(row[OPERANDS])
    chain = POOL_FREE + block_class(row[WIDTH])
    tree.pool[begin] = state[chain]
    state[chain] = begin
    state[WIDTH_LIVE] -= row[WIDTH]
    row[OPERATOR] = FREE
    row[LEVEL] = state[NODES_FREE]
    state[NODES_FREE] = node
    state[NODES_LIVE] -= 1


@kernel
def link(tree: Atree, child: int, parent: int) -> None:
    """A new edge, first in both chains."""
    state = tree.state
    edge = state[EDGES_FREE]
    if edge >= 0:
        state[EDGES_FREE] = tree.edge[edge, CHILD]
    else:
        edge = state[EDGES_MADE]
        state[EDGES_MADE] = edge + 1
    next_child = tree.node[parent, FIRST_CHILD]
    next_parent = tree.node[child, FIRST_PARENT]
    row = tree.edge[edge]
    row[CHILD] = child
    row[PARENT] = parent
    row[NEXT_CHILD] = next_child
    row[PREVIOUS_CHILD] = -1
    row[NEXT_PARENT] = next_parent
    row[PREVIOUS_PARENT] = -1
    row[PARENT_OPERATOR] = tree.node[parent, OPERATOR]
    row[PARENT_KINDS] = tree.node[parent, KINDS]
    if next_child >= 0:
        tree.edge[next_child, PREVIOUS_CHILD] = edge
    if next_parent >= 0:
        tree.edge[next_parent, PREVIOUS_PARENT] = edge
    tree.node[parent, FIRST_CHILD] = edge
    tree.node[child, FIRST_PARENT] = edge
    state[EDGES_LIVE] += 1


@kernel
def unlink(tree: Atree, edge: int) -> None:
    """Take an edge out of both chains and give its row back."""
    row = tree.edge[edge]
    child, parent = row[CHILD], row[PARENT]
    if row[PREVIOUS_CHILD] >= 0:
        tree.edge[row[PREVIOUS_CHILD], NEXT_CHILD] = row[NEXT_CHILD]
    else:
        tree.node[parent, FIRST_CHILD] = row[NEXT_CHILD]
    if row[NEXT_CHILD] >= 0:
        tree.edge[row[NEXT_CHILD], PREVIOUS_CHILD] = row[PREVIOUS_CHILD]
    if row[PREVIOUS_PARENT] >= 0:
        tree.edge[row[PREVIOUS_PARENT], NEXT_PARENT] = row[NEXT_PARENT]
    else:
        tree.node[child, FIRST_PARENT] = row[NEXT_PARENT]
    if row[NEXT_PARENT] >= 0:
        tree.edge[row[NEXT_PARENT], PREVIOUS_PARENT] = row[PREVIOUS_PARENT]
    tree.edge[edge, PARENT] = -1
    tree.edge[edge, CHILD] = tree.state[EDGES_FREE]
    tree.state[EDGES_FREE] = edge
    tree.state[EDGES_LIVE] -= 1


@kernel
def unlink_children(tree: Atree, node: int) -> None:
    """Take away all edges to a node's children."""
    while tree.node[node, FIRST_CHILD] >= 0:
        unlink(tree, tree.node[node, FIRST_CHILD])
