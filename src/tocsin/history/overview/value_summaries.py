"""What events hold in the fields that rules name: enough to say why a rule could never match.

Of every field: how many events have it, how many hold an empty list, and of each kind how many values
there are, the least and the largest of them, and while they are few, every one:

    state   present 980   strings 980: 'CA' 'NY' 'WA'
    age     present 970   numbers 970, from 0 to 104, more different ones than are kept

It adds up, is bounded, and is exact in what it says: whatever it rules out did not happen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Bytes, Doubles, Longs
from tocsin.conditions.language import Path
from tocsin.events import Column, EventBatch, Kind, NumberCells, StringCells, TimestampCells

MOST_VALUES = 1_000
"""Different values of a kind that are kept; with more, none of them is."""

LONGEST = 256
"""Bytes of a text that is kept; a longer one counts as too many values."""

_NANOS = 1_000_000_000
Value = int | float | str | bool


@dataclass(slots=True)
class ValueSummary:
    """The values of one kind in a field.

    cells          how many there are
    least, largest   of numbers and timestamps (in nanoseconds since 1970); None when not known
    values         every different one, None when they are too many
    """

    cells: int = 0
    least: int | float | None = None
    largest: int | float | None = None
    values: set[Any] | None = field(default_factory=set)

    def add(self, other: ValueSummary) -> None:
        """Those of other events as well."""
        self.least = _extreme(min, self, other, "least")
        self.largest = _extreme(max, self, other, "largest")
        self.cells += other.cells
        if self.values is not None:
            self.keep(other.values)

    def keep(self, values: set[Any] | None) -> None:
        """Keep these values too, as long as all of them are few."""
        if self.values is not None:
            both = None if values is None else self.values | values
            self.values = None if both is None or len(both) > MOST_VALUES else both


def _extreme(choose: Any, one: ValueSummary, other: ValueSummary, name: str) -> Any:
    """Of two sets of values; not known when it is not known of one that there is."""
    known = [getattr(each, name) for each in (one, other) if each.cells]
    return None if not known or None in known else choose(known)


@dataclass(slots=True)
class FieldSummary:
    """What events hold in one field."""

    present: int = 0
    empty: int = 0
    kinds: dict[Kind, ValueSummary] = field(default_factory=dict)

    def of(self, kind: Kind) -> ValueSummary:
        """The values of a kind; of one that was not met, that there are none."""
        return self.kinds.get(kind, _NOTHING)

    def add_column(self, column: Column) -> None:
        """The events of a batch as well."""
        self.present += len(column.present)
        self.empty += len(column.empty)
        if column.numbers is not None:
            self._add(Kind.NUMBER, len(column.numbers.row), column.numbers, _add_numbers)
        if column.decimals is not None:
            # A decimal is compared with a literal's text, a float with its value: no telling them apart here.
            unknown = ValueSummary(len(column.decimals.row), values=None)
            self.kinds.setdefault(Kind.NUMBER, ValueSummary()).add(unknown)
        if column.strings is not None:
            self._add(Kind.STRING, len(column.strings.row), column.strings, _add_strings)
        if column.booleans is not None:
            self._add(Kind.BOOLEAN, len(column.booleans.row), column.booleans.value, _add_booleans)
        if column.timestamps is not None:
            self._add(Kind.TIMESTAMP, len(column.timestamps.row), column.timestamps, _add_timestamps)

    def _add(self, kind: Kind, cells: int, found: Any, add: Any) -> None:
        if cells:
            seen = self.kinds.setdefault(kind, ValueSummary())
            add(seen, found)
            seen.cells += cells

    def add(self, other: FieldSummary) -> None:
        """What other events hold as well."""
        self.present += other.present
        self.empty += other.empty
        for kind, values in other.kinds.items():
            self.kinds.setdefault(kind, ValueSummary()).add(values)

    def to_json(self) -> str:
        """As text, for the way between processes."""
        said = {int(kind): asdict(values) for kind, values in self.kinds.items()}
        return json.dumps([self.present, self.empty, said], default=list)

    @staticmethod
    def from_json(text: str) -> FieldSummary:
        """What to_json wrote."""
        present, empty, said = json.loads(text)
        kinds = {}
        for kind, values in said.items():
            kept = None if values["values"] is None else set(values["values"])
            kinds[Kind(int(kind))] = ValueSummary(**{**values, "values": kept})
        return FieldSummary(present, empty, kinds)


def add_events(summaries: Mapping[Path, FieldSummary], batch: EventBatch) -> None:
    """Note what a batch holds in these fields."""
    for path, seen in summaries.items():
        if path in batch.columns:
            seen.add_column(batch.columns[path])


def _add_numbers(seen: ValueSummary, cells: NumberCells) -> None:
    low = cells.low
    is_beyond = bool(low.any()) and bool((np.abs(cells.high) >= np.finfo(np.float64).max).any())
    if is_beyond:  # integers that no double is near to: too many to be told apart
        seen.add(ValueSummary(1, values=None))
        seen.cells -= 1
        return
    if seen.values is not None:
        seen.keep(_distinct_numbers(cells.high, low))
    if seen.cells == 0 or seen.least is not None:
        place = np.lexsort((low, cells.high)) if low.any() else None
        first, last = (
            (int(cells.high.argmin()), int(cells.high.argmax())) if place is None else place[[0, -1]]
        )
        bounds = ValueSummary(1, _number(cells, first), _number(cells, last))
        seen.least, seen.largest = (
            _extreme(min, seen, bounds, "least"),
            _extreme(max, seen, bounds, "largest"),
        )


def _number(cells: NumberCells, place: int) -> int | float:
    return _value(float(cells.high[place]), int(cells.low[place]))


def _value(high: float, low: int) -> int | float:
    return int(high) + low if high.is_integer() else high


def _distinct_numbers(high: Doubles, low: Longs) -> set[int | float] | None:
    if low.any():
        pairs = np.unique(np.stack((high.view(np.int64), low)), axis=1)
        high, low = pairs[0].view(np.float64), pairs[1]
    else:
        high = np.unique(high)
        low = np.zeros(len(high), np.int64)
    if len(high) > MOST_VALUES:
        return None
    return {_value(*each) for each in zip(high.tolist(), low.tolist(), strict=True)}


def _add_strings(seen: ValueSummary, cells: StringCells) -> None:
    if seen.values is None:
        return
    texts = cells.texts
    if len(texts) > MOST_VALUES or (len(texts) and pc.max(pc.binary_length(texts)).as_py() > LONGEST):
        used = texts.take(pa.array(np.unique(cells.code)))
        is_long = len(used) > 0 and pc.max(pc.binary_length(used)).as_py() > LONGEST
        seen.keep(None if is_long else set(used.to_pylist()))
    else:
        seen.keep(set(texts.to_pylist()))


def _add_booleans(seen: ValueSummary, values: Bytes) -> None:
    seen.keep({bool(value) for value in np.unique(values)})


def _add_timestamps(seen: ValueSummary, cells: TimestampCells) -> None:
    order = np.lexsort((cells.nano, cells.second))[[0, -1]]
    first, last = (int(cells.second[at]) * _NANOS + int(cells.nano[at]) for at in order)
    bounds = ValueSummary(1, first, last)
    seen.least, seen.largest = _extreme(min, seen, bounds, "least"), _extreme(max, seen, bounds, "largest")
    seen.values = None


_NOTHING = ValueSummary()
