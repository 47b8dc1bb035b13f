"""The tree of wanted names as arrays, and which of them a name in an event is.

wanted   a.b  a.c  e          node    0 root   1 a   2 b   3 c   4 e
kept     e                    parent  -        0     1     1     0
                              field   -1       -1    0     1     2
                              kept    -1       -1    -1    -1    3
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.hash_slots import behind, free_slot, home, slots_for
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.text_table import hash_span, same_bytes

ROOT = 0
UNWANTED = -1


class FieldNames(NamedTuple):
    """Nodes by their names; a node comes behind its parent.

    parent   int32[n]     ROOT's own is not looked at
    field    int32[n]     the field that ends here, or -1
    kept     int32[n]     the field that its text goes to as it is, or -1; only of outermost names
    inner    int32[n]     how many names go on from here
    start    int64[n+1]   node i is called data[start[i] : start[i + 1]]
    data     uint8[...]   with eight bytes to spare
    slot     int32[2^k]   node, or 0: see arrays/hash_slots.py
    """

    parent: Ints
    field: Ints
    kept: Ints
    inner: Ints
    start: Longs
    data: Bytes
    slot: Ints


@inner_kernel
def _hash(parent: int, data: Bytes, start: int, end: int) -> np.uint64:
    return hash_span(data, start, end) + np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15)


@kernel
def names_by_hash(parent: Ints, start: Longs, data: Bytes) -> Ints:
    """The slots of nodes; no two of one parent have the same name."""
    slot = np.zeros(slots_for(2 * parent.size), np.int32)
    for node in range(1, parent.size):
        slot[free_slot(slot, _hash(parent[node], data, start[node], start[node + 1]))] = node
    return slot


@inner_kernel
def node_of(names: FieldNames, parent: int, data: Bytes, start: int, end: int) -> int:
    """The node that data[start:end] is below another one, or UNWANTED."""
    at = home(names.slot, _hash(parent, data, start, end))
    while names.slot[at] != 0:
        node = np.int64(names.slot[at])
        begin = names.start[node]
        if (
            names.parent[node] == parent
            and names.start[node + 1] - begin == end - start
            and same_bytes(names.data, begin, data, start, end - start)
        ):
            return node
        at = behind(names.slot, at)
    return UNWANTED
