"""An expression is put together from nodes that exist: algorithm 2 of the A-Tree paper.

A *cover* of a node is a node of the same operator all of whose operands are operands of the first; it may
stand as a child for them. Under and, or covers may overlap; under xor, xnor they may not, because an
operand that counts twice changes the result.

A narrow expression has few parts, and each is looked up in the table of expressions: all its covers are
found. Those of a wide one are found upwards from its operands: a parent that says something else is no
way further, for everything above it says that too. A predicate of a popular field may have 100,000
parents, so this search is bounded: LOOKS parents of each child, CANDIDATES covers in all, and for and, or
the most popular operand is left out, since a cover has another operand by which it is found. What the
bounds leave out is still computed right, only not shared as well as it could be.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin_lab.kernels.atree_nodes import (
    AND,
    FIRST_PARENT,
    KINDS,
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
    find_node,
    identify,
)

NARROW = 5
"""Operands of an expression whose parts are all looked up: at most 25 of two operands or more."""

LOOKS = 12
"""Parents that are looked at from one child in search of covers."""

CANDIDATES = 128
"""Covers that are weighed for one expression, and nodes that may adopt one new node."""


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
    one         int32[1]      the reference of a predicate while its l-node is looked for
    """

    clock: Longs
    seen: Longs
    left: Ints
    candidate: Ints
    gain: Ints
    chosen: Ints
    waiting: Ints
    waits: Flags
    doomed: Ints
    operand: Ints
    one: Ints


@kernel
def overlaps_allowed(operator: int) -> bool:
    """Whether two covers of one node may share operands."""
    return operator == AND or operator == OR


@kernel
def covers_part(tree: Atree, left: Ints, node: int) -> bool:
    """Whether all operands of a node are among those that `left` counts."""
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        if left[tree.pool[i]] == 0:
            return False
    return True


@kernel
def count_operands(tree: Atree, left: Ints, node: int, by: int) -> None:
    """Add to the count of each operand of a node."""
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        left[tree.pool[i]] += by


@kernel
def forget_operands(tree: Atree, left: Ints, node: int) -> None:
    """Set the count of each operand of a node to none."""
    begin = tree.node[node, OPERANDS]
    for i in range(begin, begin + tree.node[node, WIDTH]):
        left[tree.pool[i]] = 0


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
            if tree.node[parent, WIDTH] < width and covers_part(tree, bench.left, parent):
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
def _look_up_parts(tree: Atree, bench: Workbench, node: int) -> int:
    """Collect every cover of a node of at most NARROW operands; how many."""
    operator = tree.node[node, OPERATOR]
    begin = tree.node[node, OPERANDS]
    width = tree.node[node, WIDTH]
    bench.clock[0] += 1
    found = 0
    for members in range(3, (1 << width) - 1):
        count = 0
        for i in range(width):
            if members >> i & 1:
                bench.chosen[count] = tree.pool[begin + i]
                count += 1
        if count < 2:
            continue
        part = bench.chosen[:count]
        known = find_node(tree, identify(tree.identity, operator, part), operator, part)
        if known >= 0 and bench.seen[known] != bench.clock[0]:
            bench.seen[known] = bench.clock[0]
            bench.candidate[found] = known
            found += 1
    return found


@kernel
def gain_of(tree: Atree, left: Ints, cover: int, overlap: bool) -> int:
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
    count_operands(tree, left, node, 1)
    if tree.node[node, WIDTH] <= NARROW:
        found = _look_up_parts(tree, bench, node)
    else:
        found = _find_covers(tree, bench, node)
    for i in range(found):
        bench.gain[i] = tree.node[bench.candidate[i], WIDTH]
    count = 0
    while found > 0:
        best = _best(tree, bench, found)
        if bench.gain[best] == 0:
            break
        cover = bench.candidate[best]
        gain = gain_of(tree, left, cover, overlap)
        if gain < bench.gain[best]:
            bench.gain[best] = gain
            continue
        bench.gain[best] = 0
        bench.chosen[count] = cover
        count += 1
        if overlap:
            forget_operands(tree, left, cover)
        else:
            count_operands(tree, left, cover, -1)
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
            count_operands(tree, left, child, 1)
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
                count_operands(tree, left, child, -1)
                continue
        elif left[child] > 1:
            left[child] -= 1
            continue
        bench.chosen[kept] = child
        kept += 1
    forget_operands(tree, left, node)
    return kept
