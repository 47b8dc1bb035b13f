"""The operands of a condition while it is read: what joins, what is closed, and what constants leave over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.node_references import FALSE_REF, TRUE_REF, close_and, close_xor, sort_refs
from tocsin.conditions.kernels.shared_nodes import SharedNodes

REF = 0
AND = 1
XOR = 2


class OperandStack(NamedTuple):
    """Operands while a condition is read: finished references and still open ANDs and XORs.

    The operands of all entries lie side by side in `scratch`, so joining an AND to an AND moves
    nothing and makes no node: a group is closed only when something of another kind contains it. An
    open group has at least two different operands that are no constants.

    kind, sign    uint8[d]   reference, AND or XOR; 1 for a negated group
    start         int64[d]   its first operand in scratch
    scratch       int32[d]   references; all arrays are longer than a condition has steps, by two
    """

    kind: Bytes
    sign: Bytes
    start: Longs
    scratch: Ints


@kernel
def _all_the_same_xor(stack: OperandStack, base: int, top: int) -> bool:
    """Whether entries base..top are one and the same xor, written again and again."""
    begin = stack.start[base]
    size = stack.start[base + 1] - begin
    for entry in range(base, top):
        same_shape = stack.kind[entry] == XOR and stack.sign[entry] == stack.sign[base]
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
        if stack.kind[constant] != REF or scratch[begin] > FALSE_REF:
            continue
        sign ^= scratch[begin] ^ 1
        other = 2 * base + 1 - constant
        size = stack.start[other + 1] - stack.start[other]
        first = stack.start[base]
        for i in range(size):
            scratch[first + i] = scratch[stack.start[other] + i]
        stack.kind[base] = stack.kind[other]
        stack.sign[base] = stack.sign[other] ^ sign
        if stack.kind[base] == REF:
            scratch[first] ^= sign
        return first + size
    return -1


@kernel
def join_exclusive(nodes: SharedNodes, stack: OperandStack, base: int, top: int, sign: int) -> int:
    """Make entries base..top one xor, negated when sign is 1; the new end of scratch."""
    scratch = stack.scratch
    write = _without_constant(stack, base, sign)
    if write >= 0:
        return write
    write = stack.start[base]
    for entry in range(base, top):
        begin = stack.start[entry]
        end = stack.start[entry + 1]
        if stack.kind[entry] == XOR:
            sign ^= stack.sign[entry]
        else:
            ref = np.int64(scratch[begin])
            if stack.kind[entry] == AND:
                ref = close_and(nodes, scratch, begin, end, np.int64(stack.sign[entry]))
            sign ^= ref & 1
            scratch[begin] = ref & ~1
            end = begin + 1
        for i in range(begin, end):
            scratch[write] = scratch[i]
            write += 1
    stack.kind[base] = XOR
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
        if stack.kind[entry] == REF and scratch[begin] <= FALSE_REF:
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
        stack.kind[base] = REF
        scratch[first] = neutral
        write = first + 1
        kept = base + 1
    stack.start[kept] = write
    return kept


@inner_kernel
def _joins_as_it_is(scratch: Ints, begin: int, end: int, negate: int) -> bool:
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
def join(nodes: SharedNodes, stack: OperandStack, xor_of: Ints, base: int, top: int, negate: int) -> int:
    """Make entries base..top one AND, or with negate 1 one OR; the new end of scratch.

    An OR is the negated AND of its negated operands. A group of the same kind is joined, any other
    closed. When nothing but one and the same operand is left, the result is that operand.
    """
    scratch = stack.scratch
    begin = stack.start[base]
    filled = stack.start[top]
    if filled - begin == top - base and _joins_as_it_is(scratch, begin, filled, negate):
        stack.kind[base] = AND
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
        if stack.kind[entry] == REF:
            scratch[begin] ^= negate
        elif stack.kind[entry] == XOR:
            parity = np.int64(stack.sign[entry]) ^ negate
            scratch[begin] = close_xor(nodes, scratch, xor_of, begin, end, filled, parity)
            end = begin + 1
        elif stack.sign[entry] == negate:
            joined = True
        else:
            negated = np.int64(stack.sign[entry]) ^ negate
            scratch[begin] = close_and(nodes, scratch, begin, end, negated)
            end = begin + 1
        if write != begin:
            for i in range(begin, end):
                scratch[write + i - begin] = scratch[i]
        write += end - begin
    stack.kind[base] = AND
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
        stack.kind[base] = REF
        scratch[begin] = value
        return begin + 1
    stack.sign[base] = value & 1
    for i in range(count):
        scratch[begin + i] = nodes.child[first + i]
    return begin + count
