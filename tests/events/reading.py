"""Cells read back as plain values, and the obvious way to find a field: the judges of these tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from tocsin.events import Column, EventBatch, Instant, Path

KINDS = ["number", "decimal", "string", "boolean", "timestamp"]
Seen = dict[int, tuple[bool, list[object]]]
"""For each event that has the field: whether it is an empty list, and its cells in a fixed order."""


def seen(column: Column) -> Seen:
    """A column as plain values, with its invariants checked on the way."""
    cells: dict[int, list[object]] = {int(row): [] for row in column.present}
    assert list(column.present) == sorted(cells)
    for kind in column[2:]:
        if kind is not None:
            assert len(kind.row) > 0
            assert list(kind.row) == sorted(kind.row)
            assert all(array.flags.writeable for array in kind if hasattr(array, "flags"))
    if column.numbers is not None:
        for row, high, low in zip(*column.numbers, strict=True):
            assert not math.isnan(high)
            assert math.copysign(1, high) == 1 or high != 0
            cells[int(row)].append(("number", high if math.isinf(high) else Fraction(high) + int(low)))
    if column.decimals is not None:
        assert len(set(column.decimals.values)) == len(column.decimals.values)
        for row, code in zip(column.decimals.row, column.decimals.code, strict=True):
            cells[int(row)].append(("decimal", column.decimals.values[code]))
    if column.strings is not None:
        texts = column.strings.texts.to_pylist()
        assert len(set(texts)) == len(texts)
        for row, code in zip(column.strings.row, column.strings.code, strict=True):
            cells[int(row)].append(("string", texts[code]))
    if column.booleans is not None:
        for row, value in zip(*column.booleans, strict=True):
            cells[int(row)].append(("boolean", bool(value)))
    if column.timestamps is not None:
        for row, second, nano in zip(*column.timestamps, strict=True):
            cells[int(row)].append(("timestamp", Instant(int(second), int(nano))))
    empty = {int(row) for row in column.empty}
    assert list(column.empty) == sorted(empty)
    return {row: (row in empty, values) for row, values in cells.items()}


def seen_batch(batch: EventBatch) -> dict[Path, Seen]:
    """Every column of a batch as plain values."""
    return {path: seen(column) for path, column in batch.columns.items()}


def naive(events: list[dict[str, object]], fields: list[Path]) -> dict[Path, Seen]:
    """What `seen_batch` should give for JSON-like events, straight from the definition."""
    found: dict[Path, Seen] = {}
    for field in fields:
        for row, event in enumerate(events):
            values = _values(event, field)
            if values is not None:
                cells: list[object] = [cell for kind in KINDS for cell in values if cell[0] == kind]
                found.setdefault(field, {})[row] = (not values, cells)
    return found


def _values(value: object, path: Path) -> list[tuple[str, object]] | None:
    """The elements at a path, or None when it is missing."""
    if isinstance(value, (list, tuple)):
        parts = [_values(element, path) for element in value]
        known = [part for part in parts if part is not None]
        return [cell for part in known for cell in part] if known or not path else None
    if path:
        return _values(value[path[0]], path[1:]) if isinstance(value, Mapping) and path[0] in value else None
    if value is None or value != value:
        return None
    if isinstance(value, Mapping):
        return [("object", None)]
    if isinstance(value, (bool, str)):
        return [("boolean" if isinstance(value, bool) else "string", value)]
    if isinstance(value, Decimal):
        return [("decimal", value)]
    assert isinstance(value, (int, float))
    return [("number", value)]
