"""Rules' ids as an Arrow dictionary: a match is a number of four bytes, and no id is copied for it.

    numbers of rules   0   1   2   3   4        rule 1 was replaced: its id is now that of rule 4
    ids                a   b†  c   d   b
    dictionary         a   c   d   b            every living rule once: no two values are equal
    place              0   ?   1   2   3        where a rule's number is not its place

The dictionary of a version has all its rules, is made once and shared by all results: a stream has the same
in all its batches. A table of few matches gets one of its own, so that five matches do not bring ten million
ids with them wherever they go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.matching.portions import row_bytes

RULE_TYPE = pa.dictionary(pa.int32(), pa.string())

ID_BYTES = (1 << 31) - 1
"""Bytes of strings that an Arrow column of them can hold."""

SHARED_AT_MOST = 1 << 14
"""So few rules may come along with any table."""

FEW = 8
"""Of more rules, a table with fewer matches than one for so many rules has a dictionary of its own."""


class NumberedIds(Protocol):
    """Who knows the ids: a snapshot."""

    @property
    def count(self) -> int:
        """Numbers there are, those of dead rules included."""

    @property
    def live(self) -> int:
        """Rules there are."""

    def numbers(self) -> Longs:
        """The numbers of the rules, in order."""

    def ids_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""


class _Dictionary(NamedTuple):
    """Different ids: rule n has ids[place[n]], or ids[n] without places, or the one where `numbers` has n."""

    ids: pa.StringArray
    longest: int
    place: Ints | None = None
    numbers: Ints | None = None

    def column(self, rules: Ints) -> pa.DictionaryArray:
        """The ids of rules, which are all there. The column keeps the memory of `rules` if it can."""
        if self.place is not None:
            rules = self.place[rules]
        elif self.numbers is not None:
            rules = np.searchsorted(self.numbers, rules).astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(rules), self.ids, safe=False)


MadeDictionary = list[_Dictionary | None]
"""Where a version keeps the dictionary of all its rules: nothing before it is first needed, then one, or None
when their ids are too much for one."""


class RuleDictionary:
    """The dictionaries of a version's rules. Threads may share it."""

    __slots__ = ("_made", "_rules")

    def __init__(self, rules: NumberedIds, made: MadeDictionary) -> None:
        self._rules = rules
        self._made = made

    def columns(self, pieces: Sequence[Ints]) -> list[list[pa.DictionaryArray]]:
        """The ids of several pieces of one table, each perhaps cut: any one can be cast to strings."""
        live = self._rules.live
        few = live > SHARED_AT_MOST and FEW * sum(map(len, pieces)) < live
        shared = self._of(np.concatenate(pieces)) if few and pieces else self._of_all()
        return [_cut(shared, rules) if shared is not None else self.own_columns(rules) for rules in pieces]

    def stream_columns(self, rules: Ints) -> list[pa.DictionaryArray]:
        """The ids of a piece of a stream, whose batches have one dictionary if all ids fit into it."""
        shared = self._of_all()
        return _cut(shared, rules) if shared is not None else self.own_columns(rules)

    def own_columns(self, rules: Ints) -> list[pa.DictionaryArray]:
        """The ids of a piece with dictionaries of its own, as many as its ids need."""
        own = self._of(rules)
        if own is not None:
            return _cut(own, rules)
        middle = len(rules) // 2
        return [*self.own_columns(rules[:middle]), *self.own_columns(rules[middle:])]

    def _of_all(self) -> _Dictionary | None:
        """All rules, or None when their ids are too much for one dictionary."""
        if not self._made:
            rules = self._rules
            numbers = rules.numbers()
            made = _fitting(rules.ids_of(numbers))
            if made is not None and rules.live < rules.count:
                place = np.zeros(rules.count, np.int32)
                place[numbers] = np.arange(len(numbers), dtype=np.int32)
                made = made._replace(place=place)
            self._made.append(made)
        return self._made[0]

    def _of(self, rules: Ints) -> _Dictionary | None:
        """The rules that some matches have."""
        numbers = np.unique(rules)
        made = _fitting(self._rules.ids_of(numbers.astype(np.int64)))
        return None if made is None else made._replace(numbers=numbers)


def _fitting(ids: pa.LargeStringArray) -> _Dictionary | None:
    """The dictionary of different ids; None when they are too much for one."""
    sizes = row_bytes(ids)
    if int(sizes.sum()) > ID_BYTES:
        return None
    return _Dictionary(ids.cast(pa.string()), int(sizes.max(initial=1)))


def _cut(dictionary: _Dictionary, rules: Ints) -> list[pa.DictionaryArray]:
    """A column, or several when its strings might be too much for one."""
    column = dictionary.column(rules)
    rows = max(1, ID_BYTES // dictionary.longest)
    return [column] if len(rules) <= rows else [column.slice(at, rows) for at in range(0, len(rules), rows)]
