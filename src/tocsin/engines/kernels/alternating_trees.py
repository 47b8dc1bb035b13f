"""Trees in which ANDs and ORs alternate below an AND at the top, as Dewey labels need them.

A node with one child is left out, and so is a child of the same kind as its parent: its children become
the parent's. What is not an AND gets one above it. Leaves stay in order.

    and(and(1, or(2)), or(3, or(4, and(5, 6))))          and(1, 2, or(3, 4, and(5, 6)))
    or(1, 2)                                             and(or(1, 2))
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.jit import kernel
from tocsin.engines.kernels.unfolded_trees import Trees, children_of_code, is_and_code


@kernel
def alternating(trees: Trees) -> Trees:
    """The same trees, alternating; where there is none, there is none again."""
    start, code = trees
    rules = start.size - 1
    largest = np.int64(1)
    for rule in range(rules):
        largest = max(largest, start[rule + 1] - start[rule])
    left = np.empty(largest, np.int32)
    kept_as = np.empty(largest, np.int64)
    out_start = np.zeros(rules + 1, np.int64)
    out = np.empty(code.size + rules, np.int32)
    at = np.int64(0)
    for rule in range(rules):
        if start[rule] < start[rule + 1]:
            top = at
            out[top] = 0
            at += 1
            height = 0
            for i in range(start[rule], start[rule + 1]):
                parent = top
                if height > 0:
                    parent = kept_as[height - 1]
                    left[height - 1] -= 1
                    height -= left[height - 1] == 0
                if code[i] >= 0:
                    out[parent] -= 2
                    out[at] = code[i]
                    at += 1
                    continue
                kind = 0 if is_and_code(code[i]) else -1
                kept_as[height] = parent
                if children_of_code(code[i]) > 1 and is_and_code(out[parent]) != is_and_code(code[i]):
                    out[parent] -= 2
                    out[at] = kind
                    kept_as[height] = at
                    at += 1
                left[height] = children_of_code(code[i])
                height += 1
        out_start[rule + 1] = at
    return Trees(out_start, out[:at].copy())
