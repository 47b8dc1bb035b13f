"""The A-Tree as an object: it grows when it needs room, and shows its structure.

The work is done in tocsin_lab/kernels/atree_updates.py; here arrays are made larger, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin_lab.kernels.atree_adjustment import ADJUST_LOOKS
from tocsin_lab.kernels.atree_covers import CANDIDATES, Workbench
from tocsin_lab.kernels.atree_nodes import (
    CHILD,
    EDGE_COLUMNS,
    EDGES_FREE,
    EDGES_LIVE,
    EDGES_MADE,
    FIRST_CHILD,
    FIRST_PARENT,
    FREE,
    LEAF,
    LEVEL,
    NEXT_CHILD,
    NEXT_PARENT,
    NODE_COLUMNS,
    NODES_FREE,
    NODES_LIVE,
    NODES_MADE,
    OPERANDS,
    OPERATOR,
    PARENT,
    POOL_FREE,
    POOL_MADE,
    STATE_SIZE,
    USES,
    WIDTH,
    WIDTH_LIVE,
    Atree,
    enter_all,
    find_node,
    identify,
)
from tocsin_lab.kernels.atree_updates import Groups, Policy, add_groups, drop_use, use_roots

T = TypeVar("T", bound=np.generic)

SMALLEST = 2 * max(ADJUST_LOOKS, CANDIDATES)
"""Rows that every array has from the start; the search for covers wants that many on its workbench."""

ALWAYS = -1
NEVER = -2
"""What stands for a node where a rule is true, or false, whatever the event is."""


class NodeView(NamedTuple):
    """One node, for tests and explanations; other nodes by their numbers."""

    operator: int
    level: int
    uses: int
    operands: tuple[int, ...]
    children: tuple[int, ...]
    parents: tuple[int, ...]


class GrowingAtree:
    """An A-Tree that rules enter and leave in any order; see kernels/atree_nodes.py for what is in it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        state = np.zeros(STATE_SIZE, np.int64)
        state[[NODES_FREE, EDGES_FREE]] = -1
        state[POOL_FREE:] = -1
        self.tree = Atree(
            state,
            np.zeros((SMALLEST, NODE_COLUMNS), np.int32),
            np.zeros(SMALLEST, np.uint64),
            np.zeros((SMALLEST, EDGE_COLUMNS), np.int32),
            np.zeros(SMALLEST, np.int32),
            np.full(2 * SMALLEST, -1, np.int32),
        )
        self._bench = _workbench(SMALLEST, SMALLEST)

    # ---- Rules enter and leave

    def add(self, groups: Groups) -> Ints:
        """The nodes of some rules, ALWAYS or NEVER for those that no event decides; each counts as a use."""
        node_of = self.add_groups(groups)
        self._make_room(nodes=len(groups.root), width=len(groups.root))
        root = np.empty(len(groups.root), np.int32)
        use_roots(self.tree, self._bench, groups, self.policy, node_of, root)
        return root

    def add_groups(self, groups: Groups) -> Ints:
        """The nodes of some groups; uses by rules are left to the caller."""
        node_of = np.empty(len(groups.operator), np.int32)
        done = 0
        while True:
            done = add_groups(self.tree, self._bench, groups, done, self.policy, node_of)
            if done == len(node_of):
                return node_of
            begin, end = groups.operand_start[done : done + 2].tolist()
            inner = groups.operand[begin:end][groups.operand[begin:end] < 0]
            widths = self.tree.node[node_of[-1 - inner], WIDTH]
            self._make_room(nodes=end - begin + 1, width=end - begin + int(widths.sum()))

    def remove(self, root: int) -> None:
        """A rule that had this node leaves."""
        if root >= 0:
            drop_use(self.tree, self._bench, self.policy.sharing, root)

    def _make_room(self, nodes: int, width: int) -> None:
        """Room for `nodes` more nodes, with `width` more operands of inner ones among them."""
        tree, state = self.tree, self.tree.state
        node_room = _enough(len(tree.node), int(state[NODES_MADE]) + nodes)
        edge_room = _enough(len(tree.edge), int(state[WIDTH_LIVE]) + nodes + 2 * width)
        pool_room = _enough(len(tree.pool), int(state[POOL_MADE]) + nodes + 2 * width)
        table = tree.table
        if node_room > len(tree.node):
            table = np.full(1 << (2 * node_room - 1).bit_length(), -1, np.int32)
        self.tree = Atree(
            state,
            _longer(tree.node, node_room),
            _longer(tree.identity, node_room),
            _longer(tree.edge, edge_room),
            _longer(tree.pool, pool_room),
            table,
        )
        if table is not tree.table and self.policy.sharing:
            enter_all(self.tree)
        widest = _enough(len(self._bench.chosen), 2 * width)
        if node_room > len(tree.node) or widest > len(self._bench.chosen):
            self._bench = _workbench(node_room, widest)

    # ---- What is in it

    def __len__(self) -> int:
        return int(self.tree.state[NODES_LIVE])

    @property
    def edges(self) -> int:
        """Edges from children to parents."""
        return int(self.tree.state[EDGES_LIVE])

    @property
    def bytes_used(self) -> dict[str, int]:
        """Bytes of what is in use, by part; spare room is not counted."""
        state, tree = self.tree.state, self.tree
        entry = tree.identity.itemsize + 2 * tree.table.itemsize if self.policy.sharing else 0
        return {
            "nodes": int(state[NODES_LIVE]) * NODE_COLUMNS * tree.node.itemsize,
            "edges": int(state[EDGES_LIVE]) * EDGE_COLUMNS * tree.edge.itemsize,
            "operands": int(state[WIDTH_LIVE]) * tree.pool.itemsize,
            "expression table": int(state[NODES_LIVE]) * entry,
        }

    @property
    def bytes_held(self) -> int:
        """Bytes of all arrays, spare room included."""
        return sum(array.nbytes for array in (*self.tree, *self._bench))

    def live_nodes(self) -> Longs:
        """The numbers of all nodes, ascending."""
        made = int(self.tree.state[NODES_MADE])
        return np.flatnonzero(self.tree.node[:made, OPERATOR] != FREE)

    def live_edges(self) -> tuple[Ints, Ints]:
        """Child and parent of every edge."""
        rows = self.tree.edge[: int(self.tree.state[EDGES_MADE])]
        rows = rows[rows[:, PARENT] >= 0]
        return rows[:, CHILD], rows[:, PARENT]

    def find(self, operator: int, operands: list[int]) -> int:
        """The node of an operator over nodes, or of LEAF over a predicate's reference; -1: there is none."""
        operand = np.array(sorted(operands), np.int32)
        value = np.uint64(identify(self.tree.identity, operator, operand))
        return int(find_node(self.tree, value, operator, operand))

    def view(self, node: int) -> NodeView:
        """One node; for a leaf `operands` is its predicate's reference."""
        row, tree = self.tree.node[node], self.tree
        begin = int(row[OPERANDS])
        return NodeView(
            int(row[OPERATOR]),
            int(row[LEVEL]),
            int(row[USES]),
            tuple(tree.pool[begin : begin + int(row[WIDTH])].tolist()),
            self._chain(int(row[FIRST_CHILD]), NEXT_CHILD, CHILD),
            self._chain(int(row[FIRST_PARENT]), NEXT_PARENT, PARENT),
        )

    def _chain(self, edge: int, onward: int, column: int) -> tuple[int, ...]:
        found = []
        while edge >= 0:
            found.append(int(self.tree.edge[edge, column]))
            edge = int(self.tree.edge[edge, onward])
        return tuple(found)

    def by_level(self) -> dict[int, dict[str, int]]:
        """Nodes by level: how many leaves, inner nodes and edges to children there are."""
        rows = self.tree.node[self.live_nodes()]
        _, parent = self.live_edges()
        edge_level = self.tree.node[parent, LEVEL]
        return {
            int(level): {
                "leaves": int(((rows[:, LEVEL] == level) & (rows[:, OPERATOR] == LEAF)).sum()),
                "inner": int(((rows[:, LEVEL] == level) & (rows[:, OPERATOR] != LEAF)).sum()),
                "edges": int((edge_level == level).sum()),
            }
            for level in np.unique(rows[:, LEVEL])
        }


def _workbench(nodes: int, widest: int) -> Workbench:
    return Workbench(
        np.zeros(1, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int32),
        np.empty(CANDIDATES, np.int32),
        np.empty(CANDIDATES, np.int32),
        np.empty(widest, np.int32),
        np.empty(nodes, np.int32),
        np.zeros(nodes, np.bool_),
        np.empty(nodes, np.int32),
        np.empty(widest, np.int32),
        np.empty(1, np.int32),
    )


def _enough(present: int, needed: int) -> int:
    """Room for what is needed: what there is, or half as much again."""
    return present if needed <= present else max(needed, present + present // 2)


def _longer(array: NDArray[T], room: int) -> NDArray[T]:
    if room == len(array):
        return array
    longer = np.zeros((room, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
