"""Some events of every rule: those of least hash, whatever the order in which they come.

    rule    int32[n]    a rule
    hash    int64[n]    of an event that satisfies it
    place   int64[n]    where that event stands in the history: the first of all that have this hash

Events that rules cannot tell apart have one hash and count as one, so samples are different events. What
is to be shown of an event is asked for once, when it first is among the least of some rule.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.packed import joined
from tocsin.conditions.graph import double_keys
from tocsin.conditions.language import Path
from tocsin.events import Column, EventBatch, RowTexts
from tocsin.history.statistics.sketch_hashes import pair_hashes, text_hashes

ENOUGH = 1 << 20
"""Samples that are noted before those that are not among the least are forgotten, at least."""

_NONE = np.iinfo(np.int64).max
_FEW = 1_024
_STAGES = (1 / 64, 1 / 8)


class Chosen(NamedTuple):
    """Samples, in the order of their rules and hashes; and what to show of each event by its hash."""

    rule: Ints
    hash: Longs
    place: Longs
    texts: dict[int, str | None]


class Samples:
    """Takes matches, and keeps `count` events of each of `rules` rules."""

    def __init__(self, rules: int, count: int) -> None:
        self._count = count
        self._largest = np.full(rules if count else 0, _NONE, np.int64)
        self._is_settled = False
        self._parts: list[tuple[Ints, Longs, Longs]] = []
        self._noted = 0
        self._room = ENOUGH
        self._texts: dict[int, str | None] = {}

    @property
    def noted(self) -> int:
        """How many are kept, about."""
        return self._noted

    def add(self, rule: Ints, row: Longs, event_hash: Longs, place: Longs, texts: RowTexts) -> None:
        """Note matches: of rule[i] with the event row[i] of a batch, of which hashes and places are given."""
        if not self._count:
            return
        hashes = event_hash[row]
        for stage in self._stages(event_hash):
            least = hashes < np.minimum(self._largest[rule], stage)
            chosen = least_of_each(rule[least], hashes[least], place[row[least]], self._count)
            self._lower(chosen[0], chosen[1])
            if stage < _NONE:
                continue
            self._parts.append(chosen)
            self._noted += len(chosen[0])
            self._ask_for_texts(chosen[1], chosen[2], place, texts)
        if self._noted > self._room:
            self._forget()

    def _stages(self, event_hash: Longs) -> list[int]:
        """Hashes up to which events are looked at first.

        As long as nothing is known of most rules, the few events of least hash tell of all rules that match
        often that the others are none of theirs; so not every match has to be sorted.
        """
        if self._is_settled or len(event_hash) < _FEW:
            return [_NONE]
        self._is_settled = True
        return [int(np.quantile(event_hash, share)) for share in _STAGES] + [_NONE]

    def _lower(self, rule: Ints, hashes: Longs) -> None:
        """What later events of a rule have to be below, given so many events in the order of rules and
        hashes."""
        last = np.flatnonzero(np.append(rule[1:] != rule[:-1], True)) if len(rule) else np.empty(0, np.int64)
        full = last[np.diff(last, prepend=-1) == self._count]
        self._largest[rule[full]] = np.minimum(self._largest[rule[full]], hashes[full] + 1)

    def _ask_for_texts(self, hashes: Longs, places: Longs, place: Longs, texts: RowTexts) -> None:
        once, first = np.unique(hashes, return_index=True)
        new = [
            at for at, value in zip(first.tolist(), once.tolist(), strict=True) if value not in self._texts
        ]
        if new:
            rows = np.searchsorted(place, places[new]).tolist()
            self._texts.update(zip(hashes[new].tolist(), texts(rows), strict=True))

    def _forget(self) -> None:
        """Keep the least of each rule, and only what is to be shown of these."""
        rule, hashes, place = least_of_each(*_joined(self._parts), self._count)
        self._lower(rule, hashes)
        self._parts = [(rule, hashes, place)]
        self._noted = len(rule)
        self._room = max(ENOUGH, 2 * self._noted)
        self._texts = {value: self._texts[value] for value in np.unique(hashes).tolist()}

    def take(self) -> Chosen:
        """What is kept by now, and is kept no longer. Later events still have to be among the least."""
        self._forget()
        chosen = Chosen(*self._parts[0], self._texts)
        self._parts, self._noted, self._texts = [], 0, {}
        return chosen


def least_of_each(rule: Ints, hashes: Longs, place: Longs, count: int) -> tuple[Ints, Longs, Longs]:
    """Of each rule so many events of least hash, each hash once with its first place."""
    order = np.lexsort((place, hashes, rule))
    rule, hashes, place = rule[order], hashes[order], place[order]
    is_new = np.ones(len(rule), np.bool_)
    is_new[1:] = (rule[1:] != rule[:-1]) | (hashes[1:] != hashes[:-1])
    rule, hashes, place = rule[is_new], hashes[is_new], place[is_new]
    first = np.flatnonzero(np.diff(rule, prepend=-1)) if len(rule) else np.empty(0, np.int64)
    behind = np.arange(len(rule)) - np.repeat(first, np.diff(first, append=len(rule)))
    kept = behind < count
    return rule[kept], hashes[kept], place[kept]


def _joined(parts: list[tuple[Ints, Longs, Longs]]) -> tuple[Ints, Longs, Longs]:
    rules, hashes, places = zip(*parts, strict=True) if parts else ((), (), ())
    return joined(rules, np.int32), joined(hashes, np.int64), joined(places, np.int64)


_PRESENT, _EMPTY, _NUMBER, _STRING, _BOOLEAN, _TIMESTAMP, _DECIMAL = range(7)


def event_hashes(batch: EventBatch) -> Longs:
    """The hashes of a batch's events, from 0 to 2^62 - 1; the order of a list's elements does not matter."""
    total = np.zeros(batch.length, np.int64)
    for field, column in batch.columns.items():
        salt = _salt(field)
        for kind, row, values in _values_of(column):
            hashes = pair_hashes(values, np.full(len(values), salt + kind, np.int64))
            np.add.at(total, row, hashes)
    return pair_hashes(total, np.zeros_like(total)) >> 1


def _values_of(column: Column) -> list[tuple[int, Ints, Longs]]:
    """What a field holds: the kind, the event and a number for the value of each cell."""
    zero = np.zeros_like
    found = [
        (_PRESENT, column.present, zero(column.present, np.int64)),
        (_EMPTY, column.empty, zero(column.empty, np.int64)),
    ]
    if column.numbers is not None:
        row, high, low = column.numbers
        found.append((_NUMBER, row, pair_hashes(double_keys(high), low)))
    if column.strings is not None:
        found.append((_STRING, column.strings.row, text_hashes(column.strings.texts)[column.strings.code]))
    if column.booleans is not None:
        found.append((_BOOLEAN, column.booleans.row, column.booleans.value.astype(np.int64)))
    if column.timestamps is not None:
        row, second, nano = column.timestamps
        found.append((_TIMESTAMP, row, pair_hashes(second, nano)))
    if column.decimals is not None:
        texts = pa.array([str(value.normalize()) for value in column.decimals.values], pa.large_string())
        found.append((_DECIMAL, column.decimals.row, text_hashes(texts)[column.decimals.code]))
    return found


@lru_cache(maxsize=4096)
def _salt(field: Path) -> int:
    name = pa.array([json.dumps(field)], pa.large_string())
    return int(text_hashes(name)[0]) >> 3
