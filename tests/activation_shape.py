"""What hangs where in an activation index, in plain values; and what must always be so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tocsin.datalog.kernels import layout
from tocsin.datalog.machine import Machine
from tocsin.datalog.machine.store import Store


class Entry(NamedTuple):
    """A data index entry: its key, and for each link the rows that hang in it.

    A link without rows is what the others wait for. Of a counted link only the number of rows is kept.
    """

    key: tuple[int, ...]
    hanging: dict[int, list[tuple[int, ...]]]
    counted: dict[int, int]


def entries(store: Store, index: int) -> Iterator[Entry]:
    """The entries of a data index, in the order in which they were made."""
    record = store.index_record(index)
    base, width, members = (int(record[at]) for at in (layout.I_BASE, layout.I_WIDTH, layout.I_MEMBERS))
    heads = store.array(base, layout.HEADS)
    keys = store.array(base, layout.KEYS)
    for entry in range(int(record[layout.I_SIZE])):
        own = heads[entry * members : (entry + 1) * members].tolist()
        if own[0] < 0:
            continue
        hanging: dict[int, list[tuple[int, ...]]] = {}
        counted: dict[int, int] = {}
        for link in store.links.members[index]:
            head = own[int(store.link_record(link)[layout.L_MEMBER])]
            if store.links.links[link].counted:
                counted[link] = head
            else:
                hanging[link] = list(_listed(store, link, head))
        yield Entry(tuple(keys[entry * width : (entry + 1) * width].tolist()), hanging, counted)


def _listed(store: Store, link: int, head: int) -> Iterator[tuple[int, ...]]:
    record = store.link_record(link)
    relation = int(record[layout.L_RELATION])
    nexts = store.array(int(record[layout.L_BASE]), layout.NEXTS)
    while head:
        yield tuple(store.rows(relation, np.array([head - 1]))[0].tolist())
        head = int(nexts[head - 1])


Hanging = dict[str, set[tuple[int, ...]] | int]
"""What hangs in an entry, by relation: the rows, or how many they are where that is all that is kept."""


def waiting_and_matching(machine: Machine, relation: str, column: int) -> dict[int, Hanging]:
    """By key, what hangs in the data index on a column of a relation."""
    store = machine._store
    (index,) = {
        store.links.index_of(number)
        for number, link in enumerate(store.links.links)
        if link.side.relation == relation and link.side.columns == (column,)
    }
    found: dict[int, Hanging] = {}
    for entry in entries(store, index):
        here = found[entry.key[0]] = {}
        for link, rows in entry.hanging.items():
            if rows:
                here[store.links.links[link].side.relation] = set(rows)
        for link, count in entry.counted.items():
            if count:
                here[store.links.links[link].side.relation] = count
    return found


def check_shape(machine: Machine) -> None:
    """Every row hangs once by each link whose tests it passes, at its own key, and nothing else hangs."""
    store = machine._store
    for index, members in enumerate(store.links.members):
        seen: dict[int, list[tuple[int, ...]]] = {link: [] for link in members}
        counts: dict[int, dict[tuple[int, ...], int]] = {link: {} for link in members}
        keys: list[tuple[int, ...]] = []
        for entry in entries(store, index) if members else ():
            keys.append(entry.key)
            assert any(entry.hanging.values()) or any(entry.counted.values()), "no entry is kept for nothing"
            for link, rows in entry.hanging.items():
                columns = store.links.links[link].side.columns
                assert all(tuple(row[column] for column in columns) == entry.key for row in rows)
                seen[link] += rows
            for link, count in entry.counted.items():
                counts[link][entry.key] = count
        assert len(keys) == len(set(keys)), "one entry for each key"
        for link in members:
            side, tests, counted = store.links.links[link]
            passing = [
                row
                for row in map(tuple, machine.rows(machine.relation(side.relation)).tolist())
                if all(
                    row[test.column] == (test.word if test.other is None else row[test.other])
                    for test in tests
                )
            ]
            if counted:
                wanted: dict[tuple[int, ...], int] = dict.fromkeys(keys, 0)
                for row in passing:
                    wanted[tuple(row[column] for column in side.columns)] += 1
                assert counts[link] == wanted
            else:
                assert sorted(seen[link]) == sorted(passing)
