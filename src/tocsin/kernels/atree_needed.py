"""Which nodes of the shared graph some rule needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.jit import kernel
from tocsin.kernels.sharing import NODES, SharedNodes


@kernel
def needed_nodes(nodes: SharedNodes, root: NDArray[np.int32]) -> NDArray[np.bool_]:
    """For each node whether a rule needs it, or the one that says the same and is cheaper (its mate)."""
    count = nodes.size[NODES]
    needed = np.zeros(count, np.bool_)
    for i in range(root.size):
        if root[i] >= 0:
            needed[root[i] >> 1] = True
    for node in range(count):
        if nodes.mate[node] >= 0:
            needed[node] |= needed[nodes.mate[node] >> 1]
    for node in range(count - 1, 0, -1):
        if needed[node]:
            if nodes.mate[node] >= 0:
                needed[nodes.mate[node] >> 1] = True
            for i in range(nodes.child_start[node], nodes.child_start[node + 1]):
                needed[nodes.child[i] >> 1] = True
    return needed
