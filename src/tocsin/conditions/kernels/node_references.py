"""References to nodes of the shared graph, and groups of them that become nodes.

A reference is 2 * node + sign, sign 1 meaning *not*; node 0 is the constant true. `a xor b` is
(a and not b) or (not a and b), and `a xnor b` is (a and b) or (not a and not b): exact in three-valued
logic, where both are unknown when a side is. The two are made together and know each other as `mate`, so
that the negation of one is found as the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.shared_nodes import SharedNodes, intern

TRUE_REF = 0
FALSE_REF = 1


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
def close_and(nodes: SharedNodes, scratch: Ints, start: int, end: int, negated: int) -> int:
    """The reference to the AND of scratch[start:end] (an open group), or to its negation."""
    sort_refs(scratch, start, end)
    kept = start + 1
    for i in range(start + 1, end):
        if scratch[i] != scratch[kept - 1]:
            scratch[kept] = scratch[i]
            kept += 1
    return 2 * intern(nodes, scratch, start, kept) ^ negated


@kernel
def _pair(nodes: SharedNodes, scratch: Ints, top: int, a: int, b: int) -> int:
    """The reference to `a and b`, with room at scratch[top:top + 2]."""
    if a == b:
        return a
    scratch[top] = min(a, b)
    scratch[top + 1] = max(a, b)
    return 2 * intern(nodes, scratch, top, top + 2)


@inner_kernel
def _differ(nodes: SharedNodes, scratch: Ints, top: int, holds: int, fails: int, other: int) -> int:
    """The reference to `a xor other`, where holds is `a` and fails is `not a` in its own form."""
    left = _pair(nodes, scratch, top, holds, other ^ 1)
    right = _pair(nodes, scratch, top, fails, other)
    return _pair(nodes, scratch, top, left ^ 1, right ^ 1) ^ 1


@kernel
def close_xor(
    nodes: SharedNodes, scratch: Ints, xor_of: Ints, start: int, end: int, top: int, parity: int
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
