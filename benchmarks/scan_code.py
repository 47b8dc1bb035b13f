"""Conditions in postfix steps become the straight code that the scan runs (see scan.py for its layout).

First the tree of a condition is laid out in arrays, with every `not` a sign on a reference (2 * node +
sign), then code is written from the rule's end to its beginning, so that the places to go to are
known: while it is written, a place is how many instructions there are from it on. Nothing here calls
itself: compiled code that does cannot be kept on disk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.skeleton import NOT, XNOR, XOR

ACCEPT = 1023
REJECT = 1022

_AND = 0
_OR = 1
_XOR = 2
_LEAF = 3

_TO_ACCEPT = -1
_TO_REJECT = -2


class Tree(NamedTuple):
    """The condition at hand. Node n is its step n; `not` has none.

    kind        int8[n]        _AND, _OR, _XOR, _LEAF
    leaf        int32[n]       the predicate of a leaf
    kid_start   int32[n]       children: references kid[kid_start[n] : kid_end[n]]
    kid_end     int32[n]
    kid         int32[...]
    chance      float64[n, 2]  how likely it is to be true, and to be false
    cost        int32[n]       predicates below it
    stack       int32[n]       references waiting for their operator
    """

    kind: NDArray[np.int8]
    leaf: NDArray[np.int32]
    kid_start: NDArray[np.int32]
    kid_end: NDArray[np.int32]
    kid: NDArray[np.int32]
    chance: NDArray[np.float64]
    cost: NDArray[np.int32]
    stack: NDArray[np.int32]


class Code(NamedTuple):
    """The code at hand, its last instruction first, and what is being written.

    line    int32[m, 4]   predicate, places to go to when true, false, unknown
    size    int64[1]      instructions written
    frame   int32[n, 6]   node, whether true is wanted, where to go then, where to go else, how much
                          of it is done, and a place that it will need
    """

    line: NDArray[np.int32]
    size: NDArray[np.int64]
    frame: NDArray[np.int32]


@kernel
def compile_steps(
    start: NDArray[np.int64],
    step: NDArray[np.int32],
    ref: NDArray[np.int32],
    table: NDArray[np.int32],
    likely: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The code of conditions, and how many instructions each has (-1: too many).

    ref[s] is 2 * (predicate + 1) + sign for a step s >= 0; table[p] is what an instruction says about
    predicate p, likely[p] how likely it is to be true and to be false.
    """
    longest = 1
    for rule in range(start.size - 1):
        longest = max(longest, start[rule + 1] - start[rule])
    tree = Tree(
        np.empty(longest, np.int8),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty((longest, 2), np.float64),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
    )
    code = Code(np.empty((REJECT, 4), np.int32), np.zeros(1, np.int64), np.empty((longest + 1, 6), np.int32))
    sizes = np.empty(start.size - 1, np.int64)
    instruction = np.empty((step.size + 16, 4), np.int32)
    written = 0
    for rule in range(start.size - 1):
        root = _plant(start[rule], start[rule + 1], step, ref, likely, tree)
        _write_rule(root, tree, code)
        count = code.size[0]
        sizes[rule] = -1 if count == REJECT else count
        if count == REJECT:
            continue
        if written + count > instruction.shape[0]:
            larger = np.empty((2 * (written + count), 4), np.int32)
            larger[:written] = instruction[:written]
            instruction = larger
        for i in range(count):
            line = code.line[count - 1 - i]
            instruction[written, :3] = table[line[0]]
            ways = 0
            for j in range(3):
                way = count - line[1 + j]
                if line[1 + j] < 0:
                    way = ACCEPT if line[1 + j] == _TO_ACCEPT else REJECT
                ways |= way << (10 * j)
            instruction[written, 3] = ways
            written += 1
    return instruction[:written].copy(), sizes


@kernel
def _plant(
    begin: int,
    end: int,
    step: NDArray[np.int32],
    ref: NDArray[np.int32],
    likely: NDArray[np.float64],
    tree: Tree,
) -> int:
    """Lay out the tree of one condition; the reference to its root."""
    height = 0
    kids = 0
    for at in range(begin, end):
        node = at - begin
        what = step[at]
        if what == NOT:
            tree.stack[height - 1] ^= 1
            continue
        if what >= 0:
            tree.kind[node] = _LEAF
            tree.leaf[node] = ref[what] // 2 - 1
            tree.chance[node] = likely[tree.leaf[node]]
            tree.cost[node] = 1
            tree.stack[height] = 2 * node + (ref[what] & 1)
            height += 1
            continue
        exclusive = what == XOR or what == XNOR
        arity = 2 if exclusive else (-what - 16) // 2
        tree.kind[node] = _XOR if exclusive else (-what) & 1
        height -= arity
        tree.kid_start[node] = kids
        tree.cost[node] = 0
        for i in range(height, height + arity):
            tree.kid[kids] = tree.stack[i]
            tree.cost[node] += tree.cost[tree.stack[i] >> 1]
            kids += 1
        tree.kid_end[node] = kids
        _estimate(node, tree)
        tree.stack[height] = 2 * node + (1 if what == XNOR else 0)
        height += 1
    return tree.stack[0]


@kernel
def _estimate(node: int, tree: Tree) -> None:
    """How likely a node is to be true and to be false, taking its children as independent."""
    first = tree.kid[tree.kid_start[node]]
    true = tree.chance[first >> 1, first & 1]
    false = tree.chance[first >> 1, 1 - (first & 1)]
    for i in range(tree.kid_start[node] + 1, tree.kid_end[node]):
        ref = tree.kid[i]
        other_true = tree.chance[ref >> 1, ref & 1]
        other_false = tree.chance[ref >> 1, 1 - (ref & 1)]
        if tree.kind[node] == _AND:
            true = true * other_true
            false = 1.0 - (1.0 - false) * (1.0 - other_false)
        elif tree.kind[node] == _OR:
            true = 1.0 - (1.0 - true) * (1.0 - other_true)
            false = false * other_false
        else:
            true, false = true * other_false + false * other_true, true * other_true + false * other_false
    tree.chance[node, 0] = true
    tree.chance[node, 1] = false


@kernel
def _order(node: int, want: int, tree: Tree) -> None:
    """Children that are cheap and likely to decide come first.

    Where all of them are needed (an `and` that should be true, an `or` that should be false) a
    failure decides, else a success.
    """
    needs_all = (tree.kind[node] == _AND) == (want == 1)
    for i in range(tree.kid_start[node] + 1, tree.kid_end[node]):
        moved = tree.kid[i]
        key = _effort(moved, want, needs_all, tree)
        j = i
        while j > tree.kid_start[node] and _effort(tree.kid[j - 1], want, needs_all, tree) > key:
            tree.kid[j] = tree.kid[j - 1]
            j -= 1
        tree.kid[j] = moved


@kernel
def _effort(ref: int, want: int, needs_all: bool, tree: Tree) -> float:
    """Predicates to ask for each decision."""
    succeeds = tree.chance[ref >> 1, (ref & 1) if want == 1 else 1 - (ref & 1)]
    decides = 1.0 - succeeds if needs_all else succeeds
    return tree.cost[ref >> 1] / max(decides, 1e-9)


@kernel
def _write_rule(root: int, tree: Tree, code: Code) -> None:
    """Write the code of a whole tree; `size` is REJECT when there was no room for it."""
    code.size[0] = 0
    depth = _push(code, 0, root, 1, _TO_ACCEPT, _TO_REJECT)
    place = 0
    while depth > 0 and code.size[0] < REJECT:
        frame = code.frame[depth - 1]
        node, want, yes, no, phase = frame[0], frame[1], frame[2], frame[3], frame[4]
        frame[4] += 1
        first = tree.kid_start[node]
        if tree.kind[node] == _LEAF:
            place = _line(code, tree.leaf[node], yes if want else no, no if want else yes, no)
            depth -= 1
        elif tree.kind[node] == _XOR:
            a, b = tree.kid[first], tree.kid[first + 1]
            if tree.kind[a >> 1] != _LEAF:
                a, b = b, a
            if phase == 0:
                depth = _push(code, depth, b, 1 - want, yes, no)
            elif phase == 1:
                frame[5] = place
                depth = _push(code, depth, b, want, yes, no)
            elif tree.kind[a >> 1] == _LEAF:
                swapped = a & 1 == 1
                when_true = place if swapped else frame[5]
                when_false = frame[5] if swapped else place
                place = _line(code, tree.leaf[a >> 1], when_true, when_false, no)
                depth -= 1
            elif phase == 2:
                depth = _push(code, depth, a, 0, place, no)
            elif phase == 3:
                depth = _push(code, depth, a, 1, frame[5], place)
            else:
                depth -= 1
        else:
            needs_all = (tree.kind[node] == _AND) == (want == 1)
            if phase == 0:
                _order(node, want, tree)
                place = yes if needs_all else no
            at = tree.kid_end[node] - 1 - phase
            if at < first:
                depth -= 1
            elif needs_all:
                depth = _push(code, depth, tree.kid[at], want, place, no)
            else:
                depth = _push(code, depth, tree.kid[at], want, yes, place)


@kernel
def _push(code: Code, depth: int, ref: int, want: int, yes: int, no: int) -> int:
    """Ask for the code of a reference next; the new depth."""
    frame = code.frame[depth]
    frame[0] = ref >> 1
    frame[1] = want ^ (ref & 1)
    frame[2] = yes
    frame[3] = no
    frame[4] = 0
    return depth + 1


@kernel
def _line(code: Code, predicate: int, when_true: int, when_false: int, unknown: int) -> int:
    """Write one instruction; its place."""
    line = code.line[code.size[0]]
    line[0] = predicate
    line[1] = when_true
    line[2] = when_false
    line[3] = unknown
    code.size[0] += 1
    return code.size[0]
