"""The distinct predicates while conditions are read: a table that grows, and two ways into it.

The kernel reads predicates from bytes. What it refuses, the grammar's parser reads; the canonical
predicate is printed and given to the kernel again, so that however a predicate was written it has one
form here, and only what the kernel refuses in its canonical form is put together by Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tocsin.events.kinds import Kind
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.conditions import parse_predicate
from tocsin.grammar.patterns import parse_network
from tocsin.grammar.printing import print_literal, print_predicate
from tocsin.grammar.tree import Path, Predicate, Test
from tocsin.index.keys import address_key, scalar_key
from tocsin.index.packing import Scalar, joined, packed_bytes, starts
from tocsin.kernels.predicate_table import (
    FIELDS,
    LEAVES,
    OPERANDS,
    PATH,
    TEXT,
    PredicateTable,
    hash_paths,
    intern_predicate,
    place_in_slots,
    read_predicates,
)
from tocsin.kernels.predicates import BETWEEN_NAMES, Form, room_for_predicates
from tocsin.kernels.spans import gather_spans
from tocsin.kernels.values import UNSURE

TEST_CODE = {test: code for code, test in enumerate(Test)}
"""How kernels.predicates numbers the tests."""

_SEPARATOR = bytes([BETWEEN_NAMES])


class Predicates:
    """The distinct predicates, in canonical form; predicate l is leaf l, and node l + 1 of the graph."""

    def __init__(self) -> None:
        self.table = PredicateTable(
            np.zeros(5, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.uint8),
            np.empty(0, np.uint8),
            np.zeros(1, np.int64),
            np.empty(0, np.int64),
            np.empty(0, np.int64),
            np.zeros(1, np.int64),
            np.empty(0, np.uint8),
            np.empty(0, np.uint64),
            np.full(2, -1, np.int32),
            np.zeros(1, np.int64),
            np.empty(0, np.uint8),
            np.full(2, -1, np.int32),
        )
        self._texts: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []

    def read(
        self,
        data: NDArray[np.uint8],
        start: NDArray[np.int64],
        end: NDArray[np.int64],
        alias: str | None = None,
    ) -> NDArray[np.int32]:
        """The references of predicates data[start[i] : end[i]] that the kernel is sure of, else UNSURE."""
        count, total = len(start), int((end - start).sum())
        self._make_room(count, total, total, total)
        ref, first = read_predicates(self.table, data, start, end, _bytes_of(alias))
        if len(first):
            texts = gather_spans(data, start[first], end[first])
            self._texts.append(texts if alias is None else _without_alias(*texts, alias))
        return ref

    def ref(self, predicate: Predicate, negated: bool = False) -> int:
        """The reference to a predicate that the grammar has read, or to its negation."""
        canonical = canonical_predicate(predicate)
        printed = np.frombuffer(bytearray(print_predicate(canonical).encode()), np.uint8)
        whole = np.zeros(1, np.int64), np.array([len(printed)])
        found = int(self.read(printed, *whole)[0])
        if found == UNSURE:
            known = self.table.size[LEAVES]
            leaf = self._put_together(canonical)
            if leaf == known:
                self._texts.append(gather_spans(printed, *whole))
            found = 2 * (leaf + 1)
        return found + negated

    def texts(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Starts and bytes of the text of each leaf: as it was first written, or printed."""
        sizes = joined([np.diff(start) for start, _ in self._texts], np.int64)
        return starts(sizes, np.int64), joined([data for _, data in self._texts], np.uint8)

    def _put_together(self, predicate: Predicate) -> int:
        """The leaf of a canonical predicate that the kernel refuses."""
        kind, keys, text = _content(predicate)
        path = _SEPARATOR.join(name.encode() for name in predicate.field)
        self._make_room(1, len(keys), len(text), len(path))
        room = room_for_predicates(max(len(keys), len(text), len(path)))
        room.path[: len(path)] = np.frombuffer(path, np.uint8)
        room.operands.text[: len(text)] = np.frombuffer(text, np.uint8)
        for place, (high, low) in enumerate(keys):
            room.operands.high[place] = high
            room.operands.low[place] = low
        form = Form(TEST_CODE[predicate.test], kind, 0, len(keys), len(text), len(path))
        return intern_predicate(self.table, form, room)

    def paths(self) -> list[Path]:
        """The fields, by number."""
        table = self.table
        whole = table.path[: table.size[PATH]].tobytes()
        bounds = table.path_start[: int(table.size[FIELDS]) + 1].tolist()
        return [
            tuple(name.decode() for name in whole[begin:end].split(_SEPARATOR))
            for begin, end in pairwise(bounds)
        ]

    def _make_room(self, leaves: int, operands: int, text: int, path: int) -> None:
        """Let so many leaves, operands and bytes more fit, each of the leaves with a new field."""
        table = self.table
        used = table.size.tolist()
        leaf_room = _enlarged(len(table.field), used[LEAVES] + leaves)
        if leaf_room > len(table.field):
            table = table._replace(
                field=_longer(table.field, leaf_room),
                test=_longer(table.test, leaf_room),
                kind=_longer(table.kind, leaf_room),
                operand_start=_longer(table.operand_start, leaf_room + 1),
                text_start=_longer(table.text_start, leaf_room + 1),
                hash=_longer(table.hash, leaf_room),
                slot=_slots(leaf_room, table.hash[: used[LEAVES]]),
            )
        operand_room = _enlarged(len(table.operand_high), used[OPERANDS] + operands)
        if operand_room > len(table.operand_high):
            table = table._replace(
                operand_high=_longer(table.operand_high, operand_room),
                operand_low=_longer(table.operand_low, operand_room),
            )
        field_room = _enlarged(len(table.path_start) - 1, used[FIELDS] + leaves)
        if field_room >= len(table.path_start):
            hashes = hash_paths(table.path_start[: used[FIELDS] + 1], table.path)
            table = table._replace(
                path_start=_longer(table.path_start, field_room + 1),
                path_slot=_slots(field_room, hashes),
            )
        self.table = table._replace(
            text=_longer(table.text, _enlarged(len(table.text), used[TEXT] + text)),
            path=_longer(table.path, _enlarged(len(table.path), used[PATH] + path)),
        )


def _bytes_of(alias: str | None) -> NDArray[np.uint8]:
    return np.frombuffer(bytearray((alias or "").encode()), np.uint8)


def _without_alias(
    start: NDArray[np.int64], data: NDArray[np.uint8], alias: str
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Predicates as they are written where no table has the alias."""
    whole = data.tobytes()
    printed: list[bytes] = []
    for begin, end in pairwise(start.tolist()):
        predicate, negated = parse_predicate(whole[begin:end].decode(), alias)
        if isinstance(predicate, Predicate):
            printed.append(print_predicate(predicate, negated).encode())
    return packed_bytes(printed)


def _enlarged(room: int, needed: int) -> int:
    return room if needed <= room else max(needed, 2 * room)


def _longer(array: NDArray[Scalar], room: int) -> NDArray[Scalar]:
    """The array, or its content in a longer one."""
    if room <= len(array):
        return array
    longer = np.empty(room, array.dtype)
    longer[: len(array)] = array
    return longer


def _slots(room: int, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Slots for so many things, those with these hashes in their places."""
    slot = np.full(1 << max(1, (2 * room).bit_length()), -1, np.int32)
    place_in_slots(hashes, slot)
    return slot


def _content(predicate: Predicate) -> tuple[int, Sequence[tuple[int, int]], bytes]:
    """Kind, operands and text of a predicate for the table."""
    first = predicate.operands[0]
    if predicate.test is Test.CIDR:
        ranges = parse_network(str(first.value)).ranges
        return Kind.ADDRESS, [address_key(place) for ends in ranges for place in ends], b""
    if first.kind is Kind.STRING:
        texts = [str(literal.value).encode() for literal in predicate.operands]
        return Kind.STRING, [(0, len(text)) for text in texts], b"".join(texts)
    keys = [scalar_key(literal) for literal in predicate.operands]
    if predicate.test is Test.IN:
        keys = sorted(set(keys))
    written = ",".join(map(print_literal, predicate.operands)).encode()
    return first.kind, keys, written if first.kind is Kind.NUMBER else b""
