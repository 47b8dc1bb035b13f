"""What a loop found in the text of events, as batches of cells: those that python_events.py would make.

A `ScanPlan` is made once for a set of fields and kept names. A loop writes a stream of cells, which becomes
a batch here, and texts of the names to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.jit import is_cached
from tocsin.arrays.packed import packed_bytes
from tocsin.events.cells import (
    NO_ROWS,
    BooleanCells,
    Cells,
    Column,
    EventBatch,
    NumberCells,
    Path,
    StringCells,
    column_of_cells,
)
from tocsin.events.kernels.cell_stream import (
    BOOLEAN,
    KEPT,
    KINDS,
    LISTED,
    NOTHING,
    NUMBER,
    OBJECT,
    STRING,
    WRITTEN_INTEGER,
    CellStream,
    OrderedCells,
    distinct_by_field,
    new_stream,
    ordered,
    texts_of_rows,
    written_numbers,
)
from tocsin.events.kernels.field_names import FieldNames, names_by_hash
from tocsin.events.number_pairs import split_integer
from tocsin.events.python_events import FieldPlan, Node
from tocsin.events.text_window import SPARE, TextWindow
from tocsin.tables import integer_of_digits

_CELLS = 1 << 16


class KeptTexts(NamedTuple):
    """Texts of one name: those of some rows, which stand in a block of bytes."""

    row: Ints
    place: Longs
    end: Longs


class ScanPlan:
    """How to find fields in text, and room for what is found. `kept` are outermost names."""

    def __init__(self, fields: Iterable[Path], kept: Sequence[str] = ()) -> None:
        self.fields = list(dict.fromkeys(fields))
        self.kept = list(kept)
        self.stream = new_stream(_CELLS)
        self.repeated: Flags = np.zeros(len(self.fields) + 1, np.bool_)

    def found(self, scan: Callable[[CellStream, Flags], int], data: Bytes) -> OrderedCells:
        """The cells that a loop finds, which says how many; without room for them it is run again."""
        while True:
            self.repeated[:] = False
            count = scan(self.stream, self.repeated)
            if count <= len(self.stream.key):
                break
            self.stream = new_stream(2 * count)
        _read_written(self.stream, count, data)
        return ordered(self.stream, count, len(self.fields) + len(self.kept))

    def batch(self, cells: OrderedCells, data: Bytes, length: int) -> EventBatch:
        """So many events with these cells."""
        texts = distinct_by_field(cells, len(self.fields), data)
        offsets, text_bytes = pa.py_buffer(texts.start), pa.py_buffer(texts.data)
        columns: dict[Path, Column] = {}
        start, first = cells.start.tolist(), texts.first.tolist()
        numbers = cells.place.view(np.float64)
        coded = 0
        for number, field in enumerate(self.fields):
            key = number * KINDS
            at = start[key : key + KINDS + 1]
            if at[0] == at[KINDS]:
                continue
            found = Cells()
            if at[NUMBER] < at[NUMBER + 1]:
                some = slice(at[NUMBER], at[NUMBER + 1])
                found = found._replace(numbers=NumberCells(cells.row[some], numbers[some], cells.low[some]))
            if at[STRING] < at[STRING + 1]:
                some = slice(at[STRING], at[STRING + 1])
                code = texts.code[coded : coded + some.stop - some.start]
                coded += len(code)
                distinct = pa.LargeStringArray.from_buffers(
                    first[number + 1] - first[number], offsets, text_bytes, None, 0, first[number]
                )
                found = found._replace(strings=StringCells(cells.row[some], code, distinct))
            if at[BOOLEAN] < at[BOOLEAN + 1]:
                some = slice(at[BOOLEAN], at[BOOLEAN + 1])
                found = found._replace(
                    booleans=BooleanCells(cells.row[some], cells.place[some].astype(np.uint8))
                )
            column = column_of_cells(
                found,
                cells.row[at[LISTED] : at[LISTED + 1]] if at[LISTED] < at[LISTED + 1] else NO_ROWS,
                cells.row[at[OBJECT] : at[OBJECT + 1]] if at[OBJECT] < at[OBJECT + 1] else NO_ROWS,
                repeated=bool(self.repeated[number]),
            )
            if column is not None:
                columns[field] = column
        return EventBatch(length, columns)

    def kept_texts(self, cells: OrderedCells) -> dict[str, KeptTexts]:
        """The texts of every name that is kept."""
        found = {}
        for number, name in enumerate(self.kept, len(self.fields)):
            key = number * KINDS + KEPT
            some = slice(cells.start[key], cells.start[key + 1])
            found[name] = KeptTexts(cells.row[some], cells.place[some], cells.low[some])
        return found


def is_worth_it(window: TextWindow, loop: Callable[..., object], many: int) -> bool:
    """Whether a loop was compiled before, or there are so many bytes to be read that it will be."""
    return is_cached(loop) or (window.fill(many) and window.left >= many)


def field_names(plan: ScanPlan) -> FieldNames:
    """The tree of a plan's names as arrays."""
    number_of = {path: number for number, path in enumerate(plan.fields)}
    kept_number = {name: number for number, name in enumerate(plan.kept, len(plan.fields))}
    outermost = dict(FieldPlan(plan.fields).names)
    for name in plan.kept:
        outermost.setdefault(name, Node(None, {}))
    names, parents, field, kept, inner = [b""], [-1], [-1], [-1], [len(outermost)]
    todo = [(0, name, node) for name, node in outermost.items()]
    for parent, name, node in todo:
        todo.extend((len(names), each, below) for each, below in node.names.items())
        names.append(name.encode("utf-8", "surrogatepass"))
        parents.append(parent)
        field.append(-1 if node.field is None else number_of[node.field])
        kept.append(kept_number.get(name, -1) if parent == 0 else -1)
        inner.append(len(node.names))
    start, data = packed_bytes([*names, bytes(SPARE)])
    parent_of = np.array(parents, np.int32)
    slot = names_by_hash(parent_of, start, data)
    return FieldNames(
        parent_of,
        np.array(field, np.int32),
        np.array(kept, np.int32),
        np.array(inner, np.int32),
        start,
        data,
        slot,
    )


def kept_array(texts: KeptTexts, data: Bytes, length: int) -> pa.LargeStringArray:
    """The texts as an array over so many rows, null where there is none."""
    start, text_bytes = texts_of_rows(length, texts.row, texts.place, texts.end, data)
    validity = None
    if len(texts.row) < length:
        present = np.zeros(length, np.bool_)
        present[texts.row] = True
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.LargeStringArray.from_buffers(length, pa.py_buffer(start), pa.py_buffer(text_bytes), validity)


def _read_written(stream: CellStream, count: int, data: Bytes) -> None:
    """Turn numbers that loops leave as texts into numbers."""
    for place in written_numbers(stream, count).tolist():
        text = data[stream.place[place] : stream.low[place]].tobytes().decode()
        field, kind = divmod(int(stream.key[place]), KINDS)
        if kind == WRITTEN_INTEGER:
            high, low = split_integer(integer_of_digits(text))
        else:
            high, low = float(text) + 0.0, 0
        stream.key[place] = NOTHING if high != high else field * KINDS + NUMBER
        stream.place[place] = np.float64(high).view(np.int64)
        stream.low[place] = low
