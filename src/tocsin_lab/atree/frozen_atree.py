"""A copy of the A-Tree for matching: compact, by level, with the links that results travel along."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin_lab.atree.atree import GrowingAtree
from tocsin_lab.kernels.atree_match import (
    FrozenAtree,
    Memory,
    Switches,
    count_matches,
    estimate_nodes,
    match_event,
)
from tocsin_lab.kernels.atree_nodes import AND, LEAF, LEVEL, OPERANDS, OPERATOR

Access = Callable[[FrozenAtree], Ints]
"""Chooses for each node the child that wakes it, as a place among its children."""


class AtreeMatcher:
    """A frozen tree and the memory of one reader. `node[i]` is the growing tree's number of node i.

    `access` is for propagation on demand, and None without it.
    """

    def __init__(
        self, atree: GrowingAtree, roots: Ints, refs: int, switches: Switches, access: Access | None
    ) -> None:
        live = atree.live_nodes()
        level = atree.tree.node[live, LEVEL]
        order = np.argsort(level, kind="stable")
        self.node = live[order]
        self.refs = refs
        self.switches = switches
        self.level_of = (level[order] - 1).astype(np.int32)
        self.tree = _frozen(atree, self.node, self.level_of, roots, refs)
        self.access_child = np.full(len(self.node), -1, np.int32)
        if access is not None:
            chosen = self.tree.child_start[:-1] + access(self.tree)
            is_and = self.tree.operator == AND
            self.access_child[is_and] = self.tree.child[chosen[is_and]]
            self.tree = _on_demand(self.tree, chosen)
        levels = len(self.tree.level_start) - 1
        nodes = len(self.node)
        self.memory = Memory(
            np.zeros(1, np.int64),
            np.zeros(nodes, np.int64),
            np.zeros(nodes, np.int8),
            np.zeros(nodes, np.int64),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
            np.zeros(levels, np.int32),
            np.zeros(len(roots), np.int32),
        )

    def match(self, true_ref: Ints) -> Ints:
        """The rules that are satisfied, by their places in `roots`, when these references are true."""
        count = match_event(self.tree, self.switches, self.level_of, true_ref, self.memory)
        return np.sort(self.memory.found[:count])

    def count(self, start: Longs, true_ref: Ints) -> tuple[Longs, Longs]:
        """Matches and visited nodes of many events; of event i true_ref[start[i] : start[i + 1]] are true."""
        matches, visited = (np.zeros(len(start) - 1, np.int64) for _ in range(2))
        count_matches(self.tree, self.switches, self.level_of, start, true_ref, self.memory, matches, visited)
        return matches, visited

    def queued(self) -> list[list[int]]:
        """Who waited at each level for the last event, in order, as numbers of the growing tree."""
        return [
            self.node[self.memory.queue[begin : begin + filled]].tolist()
            for begin, filled in zip(
                self.tree.level_start.tolist(), self.memory.filled.tolist(), strict=False
            )
        ]

    @property
    def bytes_of_matching(self) -> int:
        """Bytes that matching reads, without the memory of a reader."""
        return sum(int(array.nbytes) for array in (*self.tree, self.level_of))


def _frozen(atree: GrowingAtree, node: Longs, level_of: Ints, roots: Ints, refs: int) -> FrozenAtree:
    number = np.full(len(atree.tree.node), -1, np.int32)
    number[node] = np.arange(len(node), dtype=np.int32)
    operator = atree.tree.node[node, OPERATOR].astype(np.uint8)
    child, parent = (number[column] for column in atree.live_edges())
    child_start, children = _grouped(parent, child, len(node))
    link_start, link = _grouped(child, parent, len(node))
    leaves = np.flatnonzero(operator == LEAF).astype(np.int32)
    ref = atree.tree.pool[atree.tree.node[node[leaves], OPERANDS]]
    leaf_start, leaf = _grouped(ref, leaves, refs)
    rules = np.flatnonzero(roots >= 0).astype(np.int32)
    rule_start, rule = _grouped(number[roots[rules]], rules, len(node))
    return FrozenAtree(
        operator,
        starts(np.bincount(level_of), np.int32),
        child_start,
        children,
        link_start,
        link,
        leaf_start,
        leaf,
        rule_start,
        rule,
    )


def _grouped(key: Ints, value: Ints, keys: int) -> tuple[Ints, Ints]:
    """The values of each key, ascending, as starts and values."""
    order = np.lexsort((value, key))
    return starts(np.bincount(key, minlength=keys), np.int32), value[order]


def _on_demand(tree: FrozenAtree, chosen: Ints) -> FrozenAtree:
    """The tree with links to ands from their access children alone; chosen[i] is a place in `child`."""
    parent = np.repeat(np.arange(len(tree.operator), dtype=np.int32), np.diff(tree.child_start))
    tells = tree.operator[parent] != AND
    tells[chosen[tree.operator == AND]] = True
    link_start, link = _grouped(tree.child[tells], parent[tells], len(tree.operator))
    return tree._replace(link_start=link_start, link=link)


def access_at_random(seed: int) -> Access:
    """Any child, as in the paper."""

    def choose(tree: FrozenAtree) -> Ints:
        rng = np.random.default_rng(seed)
        return rng.integers(0, np.maximum(np.diff(tree.child_start), 1)).astype(np.int32)

    return choose


def access_by_selectivity(likelihood: Doubles) -> Access:
    """The child that is least likely to hold; likelihood[r] is that of reference r."""

    def choose(tree: FrozenAtree) -> Ints:
        leaf_estimate = np.zeros(len(tree.operator))
        ref = np.repeat(np.arange(len(tree.leaf_start) - 1), np.diff(tree.leaf_start))
        leaf_estimate[tree.leaf] = likelihood[ref]
        estimate = estimate_nodes(tree, leaf_estimate)
        parent = np.repeat(np.arange(len(tree.operator)), np.diff(tree.child_start))
        order = np.lexsort((estimate[tree.child], parent))
        place = np.zeros(len(tree.operator), np.int32)
        inner = np.diff(tree.child_start) > 0
        first = tree.child_start[:-1][inner]
        place[inner] = order[first] - first
        return place

    return choose
