"""The parts of rules, in the order in which rules need them: for what is made part by part."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import kernel
from tocsin.engines.kernels.expressions import Expressions


def with_inner_roots(expressions: Expressions) -> Expressions:
    """The same rules, but every root is an inner node: an OR of one literal in place of a literal.

    A rule that always holds becomes an AND without children, one that never holds an OR without.
    """
    literals, is_and, child_start, child, root = expressions
    is_literal = root < literals
    alone = np.unique(root[is_literal])
    end = child_start[-1:]
    inner_root = root.copy()
    inner_root[is_literal] = literals + len(is_and) + 2 + np.searchsorted(alone, root[is_literal])
    return Expressions(
        literals,
        np.concatenate([is_and, [True, False], np.zeros(len(alone), np.bool_)]),
        np.concatenate([child_start, end, end, end + np.arange(1, len(alone) + 1)]).astype(np.int32),
        np.concatenate([child, alone]),
        inner_root,
    )


@kernel
def postorder(expressions: Expressions) -> Ints:
    """The inner nodes that some rule needs, counted from 0: rule by rule, children before parents.

    All roots are inner nodes.
    """
    literals, _, child_start, child, root = expressions
    inner = child_start.size - 1
    seen = np.zeros(inner, np.bool_)
    order = np.empty(inner, np.int32)
    open_node = np.empty(inner, np.int32)
    next_child = np.empty(inner, np.int32)
    done = 0
    for rule in range(root.size):
        node = np.int64(root[rule]) - literals
        if seen[node]:
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
