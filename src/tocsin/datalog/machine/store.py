"""Relations, data indexes and links as arrays that grow, in the layout of datalog/kernels/layout.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays import row_table
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.datalog.kernels import arithmetic, data_index, layout, tuple_table
from tocsin.datalog.kernels.key_order import ROOM_FOR_ONE, USED
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.index_links import ColumnTest, Link, Links

_FIRST_ROOM = 8
_GROWTH = 1.5
_NO_NODES = 0, -1, -1, 0
"""The state of an empty skip list: see datalog/kernels/key_order.py."""

_LINKED = layout.ENTRIES, layout.NEXTS, layout.LASTS

KINDS = dict.fromkeys((Type.NUMBER, Type.SYMBOL), arithmetic.NUMBER) | {
    Type.UNSIGNED: arithmetic.UNSIGNED,
    Type.FLOAT: arithmetic.FLOAT,
}
"""What kernels call types. Symbols are compared as the numbers they are known by: equal or not."""


def _hash_size(rows: int) -> int:
    """Places for this many rows: a power of two, at most two thirds of it taken."""
    return 1 << (3 * rows // 2).bit_length()


class Memory:
    """Numbered slots with an array each; `table` is what datalog/kernels/memory_table.py describes."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.table: Longs = np.zeros(2 * 64, np.int64)

    def add(self, array: NDArray[Any]) -> int:
        """A new slot."""
        slot = len(self.arrays)
        if 2 * slot == self.table.size:
            self.table = np.concatenate((self.table, np.zeros_like(self.table)))
        self.arrays.append(array)
        self.put(slot, array)
        return slot

    def put(self, slot: int, array: NDArray[Any]) -> None:
        """Have another array in a slot: contiguous, and of the slot's own kind.

        Nothing is called between the assignments, so that no interrupt leaves kernels an array that is gone.
        """
        address = array.ctypes.data
        self.table[2 * slot] = address
        self.table[2 * slot + 1] = array.size
        self.arrays[slot] = array

    def lengthen(self, slot: int, length: int) -> None:
        """The same array with room for more behind it; what is there is undefined."""
        old = self.arrays[slot]
        new = np.empty(length, old.dtype)
        new[: old.size] = old
        self.put(slot, new)

    @property
    def bytes(self) -> int:
        """What all arrays take."""
        return sum(array.nbytes for array in self.arrays)


class Details:
    """Lists of words that records point into; a list that is there already is not written again."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self._place: dict[tuple[int, ...], int] = {}

    def place(self, listed: Sequence[int]) -> int:
        """Where a list stands."""
        key = tuple(listed)
        if key not in self._place:
            self._place[key] = len(self.words)
            self.words.extend(key)
        return self._place[key]

    def tests(self, tests: Sequence[ColumnTest]) -> tuple[int, int]:
        """From where to where the tests of a link or a plan stand."""
        listed: list[int] = []
        for test in tests:
            if test.other is None:
                listed += [test.column, layout.EQUALS_CONSTANT, test.word or 0]
            else:
                listed += [test.column, layout.EQUALS_COLUMN, test.other]
        place = self.place(listed)
        return place, place + len(listed)


class Store:
    """All tuples and where they hang."""

    def __init__(self) -> None:
        self.memory = Memory()
        for _ in range(layout.FIXED_SLOTS):
            self.memory.add(np.zeros(0, np.int64))
        self.details = Details()
        self.links = Links()
        self.number_of: dict[str, int] = {}
        self.links_of: list[list[int]] = []
        """The links of each relation."""
        self._linked = 0

    def relation_record(self, relation: int) -> Longs:
        """The fields of a relation, R_ARITY and so on; a view."""
        return self._record(layout.RELATIONS, layout.RELATION, relation)

    def index_record(self, index: int) -> Longs:
        """The fields of a data index, I_WIDTH and so on; a view."""
        return self._record(layout.INDEXES, layout.INDEX, index)

    def link_record(self, link: int) -> Longs:
        """The fields of a link, L_RELATION and so on; a view."""
        return self._record(layout.LINKS, layout.LINK, link)

    def array(self, base: int, kind: int) -> NDArray[Any]:
        """An array of a relation, an index or a link, by its record's base and its kind."""
        return self.memory.arrays[base + kind]

    def add_relation(self, name: str, arity: int, *, recursive: bool) -> int:
        """A new relation without tuples."""
        number = len(self.number_of)
        ranked = _FIRST_ROOM if recursive else 0
        base = self.memory.add(np.empty(_FIRST_ROOM * arity, np.int64))
        for length in (_FIRST_ROOM, _FIRST_ROOM, _hash_size(_FIRST_ROOM), _FIRST_ROOM, _FIRST_ROOM):
            self.memory.add(np.zeros(length, np.int32))
        self.memory.add(np.empty(ranked, np.int64))
        self.memory.add(np.empty(ranked, np.int32))
        record = np.zeros(layout.RELATION, np.int64)
        record[layout.R_ARITY], record[layout.R_BASE] = arity, base
        record[layout.R_ROOM], record[layout.R_RECURSIVE] = _FIRST_ROOM, recursive
        self._append(layout.RELATIONS, record)
        self.number_of[name] = number
        self.links_of.append([])
        return number

    def add_links(self) -> None:
        """Make arrays for every link and data index that `links` has got since the last time."""
        for index in self.links.build():
            self._add_index(index)
        new = range(self._linked, len(self.links.links))
        self._linked = len(self.links.links)
        for link in new:
            self._add_link(link, self.links.links[link])
        self.write_details()
        for link in new:
            relation = self.relation_record(int(self.link_record(link)[layout.L_RELATION]))
            if relation[layout.R_LIVE]:
                index = int(self.link_record(link)[layout.L_INDEX])
                self.make_index_room(index, int(relation[layout.R_LIVE]))
                data_index.hang_all(self.memory.table, link)

    def write_details(self) -> None:
        """Let kernels see the lists that were added."""
        self.memory.put(layout.DETAILS, np.array(self.details.words, np.int64))

    def make_room(self, relation: int, more: int) -> None:
        """Have room for more tuples in a relation. An interrupt leaves what is longer than it needs to be."""
        record = self.relation_record(relation)
        base, arity = int(record[layout.R_BASE]), int(record[layout.R_ARITY])
        size, room = int(record[layout.R_SIZE]), int(record[layout.R_ROOM])
        if size + more > room:
            room = max(size + more, int(_GROWTH * room) + _FIRST_ROOM)
            self.memory.lengthen(base + layout.ROWS, room * arity)
            self.memory.lengthen(base + layout.COUNTS, room)
            self.memory.lengthen(base + layout.STATES, room)
            if record[layout.R_RECURSIVE]:
                self.memory.lengthen(base + layout.RANKS, room)
                self.memory.lengthen(base + layout.SUPPORTS, room)
            for link in self.links_of[relation]:
                linked = self.link_record(link)
                for kind in (layout.ENTRIES,) if linked[layout.L_COUNTED] else _LINKED:
                    self.memory.lengthen(int(linked[layout.L_BASE]) + kind, room)
            states = self.array(base, layout.STATES)[:size]
            self._hash(base + layout.HASHED, base + layout.ROWS, arity, states, room)
            record[layout.R_ROOM] = room
        noted = int(record[layout.R_CHANGED])
        if noted + more > self.array(base, layout.CHANGED).size:
            length = max(noted + more, int(_GROWTH * noted) + _FIRST_ROOM)
            self.memory.lengthen(base + layout.PENDING, length)
            self.memory.lengthen(base + layout.CHANGED, length)

    def make_index_room(self, index: int, more: int = 1) -> None:
        """Have room for more entries in a data index."""
        record = self.index_record(index)
        base, width, members = (int(record[at]) for at in (layout.I_BASE, layout.I_WIDTH, layout.I_MEMBERS))
        size, room = int(record[layout.I_SIZE]), int(record[layout.I_ROOM])
        if record[layout.I_ORDER]:
            self._make_node_room(base, more)
        if size + more <= room:
            return
        room = max(size + more, int(_GROWTH * room) + _FIRST_ROOM)
        self.memory.lengthen(base + layout.KEYS, room * width)
        self.memory.lengthen(base + layout.HEADS, room * members)
        first = self.array(base, layout.HEADS)[: size * members : members]
        self._hash(base + layout.PLACES, base + layout.KEYS, width, first, room)
        record[layout.I_ROOM] = room

    def empty(self) -> int:
        """Take every tuple away, in the midst of a change, and have those looked at that are given.

        Rows keep their numbers, noted with whether they were there when the change began. How many of
        them are in relations that the user hears of.
        """
        for index in range(len(self.links.members)):
            record = self.index_record(index)
            record[layout.I_SIZE] = record[layout.I_FREE] = 0
            base = int(record[layout.I_BASE])
            self.array(base, layout.PLACES).fill(0)
            self.array(base, layout.NODE_STATE)[:] = _NO_NODES
        return sum(self._empty_relation(relation) for relation in self.number_of.values())

    def find(self, relation: int, row: Longs) -> int:
        """The number of the tuple with this row, negative if there is none."""
        return tuple_table.find_tuple(self.memory.table, relation, row, 0)

    def rows(self, relation: int, numbers: Longs | Ints) -> Longs:
        """The rows of some tuples."""
        record = self.relation_record(relation)
        arity = int(record[layout.R_ARITY])
        rows = self.array(int(record[layout.R_BASE]), layout.ROWS)
        room = rows.size // arity if arity else int(record[layout.R_ROOM])
        return rows.reshape(room, arity)[numbers].astype(np.int64, copy=False)

    def states(self, relation: int) -> Ints:
        """The states of all tuples of a relation, free numbers as 0."""
        record = self.relation_record(relation)
        states = self.array(int(record[layout.R_BASE]), layout.STATES)[: int(record[layout.R_SIZE])]
        found: Ints = np.maximum(states, 0)
        return found

    def state(self, relation: int, number: int) -> int:
        """The state of one tuple."""
        base = int(self.relation_record(relation)[layout.R_BASE])
        return int(self.array(base, layout.STATES)[number])

    def ranks(self, relation: int, numbers: Longs) -> Longs:
        """The ranks of some tuples, 0 in a relation that is not recursive."""
        record = self.relation_record(relation)
        if not record[layout.R_RECURSIVE]:
            return np.zeros(len(numbers), np.int64)
        ranks: Longs = self.array(int(record[layout.R_BASE]), layout.RANKS)[numbers]
        return ranks

    def lookup(self, relation: int, link: int, key: Sequence[int], in_order: int) -> Longs:
        """The rows that hang by a link in the entry of a key; DETAILS counts 0, 1, 2 ... at `in_order`."""
        wanted, found = np.array(key, np.int64), np.empty(16, np.int64)
        while (count := data_index.collect(self.memory.table, link, wanted, in_order, found)) > found.size:
            found = np.empty(count, np.int64)
        return self.rows(relation, found[:count])

    def live(self, name: str) -> int:
        """How many rows a relation has."""
        return int(self.relation_record(self.number_of[name])[layout.R_LIVE])

    def facts(self, name: str) -> int:
        """How many rows a relation has, if no rule derives any."""
        return 0 if self.relation_record(self.number_of[name])[layout.R_DERIVED] else self.live(name)

    def all_facts(self, name: str) -> int:
        """How many rows of a relation are given; all must be looked at, where rules derive some."""
        given = self.states(self.number_of[name]) & layout.GIVEN
        return self.facts(name) or int(np.count_nonzero(given))

    def going(self, relation: int) -> int:
        """How many tuples of a relation are about to go."""
        record = self.relation_record(relation)
        pending = self.array(int(record[layout.R_BASE]), layout.PENDING)[: record[layout.R_PENDING]]
        return int(np.count_nonzero(self.states(relation)[pending] & layout.PRESENT))

    def keys(self) -> int:
        """How many keys all data indexes have."""
        bases = [int(self.index_record(index)[layout.I_BASE]) for index in range(len(self.links.members))]
        return sum(int(np.count_nonzero(self.array(base, layout.PLACES))) for base in bases)

    def semantic_entries(self) -> int:
        """How many tuples hang in data indexes, a tuple once for each link: with partners, or waiting."""
        count = 0
        for link in range(len(self.links.links)):
            record = self.link_record(link)
            states = self.states(int(record[layout.L_RELATION]))
            entries = self.array(int(record[layout.L_BASE]), layout.ENTRIES)[: states.size]
            count += int(np.count_nonzero((states & layout.PRESENT != 0) & (entries >= 0)))
        return count

    def _empty_relation(self, relation: int) -> int:
        record = self.relation_record(relation)
        base = int(record[layout.R_BASE])
        states = self.array(base, layout.STATES)[: int(record[layout.R_SIZE])]
        rows = np.flatnonzero(states >= 0).astype(np.int32)
        before = states[rows]
        given = before & layout.GIVEN != 0
        was_there = before & np.where(before & layout.NOTED, layout.BEFORE, layout.PRESENT) != 0
        states[rows] = layout.NOTED + (layout.GIVEN | layout.QUEUED) * given + layout.BEFORE * was_there
        self.array(base, layout.COUNTS)[rows] = 0
        for kind, noted in ((layout.CHANGED, rows), (layout.PENDING, rows[given])):
            listed = np.empty(int(record[layout.R_ROOM]), np.int32)
            listed[: len(noted)] = noted
            self.memory.put(base + kind, listed)
        record[layout.R_CHANGED], record[layout.R_PENDING] = len(rows), np.count_nonzero(given)
        record[layout.R_LIVE] = 0
        return len(rows) if record[layout.R_REPORTED] else 0

    def _record(self, slot: int, words: int, number: int) -> Longs:
        return self.memory.arrays[slot][number * words : (number + 1) * words]

    def _append(self, slot: int, record: Longs) -> None:
        self.memory.put(slot, np.concatenate((self.memory.arrays[slot], record)))

    def _add_index(self, index: int) -> None:
        members = self.links.members[index]
        side = self.links.links[members[0]].side if members else None
        record = np.zeros(layout.INDEX, np.int64)
        record[layout.I_BASE] = self.memory.add(np.zeros(0, np.int64))
        record[layout.I_WIDTH] = len(side.columns) if side else 0
        record[layout.I_ORDER] = 1 + KINDS[side.order] if side and side.order else 0
        self.memory.add(np.zeros(0, np.int32))
        self.memory.add(np.zeros(_hash_size(_FIRST_ROOM), np.int32))
        self.memory.add(np.zeros(0, np.int64))
        for _ in (layout.NODE_RIGHT, layout.NODE_DOWN, layout.NODE_LEFT):
            self.memory.add(np.zeros(0, np.int32))
        self.memory.add(np.array(_NO_NODES, np.int64))
        self._append(layout.INDEXES, record)

    def _make_node_room(self, base: int, more: int) -> None:
        """Have nodes for more keys: each takes one and a third on average, and at most ROOM_FOR_ONE."""
        used = int(self.array(base, layout.NODE_STATE)[USED])
        length = self.array(base, layout.NODE_KEYS).size
        if used + more * ROOM_FOR_ONE > length:
            length = max(used + more * ROOM_FOR_ONE, int(_GROWTH * length))
            for kind in (layout.NODE_RIGHT, layout.NODE_DOWN, layout.NODE_LEFT, layout.NODE_KEYS):
                self.memory.lengthen(base + kind, length)

    def _add_link(self, number: int, link: Link) -> None:
        index = self.links.index_of(number)
        relation = self.number_of[link.side.relation]
        room = int(self.relation_record(relation)[layout.R_ROOM])
        base = self.memory.add(np.empty(room, np.int32))
        for _ in (layout.NEXTS, layout.LASTS):
            self.memory.add(np.empty(0 if link.counted else room, np.int32))
        record = np.zeros(layout.LINK, np.int64)
        record[layout.L_RELATION], record[layout.L_INDEX] = relation, index
        record[layout.L_BASE], record[layout.L_COUNTED] = base, link.counted
        record[layout.L_MEMBER] = self._add_member(index)
        record[layout.L_COLUMNS] = self.details.place(link.side.columns)
        record[layout.L_TESTS], record[layout.L_TESTS_END] = self.details.tests(link.tests)
        self._append(layout.LINKS, record)
        self.links_of[relation].append(number)

    def _add_member(self, index: int) -> int:
        """One more column of heads."""
        record = self.index_record(index)
        members, room = int(record[layout.I_MEMBERS]), int(record[layout.I_ROOM])
        heads = np.zeros((room, members + 1), np.int32)
        base = int(record[layout.I_BASE])
        heads[:, :members] = self.array(base, layout.HEADS).reshape(room, members)
        self.memory.put(base + layout.HEADS, heads.reshape(-1))
        record[layout.I_MEMBERS] = members + 1
        return members

    def _hash(self, slot: int, rows: int, width: int, skipped: Ints, room: int) -> None:
        """Have a hash table for so many rows; those that are there are entered, but those to be skipped."""
        if _hash_size(room) > self.memory.arrays[slot].size:
            hashed = np.zeros(_hash_size(room), np.int32)
            skipped = np.ascontiguousarray(skipped)
            row_table.enter_rows(self.memory.arrays[rows], width, len(skipped), skipped, hashed)
            self.memory.put(slot, hashed)
