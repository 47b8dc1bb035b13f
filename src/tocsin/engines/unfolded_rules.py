"""One tree for each rule, refused where it would be too large."""

from __future__ import annotations

import numpy as np

from tocsin.engines.engine import RefusedRules, refuse_beyond
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.unfolded_trees import Trees, tree_sizes, unfold

MOST_LEAVES = 1 << 20
"""Leaves that the tree of one rule may have. Nested xors double what is below them."""

MOST_NODES = 1 << 31
"""Nodes that all trees together may have."""


def trees_of(expressions: Expressions) -> Trees:
    """The trees of all rules; RefusedRules when one of them has more leaves than that."""
    leaves, nodes = tree_sizes(expressions)
    large = np.flatnonzero(leaves[expressions.root] > MOST_LEAVES).tolist()
    if large:
        reason = f"written out as a tree it has more than {MOST_LEAVES:,} parts"
        raise RefusedRules(dict.fromkeys(large, reason))
    refuse_beyond(nodes[expressions.root], MOST_NODES, "nodes in trees")
    return unfold(expressions, nodes)
