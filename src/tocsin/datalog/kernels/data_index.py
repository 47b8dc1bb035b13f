"""The data index: entries by key, and the tuples that hang in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.bits import prefetch
from tocsin.arrays.jit import bare_kernel
from tocsin.arrays.row_table import forget_row, hash_word
from tocsin.datalog.kernels.key_ranges import enter_order, has_nodes, leave_order
from tocsin.datalog.kernels.layout import (
    DETAILS,
    ENTRIES,
    EQUALS_COLUMN,
    HEADS,
    I_BASE,
    I_FREE,
    I_MEMBERS,
    I_ORDER,
    I_ROOM,
    I_SIZE,
    I_WIDTH,
    INDEX,
    INDEXES,
    KEYS,
    L_BASE,
    L_COLUMNS,
    L_INDEX,
    L_MEMBER,
    L_RELATION,
    L_TESTS,
    L_TESTS_END,
    LASTS,
    LINK,
    LINKS,
    NEXTS,
    PLACES,
    R_ARITY,
    R_BASE,
    RELATION,
    RELATIONS,
    ROWS,
    TEST_WORDS,
)
from tocsin.datalog.kernels.memory_table import numbers, words


@bare_kernel
def find_entry(table: NDArray[np.int64], index: int, row: NDArray[np.int64], start: int, chosen: int) -> int:
    """The entry of a key, or -1 - the free place where it would be.

    The key's parts stand in `row`, behind `start`, at the places that DETAILS lists from `chosen` on.
    The search goes from the key's home place along the hash table and passes each place once; a new
    key takes the place at which the search for it ended: what else comes only makes a search longer.
    """
    indexes, details = words(table, INDEXES), words(table, DETAILS)
    record = index * INDEX
    base, width = indexes[record + I_BASE], indexes[record + I_WIDTH]
    keys, places = words(table, base + KEYS), numbers(table, base + PLACES)
    mask = places.size - 1
    mixed = np.uint64(0)
    for part in range(width):
        mixed = hash_word(mixed, row[start + details[chosen + part]])
    place = np.int64(mixed & np.uint64(mask))
    while places[place] != 0:
        entry = np.int64(places[place]) - 1
        same = True
        for part in range(width):
            if keys[entry * width + part] != row[start + details[chosen + part]]:
                same = False
                break
        if same:
            return entry
        place = (place + 1) & mask
    return -1 - place


@bare_kernel
def fetch_place(table: NDArray[np.int64], link: int, row: NDArray[np.int64], start: int) -> None:
    """Have the place of a row's key on its way from memory, while others are looked at."""
    links, indexes, details = words(table, LINKS), words(table, INDEXES), words(table, DETAILS)
    index, chosen = links[link * LINK + L_INDEX] * INDEX, links[link * LINK + L_COLUMNS]
    places = numbers(table, indexes[index + I_BASE] + PLACES)
    mixed = np.uint64(0)
    for part in range(indexes[index + I_WIDTH]):
        mixed = hash_word(mixed, row[start + details[chosen + part]])
    prefetch(places, np.int64(mixed & np.uint64(places.size - 1)))


@bare_kernel
def passes(table: NDArray[np.int64], row: NDArray[np.int64], start: int, test: int, end: int) -> bool:
    """Whether a row has the constants, and the equal columns, that the tests at DETAILS[test:end] ask for."""
    details = words(table, DETAILS)
    while test < end:
        wanted = details[test + 2]
        if details[test + 1] == EQUALS_COLUMN:
            wanted = row[start + wanted]
        if row[start + details[test]] != wanted:
            return False
        test += TEST_WORDS
    return True


@bare_kernel
def hang(table: NDArray[np.int64], link: int, number: int) -> int:
    """Find or make the entry of a tuple's key and note it; -1 if the link's constants keep the tuple out.

    There must be room for one entry.
    """
    links, relations = words(table, LINKS), words(table, RELATIONS)
    record = link * LINK
    owner = links[record + L_RELATION] * RELATION
    arity = relations[owner + R_ARITY]
    rows = words(table, relations[owner + R_BASE] + ROWS)
    entries = numbers(table, links[record + L_BASE] + ENTRIES)
    start = number * arity
    if not passes(table, rows, start, links[record + L_TESTS], links[record + L_TESTS_END]):
        entries[number] = -1
        return -1
    index, chosen = links[record + L_INDEX], links[record + L_COLUMNS]
    entry = find_entry(table, index, rows, start, chosen)
    if entry < 0:
        entry = _add_entry(table, index, rows, start, chosen, -1 - entry)
    entries[number] = np.int32(entry)
    return entry


@bare_kernel
def has_room(table: NDArray[np.int64], index: int) -> bool:
    """Whether one more entry can be made."""
    indexes = words(table, INDEXES)
    record = index * INDEX
    if indexes[record + I_ORDER] and not has_nodes(table, index):
        return False
    return indexes[record + I_FREE] != 0 or indexes[record + I_SIZE] < indexes[record + I_ROOM]


@bare_kernel
def _add_entry(
    table: NDArray[np.int64], index: int, row: NDArray[np.int64], start: int, chosen: int, place: int
) -> int:
    indexes, details = words(table, INDEXES), words(table, DETAILS)
    record = index * INDEX
    base, width, members = indexes[record + I_BASE], indexes[record + I_WIDTH], indexes[record + I_MEMBERS]
    keys, heads = words(table, base + KEYS), numbers(table, base + HEADS)
    entry = indexes[record + I_FREE] - 1
    if entry >= 0:
        indexes[record + I_FREE] = -1 - np.int64(heads[entry * members])
    else:
        entry = indexes[record + I_SIZE]
        indexes[record + I_SIZE] = entry + 1
    for part in range(width):
        keys[entry * width + part] = row[start + details[chosen + part]]
    for member in range(members):
        heads[entry * members + member] = 0
    numbers(table, base + PLACES)[place] = np.int32(entry + 1)
    if indexes[record + I_ORDER]:
        enter_order(table, index, entry)
    return entry


@bare_kernel
def join_list(table: NDArray[np.int64], link: int, number: int, entry: int) -> None:
    """Put a tuple at the head of its member's list in an entry."""
    links, indexes = words(table, LINKS), words(table, INDEXES)
    record = link * LINK
    base = links[record + L_BASE]
    nexts, lasts = numbers(table, base + NEXTS), numbers(table, base + LASTS)
    owner = links[record + L_INDEX] * INDEX
    heads = numbers(table, indexes[owner + I_BASE] + HEADS)
    at = entry * indexes[owner + I_MEMBERS] + links[record + L_MEMBER]
    first = np.int64(heads[at])
    nexts[number] = np.int32(first)
    lasts[number] = 0
    if first:
        lasts[first - 1] = np.int32(number + 1)
    heads[at] = np.int32(number + 1)


@bare_kernel
def leave_list(table: NDArray[np.int64], link: int, number: int, entry: int) -> None:
    """Take a tuple out of its list; the partners in the entry stay, and wait."""
    links, indexes = words(table, LINKS), words(table, INDEXES)
    record = link * LINK
    base = links[record + L_BASE]
    nexts, lasts = numbers(table, base + NEXTS), numbers(table, base + LASTS)
    following, before = np.int64(nexts[number]), np.int64(lasts[number])
    if following:
        lasts[following - 1] = np.int32(before)
    if before:
        nexts[before - 1] = np.int32(following)
    else:
        owner = links[record + L_INDEX] * INDEX
        heads = numbers(table, indexes[owner + I_BASE] + HEADS)
        heads[entry * indexes[owner + I_MEMBERS] + links[record + L_MEMBER]] = np.int32(following)


@bare_kernel
def change_count(table: NDArray[np.int64], link: int, entry: int, by: int) -> int:
    """How many tuples of a counted member an entry has, after one more or less."""
    links, indexes = words(table, LINKS), words(table, INDEXES)
    record = link * LINK
    owner = links[record + L_INDEX] * INDEX
    heads = numbers(table, indexes[owner + I_BASE] + HEADS)
    at = entry * indexes[owner + I_MEMBERS] + links[record + L_MEMBER]
    heads[at] += np.int32(by)
    return heads[at]


@bare_kernel
def release_entry(table: NDArray[np.int64], link: int, entry: int) -> None:
    """Give up an entry that nothing hangs in. The first head of a free entry is -1 - the next free one."""
    links, indexes = words(table, LINKS), words(table, INDEXES)
    record = links[link * LINK + L_INDEX] * INDEX
    base, width, members = indexes[record + I_BASE], indexes[record + I_WIDTH], indexes[record + I_MEMBERS]
    heads = numbers(table, base + HEADS)
    for member in range(members):
        if heads[entry * members + member] != 0:
            return
    if indexes[record + I_ORDER]:
        leave_order(table, links[link * LINK + L_INDEX], entry)
    forget_row(words(table, base + KEYS), width, entry, numbers(table, base + PLACES))
    heads[entry * members] = np.int32(-1 - indexes[record + I_FREE])
    indexes[record + I_FREE] = entry + 1
