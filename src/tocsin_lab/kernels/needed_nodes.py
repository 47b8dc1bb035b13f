"""Which nodes of the shared graph some rule needs."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes


@kernel
def needed_nodes(nodes: SharedNodes, root: Ints) -> Flags:
    """For each node whether a rule needs it, or needs one that it may stand for (its mate)."""
    count = nodes.size[NODES]
    needed = np.zeros(count, np.bool_)
    waiting = np.empty(count, np.int32)
    waits = 0
    for i in range(root.size):
        if root[i] >= 0 and not needed[root[i] >> 1]:
            needed[root[i] >> 1] = True
            waiting[waits] = root[i] >> 1
            waits += 1
    while waits > 0:
        waits -= 1
        node = waiting[waits]
        mate = nodes.mate[node]
        if mate >= 0 and not needed[mate >> 1]:
            needed[mate >> 1] = True
            waiting[waits] = mate >> 1
            waits += 1
        for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
            child = nodes.child[i] >> 1
            if not needed[child]:
                needed[child] = True
                waiting[waits] = child
                waits += 1
    return needed
