"""Conditions become one shared graph: every subexpression is stored once.

A node is a leaf (a predicate) or an AND over references to other nodes; a reference is
2 * node + sign, sign 1 meaning *not*. So an OR is the negation of an AND of negations, De Morgan
costs nothing, and order, grouping, repetition and double negation leave no trace:

    a and (b and a)      AND(+a, +b)
    not a or not b      -AND(+a, +b)

Node 0 is the constant true, and a xor is written out (node_references.py). No complement law is
applied: `a and not a` is a node like any other.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.node_references import FALSE_REF, TRUE_REF, close_and, close_xor, sort_refs
from tocsin.conditions.kernels.operands import REF, XOR, OperandStack, join, join_exclusive
from tocsin.conditions.kernels.shared_nodes import SharedNodes, ask_for_slots, hash_children, with_room
from tocsin.conditions.kernels.skeleton import AND_BASE, FALSE, NOT, TRUE, XNOR
from tocsin.conditions.kernels.skeleton import XOR as XOR_STEP

_NODES_OF_STEP = 6
_CHILDREN_OF_STEP = 12
"""At most: `a xor b` is six nodes of two children each."""

_AT_ONCE = 1024
"""Steps whose nodes are asked of the memory at once."""


@inner_kernel
def _gather_leaves(step: Ints, first: int, count: int, leaf_ref: Ints, ref: Ints, value: Words) -> int:
    """Write for `count` steps the references of those that are predicates.

    Groups of nothing but predicates are put in order at once, and `value` gets the hash that their
    node, if they become one, most likely has: the number of these.
    """
    groups = 0
    run = 0
    for i in range(count):
        code = np.int64(step[first + i])
        if code >= 0:
            ref[i] = leaf_ref[code]
            run += 1
            continue
        width = (AND_BASE - code) >> 1
        if code <= AND_BASE and width <= run:
            sort_refs(ref, i - width, i)
            value[groups] = hash_children(ref, i - width, i, -code & 1)
            groups += 1
        run = 0
    return groups


@kernel
def share_conditions(
    nodes: SharedNodes, step_start: Longs, step: Ints, leaf_ref: Ints, root: Ints
) -> SharedNodes:
    """Add conditions given as postfix steps; root[i] becomes the reference to condition i.

    leaf_ref[p] is the reference of predicate p. The graph that is given back has grown; the one that
    was given is not to be used again.
    """
    longest = 0
    for condition in range(root.size):
        longest = max(longest, step_start[condition + 1] - step_start[condition])
    stack = OperandStack(
        np.empty(longest + 2, np.uint8),
        np.empty(longest + 2, np.uint8),
        np.empty(longest + 2, np.int64),
        np.empty(longest + 2, np.int32),
    )
    scratch = stack.scratch
    xor_of = np.full(nodes.mate.size, -1, np.int32)
    ref = np.empty(max(longest, _AT_ONCE), np.int32)
    value = np.empty(ref.size, np.uint64)
    batch_end = 0
    for condition in range(root.size):
        first = step_start[condition]
        last = step_start[condition + 1]
        if condition == batch_end:
            batch_start = first
            while batch_end < root.size and step_start[batch_end + 1] - batch_start <= ref.size:
                batch_end += 1
            steps = step_start[batch_end] - batch_start
            nodes = with_room(nodes, _NODES_OF_STEP * steps, _CHILDREN_OF_STEP * steps)
            if xor_of.size < nodes.mate.size:
                known = xor_of
                xor_of = np.full(nodes.mate.size, -1, np.int32)
                xor_of[: known.size] = known
            groups = _gather_leaves(step, batch_start, steps, leaf_ref, ref, value)
            ask_for_slots(nodes, value, groups)
        top = 0  # entries on the stack
        filled = 0  # of scratch
        for at in range(first, last):
            code = step[at]
            if code >= FALSE:
                stack.kind[top] = REF
                stack.start[top] = filled
                if code >= 0:
                    scratch[filled] = ref[at - batch_start]
                else:
                    scratch[filled] = TRUE_REF if code == TRUE else FALSE_REF
                filled += 1
                top += 1
            elif code == NOT:
                if stack.kind[top - 1] == REF:
                    scratch[filled - 1] ^= 1
                else:
                    stack.sign[top - 1] ^= 1
            else:
                stack.start[top] = filled
                if code == XOR_STEP or code == XNOR:
                    base = top - 2
                    filled = join_exclusive(nodes, stack, base, top, np.int64(code == XNOR))
                else:
                    base = top - np.int64((AND_BASE - code) >> 1)
                    filled = join(nodes, stack, xor_of, base, top, np.int64(-code & 1))
                top = base + 1
        if stack.kind[0] == REF:
            root[condition] = scratch[0]
        elif stack.kind[0] == XOR:
            root[condition] = close_xor(nodes, scratch, xor_of, 0, filled, filled, np.int64(stack.sign[0]))
        else:
            root[condition] = close_and(nodes, scratch, 0, filled, np.int64(stack.sign[0]))
    return nodes
