"""Python events to cells: dictionaries as json gives them.

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
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import EventError
from tocsin.events.cells import (
    Column,
    EventBatch,
    Path,
    column_of_cells,
)
from tocsin.events.field_values import (
    SIMPLE,
    Found,
    cells_of,
    rows_of,
    scalar_of,
    type_name,
)

DEEPEST_LIST = 1_000_000
"""Lists nested deeper than this are refused: such a list most likely holds itself."""

_LISTS = (list, tuple, set, frozenset, np.ndarray)


class Node(NamedTuple):
    """A name in the tree of wanted paths: the field that ends here, and the names that go on."""

    field: Path | None
    names: dict[str, Node]


class FieldPlan:
    """How to find a set of fields in events; make it once and use it for every batch.

    It keeps nothing between batches, so threads may share it. `names` are the first names of the fields.
    """

    def __init__(self, fields: Iterable[Path]) -> None:
        self.names: dict[str, Node] = {}
        for path in fields:
            names = self.names
            for name in path[:-1]:
                names = names.setdefault(name, Node(None, {})).names
            last = names.get(path[-1])
            names[path[-1]] = Node(path, {} if last is None else last.names)

    def batch(self, events: Sequence[Mapping[str, object]]) -> EventBatch:
        """The cells of the wanted fields; EventError for the first event that cannot be read."""
        found: dict[Path, Found] = {}
        wanted = self.names.get
        value: Any
        for row, event in enumerate(events):
            check_event(event, row)
            for name, value in event.items():
                node = wanted(name)
                if node is None or value is None:
                    continue
                kind = type(value)
                if kind not in SIMPLE and (kind is not list or not SIMPLE.issuperset(map(type, value))):
                    descend(node, value, row, found)
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


def check_event(event: object, row: int) -> None:
    """EventError for what is no object."""
    if type(event) is not dict and not isinstance(event, Mapping):
        raise EventError(f"an event must be an object, not {type_name(event)}", row=row)


def descend(node: Node, value: object, row: int, found: dict[Path, Found]) -> None:
    """Find every wanted field at and below a value, with a stack in place of recursion."""
    stack: list[Iterator[tuple[Node, object]]] = [iter([(node, value)])]
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


def _members(names: dict[str, Node], value: Mapping[str, object]) -> Iterator[tuple[Node, object]]:
    for name, member in value.items():
        node = names.get(name)
        if node is not None:
            yield node, member
