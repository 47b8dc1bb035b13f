"""The distinct predicates of a rule set, and the two ways in which they are read.

A kernel reads predicates from bytes. What it refuses, the grammar's parser reads; the canonical
predicate is printed and given to the kernel again, so that however a predicate was written it has one
form here, and only what the kernel refuses in its canonical form is put together by Python.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.packed import Texts, joined, joined_starts, packed_bytes, some_spans, starts
from tocsin.arrays.row_table import distinct_rows
from tocsin.conditions.graph.value_keys import address_key, double_key, scalar_key
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.kernels.predicate_parser import BETWEEN_NAMES, BOOLEAN_READING, TEXTS
from tocsin.conditions.kernels.predicate_rows import REFUSED, PredicateRows, read_predicates
from tocsin.conditions.language.addresses import parse_network
from tocsin.conditions.language.parser import parse_predicate
from tocsin.conditions.language.printer import print_literal, print_predicate
from tocsin.conditions.language.tree import TEXT_TESTS, Literal, Path, Predicate, Test
from tocsin.conditions.operators import OPERATORS, canonical_predicate
from tocsin.errors import IndexFileError
from tocsin.events import Kind

TEST_CODE = {test: code for code, test in enumerate(OPERATORS)}
"""How kernels/predicate_parser.py numbers the tests."""

_SEPARATOR = bytes([BETWEEN_NAMES])

_HEAD = 12
"""Bytes in front of every key: the test, the kind, and how long the field and the operands are."""


class PredicateTable(NamedTuple):
    """The distinct predicates, in canonical form; predicate l is leaf l, and node l + 1 of the graph.

    paths           the fields
    field           int32[L]     a place in paths
    test            uint8[L]     EQ ... TM_CONTAINS of kernels/predicate_parser.py
    kind            uint8[L]     a Kind, or NULLS, or TEXTS
    operand_start   int64[L+1]   operands and text as in kernels.predicate_rows.PredicateRows
    operand_high    int64[...]
    operand_low     int64[...]
    text_start      int64[L+1]
    text            uint8[...]
    leaf_start      int64[L+1]   each predicate as it was first written, perhaps negated:
    leaf_text       uint8[...]       leaf_text[leaf_start[l] : leaf_start[l+1]]
    """

    paths: list[Path]
    field: Ints
    test: Bytes
    kind: Bytes
    operand_start: Longs
    operand_high: Longs
    operand_low: Longs
    text_start: Longs
    text: Bytes
    leaf_start: Longs
    leaf_text: Bytes


class _Written(NamedTuple):
    """Where the predicates of some rows stand, and the alias that is no part of their fields."""

    data: Bytes
    start: Longs
    end: Longs
    alias: str | None


class Predicates:
    """Predicates as they are read: a row for each, which finds its leaf when all are there.

    A predicate is referred to by 2 * row, and its negation by one more.
    """

    def __init__(self) -> None:
        self._blocks: list[PredicateRows] = []
        self._written: list[_Written] = []
        self._count = 0
        self._asking: set[int] = set()

    @property
    def has_thresholds(self) -> bool:
        """Whether any predicate that was read has a threshold for free text."""
        return bool(self._asking)

    def asks_for_score(self, ref: Ints) -> Flags:
        """Which references are of predicates that have a threshold for free text."""
        return np.isin(ref >> 1, np.fromiter(self._asking, np.int64, len(self._asking)))

    def read(self, data: Bytes, start: Longs, end: Longs, alias: str | None = None) -> Ints:
        """The references of predicates data[start[i] : end[i]] that the kernel is sure of, else UNSURE."""
        rows = read_predicates(data, start, end, np.frombuffer(bytearray((alias or "").encode()), np.uint8))
        ref = 2 * self._append(rows, _Written(data, start, end, alias)) + rows.negated
        ref[rows.test == REFUSED] = UNSURE
        return ref

    def add(self, predicates: Sequence[Predicate]) -> Ints:
        """The references of predicates that the grammar has read."""
        canonical = list(map(canonical_predicate, predicates))
        number = {predicate: number for number, predicate in enumerate(dict.fromkeys(canonical))}
        printed_start, printed = packed_bytes([print_predicate(predicate).encode() for predicate in number])
        start, end = printed_start[:-1], printed_start[1:]
        ref = self.read(printed, start, end)
        left = np.flatnonzero(ref == UNSURE)
        if len(left):
            distinct = list(number)
            rows = _rows_of([distinct[place] for place in left.tolist()])
            ref[left] = 2 * self._append(rows, _Written(printed, start[left], end[left], None))
        return ref[[number[predicate] for predicate in canonical]]

    def _append(self, rows: PredicateRows, written: _Written) -> Ints:
        first = self._count
        text = np.flatnonzero(rows.kind == TEXTS)
        text = text[np.diff(rows.operand_start)[text] > 1]
        setting = rows.operand_low[rows.operand_start[text] + 1]
        self._asking.update((first + text[setting != BOOLEAN_READING]).tolist())
        self._blocks.append(rows)
        self._written.append(written)
        self._count += len(rows.test)
        return np.arange(first, self._count, dtype=np.int32)

    def table(self) -> tuple[PredicateTable, Ints]:
        """The distinct predicates, and the leaf of each row."""
        blocks = self._blocks or [_rows_of(())]
        rows = blocks[0] if len(blocks) == 1 else PredicateRows(**_joined_columns(blocks))
        field, path_start, path_end = number_pieces(rows.path, rows.path_start)
        paths = zip(path_start.tolist(), path_end.tolist(), strict=True)
        leaf, first = _distinct_predicates(rows, field)
        operand_start, operand = _taken(rows.operand_start, first)
        text_start, text = _taken(rows.text_start, first)
        table = PredicateTable(
            [_path(rows.path[begin:end].tobytes()) for begin, end in paths],
            field[first],
            rows.test[first],
            rows.kind[first],
            operand_start,
            rows.operand_high[operand],
            rows.operand_low[operand],
            text_start,
            rows.text[text],
            *self._texts(first),
        )
        return table, leaf

    def _texts(self, rows: Longs) -> tuple[Longs, Bytes]:
        """Starts and bytes of what was written at some rows, ascending."""
        parts = []
        before = 0
        for written in self._written:
            here = rows[slice(*np.searchsorted(rows, [before, before + len(written.start)]))] - before
            parts.append(_text_of(written, here))
            before += len(written.start)
        if len(parts) == 1:
            return parts[0]
        return joined_starts([start for start, _ in parts]), joined([data for _, data in parts], np.uint8)


def _distinct_predicates(rows: PredicateRows, field: Ints) -> tuple[Ints, Longs]:
    """Each row's number, UNSURE if it was refused, and each number's first row."""
    keys = np.stack((rows.operand_high, rows.operand_low), axis=1).reshape(-1).view(np.uint8)
    operands, texts = (
        number_pieces(keys, 16 * rows.operand_start)[0],
        number_pieces(rows.text, rows.text_start)[0],
    )
    sure = np.flatnonzero(rows.test != REFUSED)
    number = np.full(len(rows.test), UNSURE, np.int32)
    columns = (field, rows.test, rows.kind, operands, texts)
    number[sure], first = distinct_rows(*(column[sure] for column in columns))
    return number, sure[first]


def _rows_of(predicates: Sequence[Predicate]) -> PredicateRows:
    """Rows of canonical predicates that the kernel refuses."""
    contents = [_content(predicate) for predicate in predicates]
    keys = np.array([key for _, keys, _ in contents for key in keys], np.int64).reshape(-1, 2)
    return PredicateRows(
        np.array([TEST_CODE[predicate.test] for predicate in predicates], np.uint8),
        np.array([kind for kind, _, _ in contents], np.uint8),
        np.zeros(len(predicates), np.uint8),
        starts([len(keys) for _, keys, _ in contents], np.int64),
        keys[:, 0].copy(),
        keys[:, 1].copy(),
        *packed_bytes([text for _, _, text in contents]),
        *_packed_paths(predicate.field for predicate in predicates),
    )


def _content(predicate: Predicate) -> tuple[int, Sequence[tuple[int, int]], bytes]:
    """Kind, operands and text of a row."""
    first = predicate.operands[0]
    if predicate.test in TEXT_TESTS:
        query = str(first.value).encode()
        return TEXTS, [(0, len(query)), *map(_threshold_key, predicate.operands[1:])], query
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


def _threshold_key(literal: Literal) -> tuple[int, int]:
    """What stands behind a text query: a threshold, or `boolean`."""
    if literal.kind is Kind.BOOLEAN:
        return 0, BOOLEAN_READING
    return double_key(float(literal.value)), 0


def _path(names: bytes) -> Path:
    return tuple(name.decode() for name in names.split(_SEPARATOR))


def _taken(start: Longs, rows: Longs) -> tuple[Longs, Longs | slice]:
    """The starts of some rows' things when only these are left, and which things these are."""
    if len(rows) == len(start) - 1:
        return start, slice(None)
    return some_spans(start, rows)


def _text_of(written: _Written, rows: Longs) -> tuple[Longs, Bytes]:
    """What was written at some rows, as it reads where no table has the alias."""
    start, data = gather_spans(written.data, written.start[rows], written.end[rows])
    if written.alias is None:
        return start, data
    whole = data.tobytes()
    printed: list[bytes] = []
    for begin, end in pairwise(start.tolist()):
        predicate, negated = parse_predicate(whole[begin:end].decode(), written.alias)
        if isinstance(predicate, Predicate):
            printed.append(print_predicate(predicate, negated).encode())
    return packed_bytes(printed)


def predicate_of(leaf_text: Texts, leaf: int) -> Predicate:
    """A leaf's predicate, in canonical form, from its text."""
    predicate, _ = parse_predicate(leaf_text.text(leaf))
    if not isinstance(predicate, Predicate):
        raise IndexFileError(f"the index is damaged: its leaf {leaf} is a constant")
    return canonical_predicate(predicate)


def _packed_paths(paths: Iterable[Path]) -> tuple[Longs, Bytes]:
    return packed_bytes([_SEPARATOR.join(map(str.encode, path)) for path in paths])


def _joined_columns(tables: Sequence[NamedTuple], but: Container[str] = ()) -> dict[str, NDArray[Any]]:
    """The columns of tables of one kind, one table after the other; those of starts are shifted."""
    columns = {
        name: [getattr(table, name) for table in tables] for name in tables[0]._fields if name not in but
    }
    return {
        name: joined_starts(parts) if name.endswith("_start") else joined(parts, parts[0].dtype)
        for name, parts in columns.items()
    }


# ---- Tables of several blocks of rules


def some_rows(table: PredicateTable, rows: Longs) -> PredicateTable:
    """The table of some of its predicates, in the given order."""
    operand_start, operand = some_spans(table.operand_start, rows)
    return PredicateTable(
        table.paths,
        table.field[rows],
        table.test[rows],
        table.kind[rows],
        operand_start,
        table.operand_high[operand],
        table.operand_low[operand],
        *gather_spans(table.text, table.text_start[rows], table.text_start[rows + 1]),
        *gather_spans(table.leaf_text, table.leaf_start[rows], table.leaf_start[rows + 1]),
    )


def joined_tables(tables: Sequence[PredicateTable]) -> PredicateTable:
    """All predicates of the tables, one table after the other; no predicate may be in two of them."""
    if not tables:
        return Predicates().table()[0]
    number: dict[Path, int] = {}
    fields = []
    for table in tables:
        of_table = [number.setdefault(path, len(number)) for path in table.paths]
        fields.append(np.array(of_table, np.int32)[table.field])
    columns = _joined_columns(tables, ("paths", "field"))
    return PredicateTable(list(number), joined(fields, np.int32), **columns)


def keys_of_predicates(table: PredicateTable) -> tuple[Longs, Bytes]:
    """Starts and bytes of a key for each predicate: equal keys mean equal predicates, in any two tables.

    key      test, kind, 2 bytes of zero, length of the field, number of operands | field | operands | text
    """
    count = len(table.field)
    path_start, path = _packed_paths(table.paths)
    head = np.zeros((count, _HEAD), np.uint8)
    head[:, 0], head[:, 1] = table.test, table.kind
    head[:, 4:8] = np.diff(path_start)[table.field].astype("<u4").view(np.uint8).reshape(-1, 4)
    head[:, 8:] = np.diff(table.operand_start).astype("<u4").view(np.uint8).reshape(-1, 4)
    operands = np.stack((table.operand_high, table.operand_low), axis=1).astype("<i8")
    pieces = (head.reshape(-1), path, operands.reshape(-1).view(np.uint8), table.text)
    begin = np.empty((count, len(pieces)), np.int64)
    end = np.empty_like(begin)
    rows = np.arange(count, dtype=np.int64)
    offset = 0
    for place, (piece, first, last) in enumerate(
        (
            (pieces[0], _HEAD * rows, _HEAD * (rows + 1)),
            (pieces[1], path_start[table.field], path_start[table.field + 1]),
            (pieces[2], 16 * table.operand_start[:-1], 16 * table.operand_start[1:]),
            (pieces[3], table.text_start[:-1], table.text_start[1:]),
        )
    ):
        begin[:, place], end[:, place] = first + offset, last + offset
        offset += len(piece)
    start, data = gather_spans(np.concatenate(pieces), begin.reshape(-1), end.reshape(-1))
    return start[:: len(pieces)].copy(), data
