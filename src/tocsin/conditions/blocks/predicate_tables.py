"""Tables of distinct predicates: some rows of one, several put together, and what tells predicates apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.packed import joined, joined_starts, packed_bytes, some_spans
from tocsin.arrays.spans import gather_spans
from tocsin.conditions.graph.predicate_table import PredicateTable
from tocsin.conditions.kernels.predicate_parser import BETWEEN_NAMES
from tocsin.conditions.language.tree import Path

_HEAD = 12
"""Bytes in front of every key: the test, the kind, and how long the field and the operands are."""


def some_rows(table: PredicateTable, rows: NDArray[np.int64]) -> PredicateTable:
    """The table of some of its predicates, in the given order."""
    operand_start, operand = some_spans(table.operand_start, rows)
    text_start, text = gather_spans(table.text, table.text_start[rows], table.text_start[rows + 1])
    leaf_start, leaf_text = gather_spans(table.leaf_text, table.leaf_start[rows], table.leaf_start[rows + 1])
    return PredicateTable(
        table.paths,
        table.field[rows],
        table.test[rows],
        table.kind[rows],
        operand_start,
        table.operand_high[operand],
        table.operand_low[operand],
        text_start,
        text,
        leaf_start,
        leaf_text,
    )


def joined_tables(tables: Sequence[PredicateTable]) -> PredicateTable:
    """All predicates of the tables, one table after the other; no predicate may be in two of them."""
    number: dict[Path, int] = {}
    fields = []
    for table in tables:
        of_table = [number.setdefault(path, len(number)) for path in table.paths]
        fields.append(np.array(of_table, np.int32)[table.field])
    return PredicateTable(
        list(number),
        joined(fields, np.int32),
        joined([table.test for table in tables], np.uint8),
        joined([table.kind for table in tables], np.uint8),
        joined_starts([table.operand_start for table in tables]),
        joined([table.operand_high for table in tables], np.int64),
        joined([table.operand_low for table in tables], np.int64),
        joined_starts([table.text_start for table in tables]),
        joined([table.text for table in tables], np.uint8),
        joined_starts([table.leaf_start for table in tables]),
        joined([table.leaf_text for table in tables], np.uint8),
    )


def keys_of_predicates(table: PredicateTable) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Starts and bytes of a key for each predicate: equal keys mean equal predicates, in any two tables.

    key      test, kind, 2 bytes of zero, length of the field, number of operands | field | operands | text
    """
    count = len(table.field)
    names = [bytes([BETWEEN_NAMES]).join(map(str.encode, path)) for path in table.paths]
    path_start, path = packed_bytes(names)
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
