"""The data index: entries by key, and the tuples that hang in them."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.arrays.row_table import forget_row, hash_word
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.key_order import enter_order, has_nodes, leave_order
from tocsin.datalog.kernels.memory_table import index_record, link_record, numbers, relation_record, words


@inner_kernel
def _hash_key(row: Longs, start: int, details: Longs, chosen: int, width: int) -> int:
    """The hash of a key whose parts stand in a row, behind `start`, at the places details[chosen] ..."""
    mixed = np.uint64(0)
    for part in range(width):
        mixed = hash_word(mixed, row[start + details[chosen + part]])
    return mixed


@bare_kernel
def find_entry(table: Longs, index: int, row: Longs, start: int, chosen: int) -> int:
    """The entry of a key, or -1 - the free place where it would be.

    The key's parts stand in `row`, behind `start`, at the places that DETAILS lists from `chosen` on.
    The search goes from the key's home place along the hash table and passes each place once; a new
    key takes the place at which the search for it ended: what else comes only makes a search longer.
    """
    record, details = index_record(table, index), words(table, layout.DETAILS)
    base, width = record[layout.I_BASE], record[layout.I_WIDTH]
    keys, places = words(table, base + layout.KEYS), numbers(table, base + layout.PLACES)
    mask = places.size - 1
    place = np.int64(_hash_key(row, start, details, chosen, width) & np.uint64(mask))
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
def fetch_place(table: Longs, link: int, row: Longs, start: int) -> None:
    """Have the place of a row's key on its way from memory, while others are looked at."""
    record, details = link_record(table, link), words(table, layout.DETAILS)
    index = index_record(table, record[layout.L_INDEX])
    places = numbers(table, index[layout.I_BASE] + layout.PLACES)
    mixed = _hash_key(row, start, details, record[layout.L_COLUMNS], index[layout.I_WIDTH])
    prefetch(places, np.int64(mixed & np.uint64(places.size - 1)))


@bare_kernel
def passes(table: Longs, row: Longs, start: int, test: int, end: int) -> bool:
    """Whether a row has the constants, and the equal columns, that the tests at DETAILS[test:end] ask for."""
    details = words(table, layout.DETAILS)
    while test < end:
        wanted = details[test + 2]
        if details[test + 1] == layout.EQUALS_COLUMN:
            wanted = row[start + wanted]
        if row[start + details[test]] != wanted:
            return False
        test += layout.TEST_WORDS
    return True


@bare_kernel
def hang(table: Longs, link: int, number: int) -> int:
    """Find or make the entry of a tuple's key and note it; -1 if the link's constants keep the tuple out.

    There must be room for one entry.
    """
    record = link_record(table, link)
    owner = relation_record(table, record[layout.L_RELATION])
    rows = words(table, owner[layout.R_BASE] + layout.ROWS)
    entries = numbers(table, record[layout.L_BASE] + layout.ENTRIES)
    start = number * owner[layout.R_ARITY]
    if not passes(table, rows, start, record[layout.L_TESTS], record[layout.L_TESTS_END]):
        entries[number] = -1
        return -1
    index, chosen = record[layout.L_INDEX], record[layout.L_COLUMNS]
    entry = find_entry(table, index, rows, start, chosen)
    if entry < 0:
        entry = _add_entry(table, index, rows, start, chosen, -1 - entry)
    entries[number] = np.int32(entry)
    return entry


@bare_kernel
def hang_all(table: Longs, link: int) -> None:
    """Hang every present tuple by a link that is new. There must be room for an entry each."""
    record = link_record(table, link)
    owner = relation_record(table, record[layout.L_RELATION])
    states = numbers(table, owner[layout.R_BASE] + layout.STATES)
    for number in range(owner[layout.R_SIZE]):
        if states[number] < 0 or states[number] & layout.PRESENT == 0:
            continue
        entry = hang(table, link, number)
        if entry >= 0:
            if record[layout.L_COUNTED]:
                change_count(table, link, entry, 1)
            else:
                join_list(table, link, number, entry)


@bare_kernel
def has_room(table: Longs, index: int) -> bool:
    """Whether one more entry can be made."""
    record = index_record(table, index)
    if record[layout.I_ORDER] and not has_nodes(table, index):
        return False
    return record[layout.I_FREE] != 0 or record[layout.I_SIZE] < record[layout.I_ROOM]


@bare_kernel
def _add_entry(table: Longs, index: int, row: Longs, start: int, chosen: int, place: int) -> int:
    record, details = index_record(table, index), words(table, layout.DETAILS)
    base, width, members = record[layout.I_BASE], record[layout.I_WIDTH], record[layout.I_MEMBERS]
    keys, heads = words(table, base + layout.KEYS), numbers(table, base + layout.HEADS)
    entry = record[layout.I_FREE] - 1
    if entry >= 0:
        record[layout.I_FREE] = -1 - np.int64(heads[entry * members])
    else:
        entry = record[layout.I_SIZE]
        record[layout.I_SIZE] = entry + 1
    for part in range(width):
        keys[entry * width + part] = row[start + details[chosen + part]]
    for member in range(members):
        heads[entry * members + member] = 0
    numbers(table, base + layout.PLACES)[place] = np.int32(entry + 1)
    if record[layout.I_ORDER]:
        enter_order(table, index, entry)
    return entry


@inner_kernel
def _heads(table: Longs, record: Longs, entry: int) -> tuple[Ints, int]:
    """The heads of a link's index, and where among them the head of its member in an entry is."""
    index = index_record(table, record[layout.L_INDEX])
    heads = numbers(table, index[layout.I_BASE] + layout.HEADS)
    return heads, entry * index[layout.I_MEMBERS] + record[layout.L_MEMBER]


@bare_kernel
def join_list(table: Longs, link: int, number: int, entry: int) -> None:
    """Put a tuple at the head of its member's list in an entry."""
    record = link_record(table, link)
    base = record[layout.L_BASE]
    nexts, lasts = numbers(table, base + layout.NEXTS), numbers(table, base + layout.LASTS)
    heads, at = _heads(table, record, entry)
    first = np.int64(heads[at])
    nexts[number] = np.int32(first)
    lasts[number] = 0
    if first:
        lasts[first - 1] = np.int32(number + 1)
    heads[at] = np.int32(number + 1)


@bare_kernel
def leave_list(table: Longs, link: int, number: int, entry: int) -> None:
    """Take a tuple out of its list; the partners in the entry stay, and wait."""
    record = link_record(table, link)
    base = record[layout.L_BASE]
    nexts, lasts = numbers(table, base + layout.NEXTS), numbers(table, base + layout.LASTS)
    following, before = np.int64(nexts[number]), np.int64(lasts[number])
    if following:
        lasts[following - 1] = np.int32(before)
    if before:
        nexts[before - 1] = np.int32(following)
    else:
        heads, at = _heads(table, record, entry)
        heads[at] = np.int32(following)


@bare_kernel
def change_count(table: Longs, link: int, entry: int, by: int) -> int:
    """How many tuples of a counted member an entry has, after one more or less."""
    heads, at = _heads(table, link_record(table, link), entry)
    heads[at] += np.int32(by)
    return heads[at]


@bare_kernel
def release_entry(table: Longs, link: int, entry: int) -> None:
    """Give up an entry that nothing hangs in. The first head of a free entry is -1 - the next free one."""
    index = link_record(table, link)[layout.L_INDEX]
    record = index_record(table, index)
    base, members = record[layout.I_BASE], record[layout.I_MEMBERS]
    heads = numbers(table, base + layout.HEADS)
    for member in range(members):
        if heads[entry * members + member] != 0:
            return
    if record[layout.I_ORDER]:
        leave_order(table, index, entry)
    keys, places = words(table, base + layout.KEYS), numbers(table, base + layout.PLACES)
    forget_row(keys, record[layout.I_WIDTH], entry, places)
    heads[entry * members] = np.int32(-1 - record[layout.I_FREE])
    record[layout.I_FREE] = entry + 1


@bare_kernel
def collect(table: Longs, link: int, key: Longs, in_order: int, found: Longs) -> int:
    """How many tuples hang by a link in the entry of a key; as many of them as there is room for are written.

    `in_order` is where DETAILS counts 0, 1, 2 ...: the key's parts stand one behind the other.
    """
    record = link_record(table, link)
    entry = find_entry(table, record[layout.L_INDEX], key, 0, in_order)
    if entry < 0:
        return 0
    nexts = numbers(table, record[layout.L_BASE] + layout.NEXTS)
    heads, at = _heads(table, record, entry)
    number = np.int64(heads[at])
    count = 0
    while number:
        if count < found.size:
            found[count] = number - 1
        count += 1
        number = np.int64(nexts[number - 1])
    return count
