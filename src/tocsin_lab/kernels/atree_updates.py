"""Expressions enter and leave the A-Tree: algorithms 1, 4 and 5 of the paper.

Rules come as *groups*: an operator over operands, inner groups before those that use them.

    (a or b) and c         group 0   OR    a b
                           group 1   AND   group 0, c        root: group 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.node_references import FALSE_REF, sort_refs
from tocsin_lab.kernels.atree_adjustment import dissolve, give_children, self_adjust
from tocsin_lab.kernels.atree_covers import Workbench, choose_children, overlaps_allowed
from tocsin_lab.kernels.atree_nodes import (
    FREE,
    LEAF,
    NODES_MADE,
    OPERANDS,
    OPERATOR,
    POOL_MADE,
    USES,
    WIDTH,
    WIDTH_LIVE,
    Atree,
    enter_node,
    find_node,
    free_node,
    identify,
    make_node,
    strike_node,
    unlink_children,
)


class Groups(NamedTuple):
    """Rules as groups. A code >= 0 is a predicate's reference (0 and 1: true, false), -1 - g group g.

    operator        uint8[G]
    operand_start   int64[G+1]   operands of group g: operand[operand_start[g] : operand_start[g+1]]
    operand         int32[...]   codes
    root            int32[R]     the code of each rule
    """

    operator: Bytes
    operand_start: Longs
    operand: Ints
    root: Ints


class Policy(NamedTuple):
    """How nodes are made.

    sharing        one node for one expression; without it every occurrence has nodes of its own
    nary           an operand of a node's own operator gives it its operands instead
    reorganise     a new node takes existing ones as children
    self_adjust    existing nodes take a new one as child
    """

    sharing: bool
    nary: bool
    reorganise: bool
    self_adjust: bool


@kernel
def _leaf(tree: Atree, ref: int, sharing: bool, one: Ints) -> int:
    """The l-node of a predicate's reference, made if need be. `one` has room for one reference."""
    one[0] = ref
    value = identify(tree.identity, LEAF, one)
    if sharing:
        known = find_node(tree, value, LEAF, one)
        if known >= 0:
            return known
    node = make_node(tree, LEAF, one, value)
    if sharing:
        enter_node(tree.table, tree.identity, node)
    return node


@kernel
def _gather(tree: Atree, bench: Workbench, groups: Groups, group: int, node_of: Ints, policy: Policy) -> int:
    """Write the operands of a group as nodes to the workbench, ascending; how many."""
    operand = bench.operand
    operator = groups.operator[group]
    overlap = overlaps_allowed(operator)
    count = 0
    for i in range(groups.operand_start[group], groups.operand_start[group + 1]):
        code = groups.operand[i]
        node = _leaf(tree, code, policy.sharing, bench.one) if code >= 0 else np.int64(node_of[-1 - code])
        if policy.nary and tree.node[node, OPERATOR] == operator:
            begin = tree.node[node, OPERANDS]
            for j in range(begin, begin + tree.node[node, WIDTH]):
                operand[count] = tree.pool[j]
                count += 1
        else:
            operand[count] = node
            count += 1
    sort_refs(operand, 0, count)
    if not overlap or count == 0:
        return count
    kept = 1
    for i in range(1, count):
        if operand[i] != operand[kept - 1]:
            operand[kept] = operand[i]
            kept += 1
    return kept


@kernel
def _room_for(tree: Atree, bench: Workbench, groups: Groups, group: int, node_of: Ints) -> bool:
    """Whether a group can be added whatever its operands are; Atree says why edges follow from widths."""
    begin, end = groups.operand_start[group], groups.operand_start[group + 1]
    width = np.int64(0)
    for i in range(begin, end):
        code = groups.operand[i]
        width += 1 if code >= 0 else max(1, tree.node[node_of[-1 - code], WIDTH])
    nodes = tree.state[NODES_MADE] + (end - begin) + 1
    return (
        nodes <= tree.node.shape[0]
        and 2 * nodes <= tree.table.size
        and tree.state[POOL_MADE] + (end - begin) + 2 * width <= tree.pool.size
        and tree.state[WIDTH_LIVE] + (end - begin) + 2 * width <= tree.edge.shape[0]
        and 2 * width <= bench.operand.size
    )


@kernel
def _add_expression(tree: Atree, bench: Workbench, operator: int, width: int, policy: Policy) -> int:
    """The node of an operator over bench.operand[:width], found or made (algorithm 4)."""
    operand = bench.operand[:width]
    value = identify(tree.identity, operator, operand)
    if policy.sharing:
        known = find_node(tree, value, operator, operand)
        if known >= 0:
            return known
    node = make_node(tree, operator, operand, value)
    for i in range(width):
        tree.node[operand[i], USES] += 1
    if policy.reorganise and width > 2:
        count = choose_children(tree, bench, node)
    else:
        count = width
        for i in range(width):
            bench.chosen[i] = operand[i]
    give_children(tree, bench, node, count)
    if policy.sharing:
        enter_node(tree.table, tree.identity, node)
    if policy.self_adjust and width > 1:
        self_adjust(tree, bench, node)
    return node


@kernel
def add_groups(
    tree: Atree, bench: Workbench, groups: Groups, first: int, policy: Policy, node_of: Ints
) -> int:
    """Add groups from `first` on; node_of[g] becomes the node of group g.

    How far it came: when that is not the number of groups, the arrays need more room. Nodes that no
    group uses as an operand have use count 0 until use_roots counts the rules.
    """
    for group in range(first, groups.operator.size):
        if not _room_for(tree, bench, groups, group, node_of):
            return group
        width = _gather(tree, bench, groups, group, node_of, policy)
        if width == 1 and overlaps_allowed(groups.operator[group]):
            node_of[group] = bench.operand[0]
        else:
            node_of[group] = _add_expression(tree, bench, groups.operator[group], width, policy)
    return groups.operator.size


@kernel
def use_roots(
    tree: Atree, bench: Workbench, groups: Groups, policy: Policy, node_of: Ints, root: Ints
) -> None:
    """Count each rule as a use of its node, and take away what turned out not to be needed.

    root[i] becomes the node of rule i; -1 and -2 for the rules that are true or false whatever the event
    is. The tree has room for as many l-nodes as there are rules.
    """
    for rule in range(groups.root.size):
        code = groups.root[rule]
        if code >= 0 and code <= FALSE_REF:
            root[rule] = -1 - code
            continue
        node = _leaf(tree, code, policy.sharing, bench.one) if code >= 0 else np.int64(node_of[-1 - code])
        tree.node[node, USES] += 1
        root[rule] = node
    for group in range(node_of.size):
        node = node_of[group]
        if tree.node[node, OPERATOR] != FREE and tree.node[node, USES] == 0:
            _remove(tree, bench, policy.sharing, node)


@kernel
def _remove(tree: Atree, bench: Workbench, sharing: bool, node: int) -> None:
    """Take away a node that nothing uses, and whatever nothing uses then (algorithm 5)."""
    bench.doomed[0] = node
    count = 1
    while count > 0:
        count -= 1
        going = bench.doomed[count]
        dissolve(tree, bench, going)
        unlink_children(tree, going)
        if tree.node[going, OPERATOR] != LEAF:
            begin = tree.node[going, OPERANDS]
            for i in range(begin, begin + tree.node[going, WIDTH]):
                operand = tree.pool[i]
                tree.node[operand, USES] -= 1
                if tree.node[operand, USES] == 0:
                    bench.doomed[count] = operand
                    count += 1
        if sharing:
            strike_node(tree.table, tree.identity, going)
        free_node(tree, going)


@kernel
def drop_use(tree: Atree, bench: Workbench, sharing: bool, node: int) -> None:
    """A rule no longer uses its node."""
    tree.node[node, USES] -= 1
    if tree.node[node, USES] == 0:
        _remove(tree, bench, sharing, node)
