"""What must hold of an A-Tree after any insert and any delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tocsin_lab.atree.atree import GrowingAtree, NodeView
from tocsin_lab.kernels.atree_nodes import (
    AND,
    EDGES_FREE,
    EDGES_LIVE,
    EDGES_MADE,
    KINDS,
    LEAF,
    LEVEL,
    NODES_FREE,
    NODES_LIVE,
    NODES_MADE,
    NOT,
    OPERATOR,
    OR,
    PARENT,
    PARENT_KINDS,
    PARENT_OPERATOR,
    POOL_CLASSES,
    POOL_FREE,
    POOL_MADE,
    WIDTH_LIVE,
    XNOR,
    XOR,
    block_class,
)


def check_invariants(atree: GrowingAtree, roots: Iterable[int]) -> None:
    """Fail unless the structure is whole; `roots` are the nodes of the rules in it, once for each rule."""
    views = {node: atree.view(node) for node in atree.live_nodes().tolist()}
    _check_counts(atree, views)
    _check_edges(atree, views)
    _check_uses(views, [root for root in roots if root >= 0])
    for node, view in views.items():
        _check_node(views, node, view, nary=atree.policy.nary)
    if atree.policy.sharing:
        _check_table(atree, views)


def _check_counts(atree: GrowingAtree, views: dict[int, NodeView]) -> None:
    """Everything made is in use or waits in a chain, and nothing is in both."""
    state = atree.tree.state
    assert len(views) == state[NODES_LIVE] == len(atree)
    free_nodes = _walk(int(state[NODES_FREE]), lambda node: int(atree.tree.node[node, LEVEL]))
    assert sorted([*free_nodes, *views]) == list(range(state[NODES_MADE]))
    free_edges = _walk(int(state[EDGES_FREE]), lambda edge: int(atree.tree.edge[edge, 0]))
    assert len(set(free_edges)) == len(free_edges) == state[EDGES_MADE] - state[EDGES_LIVE]
    assert sum(len(view.operands) for view in views.values()) == state[WIDTH_LIVE]
    blocks = sum(1 << block_class(len(view.operands)) for view in views.values())
    for size_class in range(POOL_CLASSES):
        free = _walk(int(state[POOL_FREE + size_class]), lambda at: int(atree.tree.pool[at]))
        blocks += len(free) << size_class
    assert blocks == state[POOL_MADE]


def _walk(first, onward):
    found = []
    while first >= 0:
        found.append(first)
        first = onward(first)
    return found


def _check_edges(atree: GrowingAtree, views: dict[int, NodeView]) -> None:
    down = Counter((child, node) for node, view in views.items() for child in view.children)
    up = Counter((node, parent) for node, view in views.items() for parent in view.parents)
    child, parent = atree.live_edges()
    assert down == up == Counter(zip(child.tolist(), parent.tolist(), strict=True))
    assert atree.edges == down.total()
    rows = atree.tree.edge[: int(atree.tree.state[EDGES_MADE])]
    for row in rows[rows[:, PARENT] >= 0]:
        above = atree.tree.node[row[PARENT]]
        assert (row[PARENT_OPERATOR], row[PARENT_KINDS]) == (above[OPERATOR], above[KINDS])


def _check_uses(views: dict[int, NodeView], roots: list[int]) -> None:
    uses = Counter(roots)
    for view in views.values():
        if view.operator != LEAF:
            uses.update(view.operands)
    assert uses == {node: view.uses for node, view in views.items()}


def _check_node(views: dict[int, NodeView], node: int, view: NodeView, nary: bool) -> None:
    assert list(view.operands) == sorted(view.operands)
    if view.operator == LEAF:
        assert view.level == 1
        assert view.children == ()
        return
    assert view.level == 1 + max(views[child].level for child in view.children)
    if view.operator == NOT:
        assert view.children == view.operands
        assert len(view.operands) == 1
        return
    assert len(view.operands) >= 2
    if not nary:
        assert len(view.operands) == 2
        assert sorted(view.children) == list(view.operands)
        return
    assert all(views[operand].operator != view.operator for operand in view.operands)
    covered: Counter[int] = Counter()
    for child in view.children:
        is_cover = views[child].operator == view.operator
        covered.update(views[child].operands if is_cover else [child])
        if is_cover:
            assert len(views[child].operands) < len(view.operands)
    if view.operator in (XOR, XNOR):
        assert covered == Counter(view.operands)
        return
    assert view.operator in (AND, OR)
    assert len(set(view.operands)) == len(view.operands)
    assert set(covered) == set(view.operands)
    for child in view.children:
        own = views[child].operands if views[child].operator == view.operator else (child,)
        assert any(covered[operand] == 1 for operand in own), "a child that the others make needless"


def _check_table(atree: GrowingAtree, views: dict[int, NodeView]) -> None:
    table = atree.tree.table
    assert sorted(table[table >= 0].tolist()) == sorted(views)
    assert 2 * len(views) <= len(table)
    assert np.log2(len(table)) % 1 == 0
    for node, view in views.items():
        assert atree.find(view.operator, list(view.operands)) == node
