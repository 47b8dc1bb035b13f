"""What exists changes its children: algorithm 3 and section 4.2.4 of the A-Tree paper.

A new node that is part of existing ones becomes their child (self-adjustment); a node that goes leaves
its children to its parents. Either way levels are repaired upwards. The paper's algorithm 3 looks at the
parents of the new node's children only; here the search goes on upwards, since a node that the new one is
part of may have its operands through other covers.
"""

from __future__ import annotations

from tocsin.arrays.jit import kernel
from tocsin_lab.kernels.atree_covers import (
    CANDIDATES,
    Workbench,
    count_operands,
    covers_part,
    drop_needless,
    forget_operands,
    gain_of,
    overlaps_allowed,
)
from tocsin_lab.kernels.atree_nodes import (
    CHILD,
    FIRST_CHILD,
    FIRST_PARENT,
    KINDS,
    LEVEL,
    NEXT_CHILD,
    NEXT_PARENT,
    OPERANDS,
    OPERATOR,
    PARENT,
    PARENT_KINDS,
    PARENT_OPERATOR,
    USES,
    WIDTH,
    Atree,
    link,
    unlink_children,
)

ADJUST_LOOKS = 128
"""Nodes that are looked at in search of those that a new node is part of."""

WIDEST_ADJUSTED = 1024
"""A node with more operands keeps its children: giving it others takes as long as it is wide."""


@kernel
def _level_of(tree: Atree, node: int) -> int:
    deepest = 0
    edge = tree.node[node, FIRST_CHILD]
    while edge >= 0:
        deepest = max(deepest, tree.node[tree.edge[edge, CHILD], LEVEL])
        edge = tree.edge[edge, NEXT_CHILD]
    return deepest + 1


@kernel
def _repair_levels(tree: Atree, bench: Workbench, node: int) -> None:
    """Set the level of a node and of all above it whose level that changes."""
    bench.waiting[0] = node
    count = 1
    while count > 0:
        count -= 1
        at = bench.waiting[count]
        bench.waits[at] = False
        level = _level_of(tree, at)
        if level == tree.node[at, LEVEL]:
            continue
        tree.node[at, LEVEL] = level
        edge = tree.node[at, FIRST_PARENT]
        while edge >= 0:
            parent = tree.edge[edge, PARENT]
            edge = tree.edge[edge, NEXT_PARENT]
            if not bench.waits[parent]:
                bench.waits[parent] = True
                bench.waiting[count] = parent
                count += 1


@kernel
def give_children(tree: Atree, bench: Workbench, node: int, count: int) -> None:
    """Make the chosen children those of the node, and repair levels upwards."""
    unlink_children(tree, node)
    for i in range(count - 1, -1, -1):
        link(tree, bench.chosen[i], node)
    _repair_levels(tree, bench, node)


# ---- Algorithm 3: what exists is put together with a new node


@kernel
def _is_part(tree: Atree, part: int, whole: int) -> bool:
    """Whether every operand of one node is an operand of the other, as often; both are sorted."""
    at = tree.node[whole, OPERANDS]
    end = at + tree.node[whole, WIDTH]
    begin = tree.node[part, OPERANDS]
    for i in range(begin, begin + tree.node[part, WIDTH]):
        while at < end and tree.pool[at] < tree.pool[i]:
            at += 1
        if at == end or tree.pool[at] != tree.pool[i]:
            return False
        at += 1
    return True


@kernel
def _find_wholes(tree: Atree, bench: Workbench, node: int) -> int:
    """Collect nodes of the same operator that a node is a proper part of; how many.

    They are above each of its operands, so the operand with the fewest uses shows them all.
    """
    operator = tree.node[node, OPERATOR]
    begin = tree.node[node, OPERANDS]
    rarest = tree.pool[begin]
    for i in range(begin + 1, begin + tree.node[node, WIDTH]):
        if tree.node[tree.pool[i], USES] < tree.node[rarest, USES]:
            rarest = tree.pool[i]
    bench.clock[0] += 1
    bench.seen[node] = bench.clock[0]
    bench.waiting[0] = rarest
    visited, count, found = 0, 1, 0
    while visited < count:
        edge = tree.node[bench.waiting[visited], FIRST_PARENT]
        visited += 1
        while edge >= 0 and count < ADJUST_LOOKS:
            row = tree.edge[edge]
            edge = row[NEXT_PARENT]
            parent = row[PARENT]
            if row[PARENT_OPERATOR] != operator or bench.seen[parent] == bench.clock[0]:
                continue
            bench.seen[parent] = bench.clock[0]
            bench.waiting[count] = parent
            count += 1
            if tree.node[node, KINDS] & ~row[PARENT_KINDS] != 0 or found == CANDIDATES:
                continue
            wider = tree.node[node, WIDTH] < tree.node[parent, WIDTH] <= WIDEST_ADJUSTED
            if wider and _is_part(tree, node, parent):
                bench.candidate[found] = parent
                found += 1
    return found


@kernel
def _choose_with(tree: Atree, bench: Workbench, node: int, part: int) -> int:
    """Choose for `node` the child `part` and those present children that it cannot stand for.

    How many; 0 when `part` stands for no present child, or not exactly for some (xor, xnor).
    """
    operator = tree.node[node, OPERATOR]
    overlap = overlaps_allowed(operator)
    left = bench.left
    count_operands(tree, left, part, 1)
    bench.chosen[0] = part
    count = 1
    replaced = 0
    edge = tree.node[node, FIRST_CHILD]
    while edge >= 0:
        child = tree.edge[edge, CHILD]
        edge = tree.edge[edge, NEXT_CHILD]
        is_cover = tree.node[child, OPERATOR] == operator
        if overlap:
            stands_for = covers_part(tree, left, child) if is_cover else left[child] > 0
        elif is_cover:
            stands_for = gain_of(tree, left, child, False) > 0
            if stands_for:
                count_operands(tree, left, child, -1)
                replaced += tree.node[child, WIDTH]
        else:
            stands_for = left[child] > 0
            if stands_for:
                left[child] -= 1
                replaced += 1
        if stands_for and overlap:
            replaced += 1
        if not stands_for:
            bench.chosen[count] = child
            count += 1
    forget_operands(tree, left, part)
    if replaced == 0 or (not overlap and replaced < tree.node[part, WIDTH]):
        return 0
    return drop_needless(tree, bench, node, count) if overlap else count


@kernel
def self_adjust(tree: Atree, bench: Workbench, node: int) -> None:
    """Let the nodes that a new node is part of use it as a child."""
    found = _find_wholes(tree, bench, node)
    for i in range(found):
        whole = bench.candidate[i]
        count = _choose_with(tree, bench, whole, node)
        if count > 0:
            give_children(tree, bench, whole, count)


# ---- Section 4.2.4: a node goes, and those that it covered for use its children


@kernel
def dissolve(tree: Atree, bench: Workbench, node: int) -> None:
    """Give the children of a node to each of its parents in its stead."""
    while tree.node[node, FIRST_PARENT] >= 0:
        parent = tree.edge[tree.node[node, FIRST_PARENT], PARENT]
        overlap = overlaps_allowed(tree.node[parent, OPERATOR])
        bench.clock[0] += 1
        count = 0
        edge = tree.node[parent, FIRST_CHILD]
        while edge >= 0:
            child = tree.edge[edge, CHILD]
            edge = tree.edge[edge, NEXT_CHILD]
            if child != node:
                bench.seen[child] = bench.clock[0]
                bench.chosen[count] = child
                count += 1
        edge = tree.node[node, FIRST_CHILD]
        while edge >= 0:
            child = tree.edge[edge, CHILD]
            edge = tree.edge[edge, NEXT_CHILD]
            if not overlap or bench.seen[child] != bench.clock[0]:
                bench.chosen[count] = child
                count += 1
        if overlap:
            count = drop_needless(tree, bench, parent, count)
        give_children(tree, bench, parent, count)
