"""The inner nodes of expressions in the order in which rules need them: for what is made rule after rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.expressions import Expressions
from tocsin.kernels.jit import kernel


@kernel
def postorder(expressions: Expressions) -> NDArray[np.int32]:
    """The inner nodes that some rule needs, counted from 0: rule by rule, children before parents."""
    literals, _, child_start, child, root = expressions
    inner = child_start.size - 1
    seen = np.zeros(inner, np.bool_)
    order = np.empty(inner, np.int32)
    open_node = np.empty(inner, np.int32)
    next_child = np.empty(inner, np.int32)
    done = 0
    for rule in range(root.size):
        node = np.int64(root[rule]) - literals
        if node < 0 or node >= inner or seen[node]:
            continue
        seen[node] = True
        open_node[0] = node
        next_child[0] = child_start[node]
        height = 1
        while height > 0:
            node = np.int64(open_node[height - 1])
            at = next_child[height - 1]
            if at == child_start[node + 1]:
                order[done] = node
                done += 1
                height -= 1
                continue
            next_child[height - 1] = at + 1
            below = np.int64(child[at]) - literals
            if below >= 0 and not seen[below]:
                seen[below] = True
                open_node[height] = below
                next_child[height] = child_start[below]
                height += 1
    return order[:done].copy()
