"""Python events to cells: dictionaries as json gives them, one or many.

An event is walked by its own keys, not by the fields that rules name: it holds some 20 of perhaps
1,000. A `FieldPlan` is the tree of the wanted paths, made once for a set of fields and used for
every batch after:

    wanted   a.b  a.c.d  e
    tree     a ─┬─ b (a.b)          in brackets the field that ends at a name
                └─ c ─── d (a.c.d)
             e (e)

A value is what the conditions ask of it: a path through a list of objects gives the flat list of
the values found there, lists in lists are flattened, nulls and NaNs are dropped, and an object is an
element of no kind. Only wanted fields are looked at, so an odd value elsewhere does no harm.
Neither the depth of an event nor that of a path costs recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import EventError
from tocsin.events.cells import (
    AN_EMPTY_LIST,
    AN_OBJECT,
    FALSE,
    FIRST_ROW,
    NO_ROWS,
    TRUE,
    Column,
    DecimalCells,
    EventBatch,
    NumberCells,
    Path,
    StringCells,
    TimestampCells,
    column_of_cells,
    column_of_one,
    texts_of,
)
from tocsin.events.field_values import (
    SIMPLE,
    Found,
    Instant,
    Scalar,
    cells_of,
    rows_of,
    scalar_of,
    surrogate_error,
    type_name,
)
from tocsin.events.number_pairs import split_mixed

DEEPEST_LIST = 1_000_000
"""Lists nested deeper than this are refused: such a list most likely holds itself."""

_LISTS = (list, tuple, set, frozenset, np.ndarray)
_SHORT = 100
_TEXT = {str}
_NUMBER = {int, float}


class _Node(NamedTuple):
    """A name in the tree of wanted paths: the field that ends here, and the names that go on."""

    field: Path | None
    names: dict[str, _Node]


class FieldPlan:
    """How to find a set of fields in events; make it once and use it for every batch.

    It keeps nothing between batches, so threads may share it.
    """

    def __init__(self, fields: Iterable[Path]) -> None:
        self._names: dict[str, _Node] = {}
        for path in fields:
            names = self._names
            for name in path[:-1]:
                names = names.setdefault(name, _Node(None, {})).names
            last = names.get(path[-1])
            names[path[-1]] = _Node(path, {} if last is None else last.names)

    def batch(self, events: Sequence[Mapping[str, object]]) -> EventBatch:
        """The cells of the wanted fields; EventError for the first event that cannot be read."""
        if len(events) == 1:
            return self._batch_of_one(events[0])
        found: dict[Path, Found] = {}
        wanted = self._names.get
        value: Any
        for row, event in enumerate(events):
            _check_event(event, row)
            for name, value in event.items():
                node = wanted(name)
                if node is None or value is None:
                    continue
                kind = type(value)
                if kind not in SIMPLE and (kind is not list or not SIMPLE.issuperset(map(type, value))):
                    _descend(node, value, row, found)
                elif node.field is not None:
                    cells = found.get(node.field)
                    if cells is None:
                        cells = found[node.field] = Found()
                    if kind is list:
                        cells.add_list(row, value)
                    else:
                        cells.rows.append(row)
                        cells.values.append(value)
        columns: dict[Path, Column] = {}
        for field, cells in found.items():
            listed, objects = rows_of(cells.listed), rows_of(cells.objects)
            column = column_of_cells(cells_of(field, cells), listed, objects, repeated=cells.repeated)
            if column is not None:
                columns[field] = column
        return EventBatch(len(events), columns)

    def _batch_of_one(self, event: Mapping[str, object]) -> EventBatch:
        _check_event(event, 0)
        one = _OneEvent()
        one.read(self._names, event)
        return one.batch()


def _check_event(event: object, row: int) -> None:
    if type(event) is not dict and not isinstance(event, Mapping):
        raise EventError(f"an event must be an object, not {type_name(event)}", row=row)


class _OneEvent:
    """The columns of a batch's only event, in a small part of the time that a batch takes for them.

    The texts of all fields are made into one array, of which a column has a slice, and so are the
    numbers. The quick ways are for what events hold as a rule; anything else is found as in a batch.
    """

    __slots__ = ("columns", "found", "numbers", "texts")

    def __init__(self) -> None:
        self.columns: dict[Path, Column] = {}
        self.texts: dict[Path, list[str]] = {}
        self.numbers: dict[Path, list[Any]] = {}
        self.found: dict[Path, Found] = {}

    def read(self, names: dict[str, _Node], event: Mapping[str, Any]) -> None:
        """Find every wanted field of the event."""
        columns, texts, numbers = self.columns, self.texts, self.numbers
        unread = [(names, event)]
        for names, members in unread:
            for name, value in members.items():
                node = names.get(name)
                if node is None or value is None:
                    continue
                field, below = node
                kind = type(value)
                if kind is dict:
                    if field is not None:
                        columns[field] = AN_OBJECT
                    if below:
                        unread.append((below, value))
                elif field is None:
                    if kind not in SIMPLE:
                        _descend(node, value, 0, self.found)
                elif kind is str:
                    texts[field] = [value]
                elif kind is int or kind is float:
                    if value == value:
                        numbers[field] = [value]
                elif kind is bool:
                    columns[field] = TRUE if value else FALSE
                elif kind is Decimal or kind is datetime:
                    self._add_scalar(field, scalar_of(value, field, 0))
                elif kind is not list or not self._add_list(field, value):
                    _descend(node, value, 0, self.found)

    def _add_scalar(self, field: Path, value: Scalar | None) -> None:
        if isinstance(value, Decimal):
            decimals = DecimalCells(FIRST_ROW, FIRST_ROW, [value])
            self.columns[field] = Column(FIRST_ROW, NO_ROWS, decimals=decimals)
        elif isinstance(value, Instant):
            second, nano = np.array([value.second], np.int64), np.array([value.nano], np.int64)
            timestamps = TimestampCells(FIRST_ROW, second, nano)
            self.columns[field] = Column(FIRST_ROW, NO_ROWS, timestamps=timestamps)
        elif value is not None:
            self.numbers[field] = [value]

    def _add_list(self, field: Path, values: list[Any]) -> bool:
        """Add a short list that is empty, or of distinct texts or of numbers only; False when it is not."""
        if len(values) > _SHORT:
            return False
        types = set(map(type, values))
        if types == _TEXT:
            if len(set(values)) < len(values):
                return False
            self.texts[field] = values
        elif types <= _NUMBER:
            known = [value for value in values if value == value]
            if known:
                self.numbers[field] = known
            else:
                self.columns[field] = AN_EMPTY_LIST
        else:
            return False
        return True

    def batch(self) -> EventBatch:
        """The batch of what was read."""
        columns = self.columns
        if self.texts:
            self._make_texts()
        if self.numbers:
            self._make_numbers()
        for field, cells in self.found.items():
            listed, objects = bool(cells.listed), bool(cells.objects)
            column = column_of_one(cells_of(field, cells), listed=listed, objects=objects)
            if column is not None:
                columns[field] = column
        return EventBatch(1, columns)

    def _make_texts(self) -> None:
        texts = self.texts
        try:
            array = texts_of(list(chain.from_iterable(texts.values())))
        except UnicodeEncodeError:
            cells = ((field, 0, value) for field, values in texts.items() for value in values)
            raise surrogate_error(cells) from None
        columns, start = self.columns, 0
        for field, values in texts.items():
            count = len(values)
            row = code = FIRST_ROW
            if count > 1:
                row, code = np.zeros(count, np.int32), np.arange(count, dtype=np.int32)
            strings = StringCells(row, code, array.slice(start, count))
            columns[field] = Column(FIRST_ROW, NO_ROWS, None, None, strings)
            start += count

    def _make_numbers(self) -> None:
        high, low = split_mixed(list(chain.from_iterable(self.numbers.values())))
        columns, start = self.columns, 0
        for field, values in self.numbers.items():
            count = len(values)
            end = start + count
            row = FIRST_ROW if count == 1 else np.zeros(count, np.int32)
            columns[field] = Column(FIRST_ROW, NO_ROWS, NumberCells(row, high[start:end], low[start:end]))
            start = end


def _descend(node: _Node, value: object, row: int, found: dict[Path, Found]) -> None:
    """Find every wanted field at and below a value, with a stack in place of recursion."""
    stack: list[Iterator[tuple[_Node, object]]] = [iter([(node, value)])]
    through_list = False
    while stack:
        for node, value in stack[-1]:
            if value is None:
                continue
            if isinstance(value, _LISTS):
                through_list = True
                if node.field is not None:
                    found.setdefault(node.field, Found()).listed.append(row)
                stack.append(zip(repeat(node), _elements(value), strict=False))
                break
            cells = None if node.field is None else found.setdefault(node.field, Found())
            if cells is not None:
                cells.repeated |= through_list
            if isinstance(value, Mapping):
                if cells is not None:
                    cells.objects.append(row)
                if node.names:
                    stack.append(_members(node.names, value))
                    break
            elif cells is not None and node.field is not None:
                scalar = scalar_of(value, node.field, row)
                if scalar is not None:
                    cells.add(row, scalar)
        else:
            stack.pop()
        if len(stack) > DEEPEST_LIST:
            raise EventError(f"lists are nested more than {DEEPEST_LIST:,} deep", row=row)


def _elements(value: Any) -> Iterable[object]:
    return value.ravel() if isinstance(value, np.ndarray) else value


def _members(names: dict[str, _Node], value: Mapping[str, object]) -> Iterator[tuple[_Node, object]]:
    for name, member in value.items():
        node = names.get(name)
        if node is not None:
            yield node, member
