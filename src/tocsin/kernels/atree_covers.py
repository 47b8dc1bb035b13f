"""How a node is computed from its operands: covers are found, chosen, adopted and dissolved.

Algorithms 2 and 3 of the A-Tree paper. A *cover* of a node is a node of the same operator all of whose
operands are operands of the first; it may stand as a child for them. Under and, or covers may overlap;
under xor, xnor they may not, because an operand that counts twice changes the result.

Covers of an expression are found upwards from its operands: a parent that says something else is no way
further, for everything above it says that too. A predicate of a popular field may have 100,000 parents,
so the search is bounded: LOOKS parents of each child, CANDIDATES covers in all, and for and, or the most
popular operand is left out, since a cover has another operand by which it is found. What the bounds
leave out is still computed right, only not shared as well as it could be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.atree import (
    AND,
    CHILD,
    FIRST_CHILD,
    FIRST_PARENT,
    KINDS,
    LEVEL,
    NEXT_CHILD,
    NEXT_PARENT,
    OPERANDS,
    OPERATOR,
    OR,
    PARENT,
    PARENT_KINDS,
    PARENT_OPERATOR,
    USES,
    WIDTH,
    Atree,
    link,
    unlink_children,
)
from tocsin.kernels.jit import kernel

LOOKS = 12
"""Parents that are looked at from one child in search of covers."""

CANDIDATES = 128
"""Covers that are weighed for one expression, and nodes that may adopt one new node."""

ADJUST_LOOKS = 128
"""Nodes that are looked at in search of those that a new node is part of."""


class Workbench(NamedTuple):
    """Room for the work on one node at a time; nothing in it outlives that.

    clock       int64[1]      the number of the present search
    seen        int64[N]      the last search that came by a node
    left        int32[N]      of an operand: how often it is still to be covered, or how many cover it
    candidate   int32[...]    nodes found by a search
    gain        int32[...]    what each would cover; never less than the truth
    chosen      int32[W]      the children that a node shall have; twice the widest node
    waiting     int32[N]      nodes that a walk has still to visit
    waits       bool[N]       which these are, while levels are repaired
    doomed      int32[N]      nodes that nothing uses any more
    operand     int32[W]      the operands of an expression while they are gathered
    """

    clock: NDArray[np.int64]
    seen: NDArray[np.int64]
    left: NDArray[np.int32]
    candidate: NDArray[np.int32]
    gain: NDArray[np.int32]
    chosen: NDArray[np.int32]
    waiting: NDArray[np.int32]
    waits: NDArray[np.bool_]
    doomed: NDArray[np.int32]
    operand: NDArray[np.int32]


@kernel
def overlaps_allowed(operator: int) -> bool:
    """Whether two covers of one node may share operands."""
    return operator == AND or operator == OR


@kernel
def _covers_part(tree: Atree, left: NDArray[np.int32], node: int) -> bool:
    """Whether all operands of a node are among those that `left` counts."""
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        if left[tree.pool[i]] == 0:
            return False
    return True


@kernel
def _count_operands(tree: Atree, left: NDArray[np.int32], node: int, by: int) -> None:
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        left[tree.pool[i]] += by


@kernel
def _forget_operands(tree: Atree, left: NDArray[np.int32], node: int) -> None:
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        left[tree.pool[i]] = 0


# ---- Algorithm 2: an expression is put together from what exists


@kernel
def _look_up_from(tree: Atree, bench: Workbench, child: int, node: int, found: int) -> int:
    """Add to the candidates the covers of `node` among the first parents of `child`."""
    operator = tree.node[node, OPERATOR]
    other_kinds = ~tree.node[node, KINDS]
    width = tree.node[node, WIDTH]
    clock = bench.clock[0]
    edge = tree.node[child, FIRST_PARENT]
    for _ in range(LOOKS):
        if edge < 0 or found == CANDIDATES:
            break
        row = tree.edge[edge]
        edge = row[NEXT_PARENT]
        if row[PARENT_OPERATOR] != operator or row[PARENT_KINDS] & other_kinds != 0:
            continue
        parent = row[PARENT]
        if bench.seen[parent] != clock:
            bench.seen[parent] = clock
            if tree.node[parent, WIDTH] < width and _covers_part(tree, bench.left, parent):
                bench.candidate[found] = parent
                found += 1
    return found


@kernel
def _find_covers(tree: Atree, bench: Workbench, node: int) -> int:
    """Collect covers of a node that has no edges yet; `left` holds its operands. How many."""
    begin = tree.node[node, OPERANDS]
    end = begin + tree.node[node, WIDTH]
    popular = -1
    if overlaps_allowed(tree.node[node, OPERATOR]):
        popular = tree.pool[begin]
        for i in range(begin + 1, end):
            if tree.node[tree.pool[i], USES] > tree.node[popular, USES]:
                popular = tree.pool[i]
    bench.clock[0] += 1
    found = 0
    for i in range(begin, end):
        if tree.pool[i] != popular:
            found = _look_up_from(tree, bench, tree.pool[i], node, found)
    at = 0
    while at < found:
        found = _look_up_from(tree, bench, bench.candidate[at], node, found)
        at += 1
    return found


@kernel
def _gain(tree: Atree, left: NDArray[np.int32], cover: int, overlap: bool) -> int:
    """How many operands a cover would take off those that are left; 0 when it must not be used."""
    begin = tree.node[cover, OPERANDS]
    end = begin + tree.node[cover, WIDTH]
    gain = 0
    repeats = 0
    for i in range(begin, end):
        operand = tree.pool[i]
        if overlap:
            if left[operand] > 0:
                gain += 1
            continue
        repeats = repeats + 1 if i > begin and tree.pool[i - 1] == operand else 1
        if repeats > left[operand]:
            return 0
        gain += 1
    return gain


@kernel
def _best(tree: Atree, bench: Workbench, found: int) -> int:
    """The candidate of largest gain; of equals the one of largest ID, whatever was there first."""
    best = 0
    for i in range(1, found):
        if bench.gain[i] > bench.gain[best] or (
            bench.gain[i] == bench.gain[best]
            and tree.identity[bench.candidate[i]] > tree.identity[bench.candidate[best]]
        ):
            best = i
    return best


@kernel
def choose_children(tree: Atree, bench: Workbench, node: int) -> int:
    """Choose children for a node that has none yet, by greedy cover; how many.

    A cover that takes only one operand off is chosen too, as in the paper: it costs no edge, and as the
    stricter condition it is the better child to wait for.
    """
    overlap = overlaps_allowed(tree.node[node, OPERATOR])
    left = bench.left
    _count_operands(tree, left, node, 1)
    found = _find_covers(tree, bench, node)
    for i in range(found):
        bench.gain[i] = tree.node[bench.candidate[i], WIDTH]
    count = 0
    while found > 0:
        best = _best(tree, bench, found)
        if bench.gain[best] == 0:
            break
        cover = bench.candidate[best]
        gain = _gain(tree, left, cover, overlap)
        if gain < bench.gain[best]:
            bench.gain[best] = gain
            continue
        bench.gain[best] = 0
        bench.chosen[count] = cover
        count += 1
        if overlap:
            _forget_operands(tree, left, cover)
        else:
            _count_operands(tree, left, cover, -1)
    covers = count
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        operand = tree.pool[i]
        if left[operand] > 0:
            left[operand] -= 1
            bench.chosen[count] = operand
            count += 1
    if covers > 1 and overlap:
        return drop_needless(tree, bench, node, count)
    return count


@kernel
def drop_needless(tree: Atree, bench: Workbench, node: int, count: int) -> int:
    """Leave out chosen children whose operands the others cover; how many stay. For and, or."""
    operator = tree.node[node, OPERATOR]
    left = bench.left
    for i in range(count):
        child = bench.chosen[i]
        if tree.node[child, OPERATOR] == operator:
            _count_operands(tree, left, child, 1)
        else:
            left[child] += 1
    kept = 0
    for i in range(count):
        child = bench.chosen[i]
        if tree.node[child, OPERATOR] == operator:
            needless = True
            begin = tree.node[child, OPERANDS]
            for j in range(begin, begin + tree.node[child, WIDTH]):
                if left[tree.pool[j]] < 2:
                    needless = False
                    break
            if needless:
                _count_operands(tree, left, child, -1)
                continue
        elif left[child] > 1:
            left[child] -= 1
            continue
        bench.chosen[kept] = child
        kept += 1
    _forget_operands(tree, left, node)
    return kept


# ---- Children change


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
            if tree.node[parent, WIDTH] > tree.node[node, WIDTH] and _is_part(tree, node, parent):
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
    _count_operands(tree, left, part, 1)
    bench.chosen[0] = part
    count = 1
    replaced = 0
    edge = tree.node[node, FIRST_CHILD]
    while edge >= 0:
        child = tree.edge[edge, CHILD]
        edge = tree.edge[edge, NEXT_CHILD]
        is_cover = tree.node[child, OPERATOR] == operator
        if overlap:
            stands_for = _covers_part(tree, left, child) if is_cover else left[child] > 0
        elif is_cover:
            stands_for = _gain(tree, left, child, False) > 0
            if stands_for:
                _count_operands(tree, left, child, -1)
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
    _forget_operands(tree, left, part)
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
