"""What the facts say of one field: how often it is there, and which values it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Doubles, Longs
from tocsin.conditions.graph import value_of_double_key
from tocsin.events import Kind, Path
from tocsin.history.statistics.field_facts import DISTINCT, NO_KIND, NUMBERS
from tocsin.text import END

Value = int | float | str | bool
Key = tuple[int, int] | str
"""A value as it is compared: see conditions/graph/value_keys.py."""

_NANOS = 10**9


@dataclass(frozen=True)
class KindStatistics:
    """The values of one kind in a field.

    kind
    events      rows that hold a value of the kind
    cells       values of the kind; more than `events` when there are lists
    distinct    different values, about: exact while there are few
    counted     values and in how many events each was met, often first
    lost        how much the counts may be too small at most; a value that is not here was met no more
                often than that. 0: these are all values, and the counts are exact
    sample      values of rows chosen by chance, ascending
    lists       how many of these rows have all their values in the sample: all rows while there are few
    lists_with  for each value which of those hold it, a bit for each
    """

    kind: Kind
    events: int
    cells: int
    distinct: int
    counted: Mapping[Key, int] = field(repr=False)
    lost: int
    sample: list[Key] = field(repr=False)
    lists: int = field(default=0, repr=False)
    lists_with: Mapping[Key, int] = field(default_factory=dict, repr=False)

    @property
    def knows_all(self) -> bool:
        """Whether `counted` has every value there is, exactly."""
        return bool(self.counted) and self.lost == 0

    def most_frequent(self, count: int = 10) -> list[tuple[Value, int]]:
        """The values met most often, timestamps in nanoseconds since 1970, and in how many events."""
        first = list(self.counted.items())[:count]
        return [(shown(self.kind, key), number) for key, number in first]

    def quantiles(self, parts: int = 4) -> list[Value]:
        """Values that cut the sample into so many equal parts, the least and the largest included."""
        if not self.sample:
            return []
        places = np.linspace(0, len(self.sample) - 1, parts + 1).round().astype(int)
        return [shown(self.kind, self.sample[place]) for place in places]

    @cached_property
    def weighted(self) -> tuple[list[Key], Doubles]:
        """Values, ascending, and what share of all each stands for, as running totals from 0 to 1.

        Every value that there is when none was lost, else the sample.
        """
        if self.knows_all:
            values = sorted(self.counted)
            share = np.array([self.counted[value] for value in values], np.float64)
        else:
            values = self.sample
            share = np.ones(len(values), np.float64)
        total = np.zeros(len(values) + 1, np.float64)
        np.cumsum(share, out=total[1:])
        return values, total / max(total[-1], 1.0)


@dataclass(frozen=True)
class FieldStatistics:
    """What is known of a field.

    rows        all rows of the history
    present     those in which the field is not missing
    documents   those whose words were counted, None when the field's words were not
    kinds       the values by their kind, as far as there are any
    """

    path: Path
    rows: int
    present: int
    documents: int | None
    kinds: Mapping[Kind, KindStatistics]

    @property
    def missing(self) -> float:
        """The share of rows that do not have the field, or have null in it."""
        return 1 - self.present / self.rows if self.rows else 0.0


def field_statistics(path: Path, rows: int, facts: pa.Table) -> FieldStatistics:
    """What the merged facts of one field say; ValueError when they are none that rows can have."""
    whole = _numbers(_of_kind(facts, NO_KIND))
    if whole.get("present", 0) > rows:
        raise ValueError(f"{whole['present']} of {rows} rows have the field")
    kinds = {}
    for number in sorted(set(facts.column("kind").to_pylist()) - {NO_KIND}):
        kind = Kind(number)
        kinds[kind] = _kind_statistics(kind, _of_kind(facts, kind))
    return FieldStatistics(path, rows, whole.get("present", 0), whole.get("documents"), kinds)


def _of_kind(facts: pa.Table, kind: int) -> pa.Table:
    return facts.filter(pc.equal(facts.column("kind"), kind))


def _numbers(facts: pa.Table) -> dict[str, int]:
    """The facts that are a number each."""
    rows = facts.filter(pc.is_in(facts.column("fact"), pa.array(NUMBERS)))
    return dict(zip(rows.column("fact").to_pylist(), _counts(rows), strict=True))


def _counts(rows: pa.Table) -> list[int]:
    counts: list[int] = _known(rows, "number")
    if min(counts, default=0) < 0:
        raise ValueError("a count is negative")
    return counts


def _known(rows: pa.Table, column: str) -> list[Any]:
    """The values of a column that matters to these facts: none is null."""
    if rows.column(column).null_count:
        raise ValueError(f"a fact lacks its {column}")
    values: list[Any] = rows.column(column).to_pylist()
    return values


def _kind_statistics(kind: Kind, facts: pa.Table) -> KindStatistics:
    numbers = _numbers(facts)
    fact = facts.column("fact")
    frequent = facts.filter(pc.equal(fact, "frequent")).sort_by(
        [("number", "descending"), ("high", "ascending")]
    )
    counted = dict(zip(_keys(kind, frequent), _counts(frequent), strict=True))
    sampled = facts.filter(pc.equal(fact, "sample"))
    keys = _keys(kind, sampled)
    cells = numbers.get("cells", 0)
    holds_lists = cells > numbers.get("events", 0)
    lists = _lists(keys, _known(sampled, "number"), len(keys) == cells) if holds_lists else (0, {})
    hashes = facts.filter(pc.equal(fact, "distinct")).column("high").to_numpy()
    return KindStatistics(
        kind,
        numbers.get("events", 0),
        cells,
        _distinct(hashes, cells),
        counted,
        numbers.get("lost", 0),
        sorted(keys),
        *lists,
    )


def _lists(keys: list[Key], row_hash: list[int], is_whole: bool) -> tuple[int, dict[Key, int]]:
    """`lists` and `lists_with`. A sample that is not whole has the values of rows of least hash, and perhaps
    not all of the last."""
    hashes = sorted(set(row_hash))
    place = {each: at for at, each in enumerate(hashes if is_whole else hashes[:-1])}
    rows_with: dict[Key, int] = {}
    for key, each in zip(keys, row_hash, strict=True):
        if each in place:
            rows_with[key] = rows_with.get(key, 0) | 1 << place[each]
    return len(place), rows_with


def _distinct(hashes: Longs, cells: int) -> int:
    """How many different values there are, by the least of their hashes."""
    if len(hashes) < DISTINCT:
        return len(hashes)
    return min(cells, round((DISTINCT - 1) * END / max(1, int(hashes.max()))))


def _keys(kind: Kind, rows: pa.Table) -> list[Key]:
    if kind is Kind.STRING:
        return _known(rows, "text")
    return list(zip(_known(rows, "high"), _known(rows, "low"), strict=True))


def shown(kind: Kind, key: Key) -> Value:
    """A value as Python has it."""
    if isinstance(key, str):
        return key
    high, low = key
    if kind is Kind.NUMBER:
        double = value_of_double_key(high)
        return int(double) + low if (double.is_integer() and abs(double) < _EXACT) or low else double
    return bool(high) if kind is Kind.BOOLEAN else high * _NANOS + low


_EXACT = 2.0**53
