"""A link for tuples that are there already, and the tuples that hang in one entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels.data_index import change_count, find_entry, hang, join_list
from tocsin.datalog.kernels.layout import (
    HEADS,
    I_BASE,
    I_MEMBERS,
    INDEX,
    INDEXES,
    L_BASE,
    L_COUNTED,
    L_INDEX,
    L_MEMBER,
    L_RELATION,
    LINK,
    LINKS,
    NEXTS,
    PRESENT,
    R_BASE,
    R_SIZE,
    RELATION,
    RELATIONS,
    STATES,
)
from tocsin.datalog.kernels.memory_table import numbers, words


@bare_kernel
def hang_all(table: NDArray[np.int64], link: int) -> None:
    """Hang every present tuple by a link that is new. There must be room for an entry each."""
    links, relations = words(table, LINKS), words(table, RELATIONS)
    owner = links[link * LINK + L_RELATION] * RELATION
    states = numbers(table, relations[owner + R_BASE] + STATES)
    for number in range(relations[owner + R_SIZE]):
        if states[number] < 0 or states[number] & PRESENT == 0:
            continue
        entry = hang(table, link, number)
        if entry >= 0:
            if links[link * LINK + L_COUNTED]:
                change_count(table, link, entry, 1)
            else:
                join_list(table, link, number, entry)


@bare_kernel
def collect(
    table: NDArray[np.int64], link: int, key: NDArray[np.int64], in_order: int, found: NDArray[np.int64]
) -> int:
    """How many tuples hang by a link in the entry of a key; as many of them as there is room for are written.

    `in_order` is where DETAILS counts 0, 1, 2 ...: the key's parts stand one behind the other.
    """
    links, indexes = words(table, LINKS), words(table, INDEXES)
    record = link * LINK
    owner = links[record + L_INDEX] * INDEX
    entry = find_entry(table, links[record + L_INDEX], key, 0, in_order)
    if entry < 0:
        return 0
    nexts = numbers(table, links[record + L_BASE] + NEXTS)
    heads = numbers(table, indexes[owner + I_BASE] + HEADS)
    number = np.int64(heads[entry * indexes[owner + I_MEMBERS] + links[record + L_MEMBER]])
    count = 0
    while number:
        if count < found.size:
            found[count] = number - 1
        count += 1
        number = np.int64(nexts[number - 1])
    return count
