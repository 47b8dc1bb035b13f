"""Rules that share parts come together, as long as no cluster grows too heavy.

A part that two rules share costs one copy more when they go to different places; one that thousands share
is in every place anyway. So the parts that few share are looked at first, and whatever uses one is put
into one cluster with it.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes


@inner_kernel
def _cluster_of(above: Ints, node: int) -> int:
    """The node that stands for the cluster of a node; the way there is made shorter."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = np.int64(above[node])
    return node


@kernel
def cluster_nodes(nodes: SharedNodes, weight: Longs, most: int) -> Ints:
    """For every node the one that stands for its cluster.

    weight[n] is that of the rules whose condition node n is, in any sign. Clusters are joined while they
    weigh at most `most` together.
    """
    count = nodes.size[NODES]
    child_start, child = nodes.child_start, nodes.child
    uses = np.zeros(count + 1, np.int64)
    for node in range(count):
        for i in range(child_start[node], child_start[node + 1]):
            uses[child[i] >> 1] += 1
    parent_start = np.zeros(count + 1, np.int64)
    for node in range(count):
        parent_start[node + 1] = parent_start[node] + uses[node]
    parent = np.empty(parent_start[count], np.int32)
    filled = parent_start[:count].copy()
    for node in range(count):
        for i in range(child_start[node], child_start[node + 1]):
            below = child[i] >> 1
            parent[filled[below]] = node
            filled[below] += 1
    total = weight.copy()
    above = np.arange(count).astype(np.int32)
    order = np.argsort(uses[:count], kind="mergesort")
    for at in range(count):
        node = order[at]
        mine = _cluster_of(above, node)
        for i in range(parent_start[node], parent_start[node + 1]):
            other = _cluster_of(above, np.int64(parent[i]))
            if other != mine and total[mine] + total[other] <= most:
                above[other] = mine
                total[mine] += total[other]
    for node in range(count):
        above[node] = _cluster_of(above, node)
    return above
