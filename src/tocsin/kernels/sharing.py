"""Conditions become one shared graph: every subexpression is stored once.

A node is a leaf (a predicate) or an AND over references to other nodes; a reference is
2 * node + sign, sign 1 meaning *not*. So an OR is the negation of an AND of negations, De Morgan
costs nothing, and order, grouping, repetition and double negation leave no trace:

    a and (b and a)      AND(+a, +b)
    not a or not b      -AND(+a, +b)

Node 0 is the constant true. `a xor b` is (a and not b) or (not a and b), and `a xnor b` is
(a and b) or (not a and not b): exact in three-valued logic, where both are unknown when a side is.
The two are made together and know each other as `mate`, so that the negation of one is found as the
other. No complement law is applied: `a and not a` is a node like any other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import inner_kernel, kernel
from tocsin.kernels.shared_nodes import (
    SharedNodes,
    ask_for_slots,
    hash_children,
    intern,
    with_room,
)
from tocsin.kernels.skeleton import AND_BASE, FALSE, NOT, TRUE, XNOR, XOR

TRUE_REF = 0
FALSE_REF = 1

_NODES_OF_STEP = 6
_CHILDREN_OF_STEP = 12
"""At most: `a xor b` is six nodes of two children each."""

_AT_ONCE = 1024
"""Steps whose nodes are asked of the memory at once."""

_REF = 0
_AND = 1
_XOR = 2


@inner_kernel
def sort_refs(values: NDArray[np.integer], start: int, end: int) -> None:
    """Ascending, in place, by Shell's method: groups are small, and a huge one is rare."""
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            value = values[i]
            j = i
            while j >= start + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@inner_kernel
def _close_and(nodes: SharedNodes, scratch: NDArray[np.int32], start: int, end: int, negated: int) -> int:
    """The reference to the AND of scratch[start:end] (an open group), or to its negation."""
    sort_refs(scratch, start, end)
    kept = start + 1
    for i in range(start + 1, end):
        if scratch[i] != scratch[kept - 1]:
            scratch[kept] = scratch[i]
            kept += 1
    return 2 * intern(nodes, scratch, start, kept) ^ negated


@kernel
def _pair(nodes: SharedNodes, scratch: NDArray[np.int32], top: int, a: int, b: int) -> int:
    """The reference to `a and b`, with room at scratch[top:top + 2]."""
    if a == b:
        return a
    scratch[top] = min(a, b)
    scratch[top + 1] = max(a, b)
    return 2 * intern(nodes, scratch, top, top + 2)


@inner_kernel
def _differ(
    nodes: SharedNodes,
    scratch: NDArray[np.int32],
    top: int,
    holds: int,
    fails: int,
    other: int,
) -> int:
    """The reference to `a xor other`, where holds is `a` and fails is `not a` in its own form."""
    left = _pair(nodes, scratch, top, holds, other ^ 1)
    right = _pair(nodes, scratch, top, fails, other)
    return _pair(nodes, scratch, top, left ^ 1, right ^ 1) ^ 1


@kernel
def _close_xor(
    nodes: SharedNodes,
    scratch: NDArray[np.int32],
    xor_of: NDArray[np.int32],
    start: int,
    end: int,
    top: int,
    parity: int,
) -> int:
    """The reference to the xor of scratch[start:end] (all positive), negated when parity is 1.

    scratch[top : top + 2] is free. xor_of remembers, by the node `a and not b`, the reference to
    `a xor b`, so that a xor that is known takes one look and not six.
    """
    sort_refs(scratch, start, end)
    holds = np.int64(scratch[start])
    fails = holds ^ 1
    for i in range(start + 1, end):
        other = np.int64(scratch[i])
        alone = _pair(nodes, scratch, top, holds, other ^ 1) >> 1
        known = np.int64(xor_of[alone])
        if known >= 0:
            holds = known
            fails = np.int64(nodes.mate[known >> 1])
            continue
        differ = _differ(nodes, scratch, top, holds, fails, other)
        agree = _differ(nodes, scratch, top, holds, fails, other ^ 1)
        if differ & 1 and agree & 1:
            nodes.mate[differ >> 1] = agree
            nodes.mate[agree >> 1] = differ
            xor_of[alone] = differ
        holds = differ
        fails = agree
    return fails if parity else holds


class OperandStack(NamedTuple):
    """Operands while a condition is read: finished references and still open ANDs and XORs.

    The operands of all entries lie side by side in `scratch`, so joining an AND to an AND moves
    nothing and makes no node: a group is closed only when something of another kind contains it. An
    open group has at least two different operands that are no constants.

    kind, sign    uint8[d]   reference, AND or XOR; 1 for a negated group
    start         int64[d]   its first operand in scratch
    scratch       int32[d]   references; all arrays are longer than a condition has steps, by two
    """

    kind: NDArray[np.uint8]
    sign: NDArray[np.uint8]
    start: NDArray[np.int64]
    scratch: NDArray[np.int32]


@kernel
def _all_the_same_xor(stack: OperandStack, base: int, top: int) -> bool:
    """Whether entries base..top are one and the same xor, written again and again."""
    begin = stack.start[base]
    size = stack.start[base + 1] - begin
    for entry in range(base, top):
        same_shape = stack.kind[entry] == _XOR and stack.sign[entry] == stack.sign[base]
        if not same_shape or stack.start[entry + 1] - stack.start[entry] != size:
            return False
    for entry in range(base, top):
        sort_refs(stack.scratch, stack.start[entry], stack.start[entry + 1])
        for i in range(size):
            if stack.scratch[stack.start[entry] + i] != stack.scratch[begin + i]:
                return False
    return True


@inner_kernel
def _without_constant(stack: OperandStack, base: int, sign: int) -> int:
    """Make entries base and base + 1, one of them a constant, the other one or its negation.

    The new end of scratch, or -1 when neither is a constant.
    """
    scratch = stack.scratch
    for constant in range(base, base + 2):
        begin = stack.start[constant]
        if stack.kind[constant] != _REF or scratch[begin] > FALSE_REF:
            continue
        sign ^= scratch[begin] ^ 1
        other = 2 * base + 1 - constant
        size = stack.start[other + 1] - stack.start[other]
        first = stack.start[base]
        for i in range(size):
            scratch[first + i] = scratch[stack.start[other] + i]
        stack.kind[base] = stack.kind[other]
        stack.sign[base] = stack.sign[other] ^ sign
        if stack.kind[base] == _REF:
            scratch[first] ^= sign
        return first + size
    return -1


@kernel
def _join_exclusive(nodes: SharedNodes, stack: OperandStack, base: int, top: int, sign: int) -> int:
    """Make entries base..top one xor, negated when sign is 1; the new end of scratch."""
    scratch = stack.scratch
    write = _without_constant(stack, base, sign)
    if write >= 0:
        return write
    write = stack.start[base]
    for entry in range(base, top):
        begin = stack.start[entry]
        end = stack.start[entry + 1]
        if stack.kind[entry] == _XOR:
            sign ^= stack.sign[entry]
        else:
            ref = np.int64(scratch[begin])
            if stack.kind[entry] == _AND:
                ref = _close_and(nodes, scratch, begin, end, np.int64(stack.sign[entry]))
            sign ^= ref & 1
            scratch[begin] = ref & ~1
            end = begin + 1
        for i in range(begin, end):
            scratch[write] = scratch[i]
            write += 1
    stack.kind[base] = _XOR
    stack.sign[base] = sign
    return write


@kernel
def _drop_constants(stack: OperandStack, base: int, top: int, negate: int) -> int:
    """Leave out of entries base..top the constants; the new top.

    What changes nothing goes (true in an AND, false in an OR); what decides all alone stays alone.
    """
    scratch = stack.scratch
    neutral = TRUE_REF ^ negate
    first = stack.start[base]
    write = first
    kept = base
    for entry in range(base, top):
        begin = stack.start[entry]
        end = stack.start[entry + 1]
        if stack.kind[entry] == _REF and scratch[begin] <= FALSE_REF:
            if scratch[begin] == neutral:
                continue
            kept = base
            neutral = neutral ^ 1
            break
        stack.kind[kept] = stack.kind[entry]
        stack.sign[kept] = stack.sign[entry]
        stack.start[kept] = write
        if write != begin:
            for i in range(begin, end):
                scratch[write + i - begin] = scratch[i]
        write += end - begin
        kept += 1
    if kept == base:
        stack.kind[base] = _REF
        scratch[first] = neutral
        write = first + 1
        kept = base + 1
    stack.start[kept] = write
    return kept


@inner_kernel
def _joins_as_it_is(scratch: NDArray[np.int32], begin: int, end: int, negate: int) -> bool:
    """Make scratch[begin:end], single references, the operands of an AND, or with negate 1 of an OR.

    False, and nothing is done, when a constant is among them or they are all the same.
    """
    differ = 0
    constants = False
    for i in range(begin, end):
        differ |= scratch[i] ^ scratch[begin]
        constants |= scratch[i] <= FALSE_REF
    if constants or differ == 0:
        return False
    for i in range(begin, end):
        scratch[i] ^= negate
    return True


@inner_kernel
def _join(
    nodes: SharedNodes,
    stack: OperandStack,
    xor_of: NDArray[np.int32],
    base: int,
    top: int,
    negate: int,
) -> int:
    """Make entries base..top one AND, or with negate 1 one OR; the new end of scratch.

    An OR is the negated AND of its negated operands. A group of the same kind is joined, any other
    closed. When nothing but one and the same operand is left, the result is that operand.
    """
    scratch = stack.scratch
    begin = stack.start[base]
    filled = stack.start[top]
    if filled - begin == top - base and _joins_as_it_is(scratch, begin, filled, negate):
        stack.kind[base] = _AND
        stack.sign[base] = negate
        return filled
    top = _drop_constants(stack, base, top, negate)
    filled = stack.start[top]
    if top == base + 1 or _all_the_same_xor(stack, base, top):
        return stack.start[base + 1]
    write = stack.start[base]
    joined = False
    for entry in range(base, top):
        begin = stack.start[entry]
        end = stack.start[entry + 1]
        if stack.kind[entry] == _REF:
            scratch[begin] ^= negate
        elif stack.kind[entry] == _XOR:
            parity = np.int64(stack.sign[entry]) ^ negate
            scratch[begin] = _close_xor(nodes, scratch, xor_of, begin, end, filled, parity)
            end = begin + 1
        elif stack.sign[entry] == negate:
            joined = True
        else:
            negated = np.int64(stack.sign[entry]) ^ negate
            scratch[begin] = _close_and(nodes, scratch, begin, end, negated)
            end = begin + 1
        if write != begin:
            for i in range(begin, end):
                scratch[write + i - begin] = scratch[i]
        write += end - begin
    stack.kind[base] = _AND
    stack.sign[base] = negate
    if joined:
        return write
    return _collapse(nodes, stack, base, write)


@inner_kernel
def _collapse(nodes: SharedNodes, stack: OperandStack, base: int, write: int) -> int:
    """Leave a new group as it is, or make it its only operand; the new end of scratch."""
    scratch = stack.scratch
    begin = stack.start[base]
    for i in range(begin + 1, write):
        if scratch[i] != scratch[begin]:
            return write
    value = scratch[begin] ^ stack.sign[base]
    first = nodes.child_start[value >> 1]
    count = nodes.child_start[(value >> 1) + 1] - first
    if count == 0:
        stack.kind[base] = _REF
        scratch[begin] = value
        return begin + 1
    stack.sign[base] = value & 1
    for i in range(count):
        scratch[begin + i] = nodes.child[first + i]
    return begin + count


@inner_kernel
def _gather_leaves(
    step: NDArray[np.int32],
    first: int,
    count: int,
    leaf_ref: NDArray[np.int32],
    ref: NDArray[np.int32],
    value: NDArray[np.uint64],
) -> int:
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
        width = (-code - 16) >> 1
        if code <= AND_BASE and width <= run:
            sort_refs(ref, i - width, i)
            value[groups] = hash_children(ref, i - width, i, -code & 1)
            groups += 1
        run = 0
    return groups


@kernel
def share_conditions(
    nodes: SharedNodes,
    step_start: NDArray[np.int64],
    step: NDArray[np.int32],
    leaf_ref: NDArray[np.int32],
    root: NDArray[np.int32],
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
                stack.kind[top] = _REF
                stack.start[top] = filled
                if code >= 0:
                    scratch[filled] = ref[at - batch_start]
                else:
                    scratch[filled] = TRUE_REF if code == TRUE else FALSE_REF
                filled += 1
                top += 1
            elif code == NOT:
                if stack.kind[top - 1] == _REF:
                    scratch[filled - 1] ^= 1
                else:
                    stack.sign[top - 1] ^= 1
            else:
                stack.start[top] = filled
                if code == XOR or code == XNOR:
                    base = top - 2
                    filled = _join_exclusive(nodes, stack, base, top, np.int64(code == XNOR))
                else:
                    base = top - np.int64((-code - 16) >> 1)
                    filled = _join(nodes, stack, xor_of, base, top, np.int64(-code & 1))
                top = base + 1
        if stack.kind[0] == _REF:
            root[condition] = scratch[0]
        elif stack.kind[0] == _XOR:
            root[condition] = _close_xor(nodes, scratch, xor_of, 0, filled, filled, np.int64(stack.sign[0]))
        else:
            root[condition] = _close_and(nodes, scratch, 0, filled, np.int64(stack.sign[0]))
    return nodes
