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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import EventError
from tocsin.events.cells import (
    BooleanCells,
    Column,
    DecimalCells,
    EventBatch,
    NumberCells,
    Path,
    StringCells,
    TimestampCells,
)
from tocsin.events.columns import FIRST_ROW, NO_REST, NO_ROWS, Cells, column_of_cells, texts_of
from tocsin.events.numbers import split_floats, split_integer, split_integers, split_mixed
from tocsin.events.paths import path_text
from tocsin.events.scalars import SIMPLE, Instant, Scalar, scalar_of, type_name

DEEPEST_LIST = 1_000_000
"""Lists nested deeper than this are refused: such a list most likely holds itself."""

_LISTS = (list, tuple, set, frozenset, np.ndarray)


class _Node(NamedTuple):
    """A name in the tree of wanted paths: the field that ends here, and the names that go on."""

    field: Path | None
    names: dict[str, _Node]


class _Found:
    """What a batch holds of one field: the events and values of its cells, in order."""

    __slots__ = ("listed", "objects", "repeated", "rows", "values")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.values: list[Any] = []  # of Scalar; each maker of cells below takes one kind of them
        self.listed: list[int] = []
        self.objects: list[int] = []
        self.repeated = False

    def add(self, row: int, value: Scalar) -> None:
        self.rows.append(row)
        self.values.append(value)


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
        columns: dict[Path, Column] = {}
        found: dict[Path, _Found] = {}
        alone = len(events) == 1
        wanted = self._names.get
        for row, event in enumerate(events):
            if type(event) is not dict and not isinstance(event, Mapping):
                raise EventError(f"an event must be an object, not {type_name(event)}", row=row)
            for name, value in event.items():
                node = wanted(name)
                if node is None or value is None:
                    continue
                if type(value) not in SIMPLE:
                    _descend(node, value, row, found)
                elif node.field is None:
                    continue
                elif alone:
                    _add_column_of_one(columns, node.field, value)
                else:
                    cells = found.get(node.field)
                    if cells is None:
                        cells = found[node.field] = _Found()
                    cells.rows.append(row)
                    cells.values.append(value)
        for field, cells in found.items():
            _add_column(columns, field, cells)
        return EventBatch(len(events), columns)


def batch_of_events(events: Sequence[Mapping[str, object]], fields: Iterable[Path]) -> EventBatch:
    """The cells of `fields` in `events`. To read more than one batch, keep a FieldPlan."""
    return FieldPlan(fields).batch(events)


def _descend(node: _Node, value: object, row: int, found: dict[Path, _Found]) -> None:
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
                    found.setdefault(node.field, _Found()).listed.append(row)
                stack.append(zip(repeat(node), _elements(value), strict=False))
                break
            cells = None if node.field is None else found.setdefault(node.field, _Found())
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


def _add_column(columns: dict[Path, Column], field: Path, found: _Found) -> None:
    """Add the column of one field. Its values are of one kind as a rule, and sorted out when not."""
    kinds = {_KIND_OF_TYPE[kind] for kind in set(map(type, found.values))}
    try:
        if len(kinds) == 1:
            kind = kinds.pop()
            cells = Cells(**{kind: _MAKERS[kind](found.rows, found.values)})
        else:
            cells = Cells(**{kind: _MAKERS[kind](*_of_kind(kind, found)) for kind in kinds})
    except UnicodeEncodeError:
        raise _surrogate_error(field, found.rows, found.values) from None
    listed, objects = np.array(found.listed, np.int32), np.array(found.objects, np.int32)
    column = column_of_cells(cells, listed, objects, repeated=found.repeated)
    if column is not None:
        columns[field] = column


def _add_column_of_one(columns: dict[Path, Column], field: Path, value: Any) -> None:
    """What `_add_column` does with one simple value of a batch's only event, in a tenth of the time."""
    kind = type(value)
    if kind is str:
        try:
            texts = texts_of([value])
        except UnicodeEncodeError:
            raise _surrogate_error(field, [0], [value]) from None
        strings = StringCells(FIRST_ROW, FIRST_ROW, texts)
        columns[field] = Column(FIRST_ROW, NO_ROWS, None, None, strings)
    elif kind is bool:
        booleans = BooleanCells(FIRST_ROW, np.array([value], np.uint8))
        columns[field] = Column(FIRST_ROW, NO_ROWS, booleans=booleans)
    elif value == value:
        high, low = split_integer(value) if kind is int else (value + 0.0, 0)
        numbers = NumberCells(FIRST_ROW, np.array([high]), np.array([low]) if low else NO_REST)
        columns[field] = Column(FIRST_ROW, NO_ROWS, numbers)


def _of_kind(kind: str, found: _Found) -> tuple[list[int], list[Any]]:
    """The rows and values of one kind, out of a field that holds several."""
    places = [i for i, value in enumerate(found.values) if _KIND_OF_TYPE[type(value)] == kind]
    return [found.rows[i] for i in places], [found.values[i] for i in places]


def _numbers(rows: list[int], values: list[Any]) -> NumberCells | None:
    types = set(map(type, values))
    row = np.array(rows, np.int32)
    if float not in types:
        return NumberCells(row, *split_integers(values))
    if int in types:
        known = [i for i, value in enumerate(values) if value == value]
        return NumberCells(row[known], *split_mixed([values[i] for i in known])) if known else None
    floats = np.array(values, np.float64)
    kept = floats == floats
    if not kept.all():
        row, floats = row[kept], floats[kept]
    return NumberCells(row, *split_floats(floats)) if len(row) else None


def _decimals(rows: list[int], values: list[Any]) -> DecimalCells:
    places: dict[Decimal, int] = {}
    code = [places.setdefault(value, len(places)) for value in values]
    return DecimalCells(np.array(rows, np.int32), np.array(code, np.int32), list(places))


def _strings(rows: list[int], values: list[Any]) -> StringCells:
    places: dict[str, int] = {}
    code = [places.setdefault(value, len(places)) for value in values]
    return StringCells(np.array(rows, np.int32), np.array(code, np.int32), texts_of(list(places)))


def _surrogate_error(field: Path, rows: list[int], values: list[Any]) -> EventError:
    for row, value in zip(rows, values, strict=True):
        try:
            str(value).encode()
        except UnicodeEncodeError as error:
            reason = f"the text of field {path_text(field)} has half a surrogate pair at {error.start}"
            return EventError(reason, row=row)
    raise AssertionError("every text is valid")


def _booleans(rows: list[int], values: list[Any]) -> BooleanCells:
    return BooleanCells(np.array(rows, np.int32), np.array(values, np.uint8))


def _timestamps(rows: list[int], values: list[Any]) -> TimestampCells:
    second = np.array([instant.second for instant in values], np.int64)
    nano = np.array([instant.nano for instant in values], np.int64)
    return TimestampCells(np.array(rows, np.int32), second, nano)


_KIND_OF_TYPE: dict[type, str] = {
    int: "numbers",
    float: "numbers",
    Decimal: "decimals",
    str: "strings",
    bool: "booleans",
    Instant: "timestamps",
}
_MAKERS: dict[str, Callable[[list[int], list[Any]], Any]] = {
    "numbers": _numbers,
    "decimals": _decimals,
    "strings": _strings,
    "booleans": _booleans,
    "timestamps": _timestamps,
}
