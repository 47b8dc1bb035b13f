"""How often a predicate holds, by what history says of its field: what the choice of an access needs.

An estimate is greater than 0 and at most 1, the share of events for which the predicate is true. What
history knows exactly (few different values) is exact; the rest comes from the sample, from counts of
distinct values, or from one documented guess. A wrong estimate costs time and never a match.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints
from tocsin.conditions.graph import scalar_key
from tocsin.conditions.language import TEXT_TESTS, Literal, Path, Predicate, Test, has_threshold
from tocsin.conditions.meaning import Truth, predicate_truth
from tocsin.conditions.operators import READ_STRINGS, kind_of_predicate
from tocsin.events import Kind
from tocsin.history.statistics.history import History
from tocsin.history.statistics.resemblance import text_selectivities, text_selectivity
from tocsin.history.statistics.value_counts import FieldStatistics, Key, KindStatistics
from tocsin.text import QueryCode, Terms, parse_query

GUESS = 0.1
"""What is said when there is nothing to go by: history is empty, or a field's words were not counted."""

TRIED = 128
"""Strings that a pattern, a network or a timestamp is tried on, about: an estimate has to be quick."""

_TRIED_FIELD = ("tried",)


class HistorySelectivity:
    """What a history says of predicates; shares are greater than 0 and at most 1."""

    def __init__(self, history: History) -> None:
        self._history = history

    def __call__(self, predicate: Predicate, /) -> float:
        """The share of events for which a predicate is true."""
        field = self._history.field(predicate.field)
        if field.rows == 0:
            return GUESS
        return min(1.0, max(_share(predicate, field, self._history), least_share(field.rows)))

    def of_queries(self, code: QueryCode, terms: Terms, query: Ints, fields: Sequence[Path]) -> Doubles:
        """The same of text queries by their numbers, all at once; `fields` is by text group."""
        share = np.full(len(query), GUESS)
        group = code.group[query]
        for each in np.unique(group).tolist() if self._history.rows else []:
            chosen = group == each
            field = self._history.field(fields[each])
            share[chosen] *= field.present / field.rows
            if field.documents is not None:
                found = text_selectivities(code, terms, query[chosen], self._history.sketches(field.path))
                share[chosen] = found * field.documents / field.rows
        least = least_share(self._history.rows) if self._history.rows else GUESS
        bounded: Doubles = np.clip(share, least, 1.0)
        return bounded

    def known(self, predicate: Predicate, /) -> float:
        """The share of events for which a predicate is true or false, and not unknown: its negation is true
        only among these."""
        field = self._history.field(predicate.field)
        if not field.rows or predicate.test is Test.NULL:
            return 1.0
        if predicate.test in TEXT_TESTS:
            return float(self.known_texts([predicate.field])[0])
        held = sum(each.events for each in _values_asked(predicate, field))
        return min(held, field.present) / field.rows

    def known_texts(self, fields: Sequence[Path]) -> Doubles:
        """The share of events in which each of these fields holds a document."""
        found = [self._history.field(path) for path in fields]
        documents = [each.present if each.documents is None else each.documents for each in found]
        rows = self._history.rows
        return np.array(documents, np.float64) / rows if rows else np.ones(len(found))


def least_share(rows: int) -> float:
    """What is said of something that never happened in so many rows."""
    return 0.5 / (rows + 1)


def _share(predicate: Predicate, field: FieldStatistics, history: History) -> float:
    test = predicate.test
    if test is Test.NULL:
        return 1.0 - field.present / field.rows
    if test in TEXT_TESTS:
        return _share_of_text(predicate, field, history)
    share = 0.0
    for values in _values_asked(predicate, field):
        is_read = values.kind is Kind.STRING and (
            test in READ_STRINGS or kind_of_predicate(predicate) is Kind.TIMESTAMP
        )
        tried = _share_of_tried if is_read else _share_of_values
        share += tried(predicate, values) * values.events / field.rows
    return share


def _values_asked(predicate: Predicate, field: FieldStatistics) -> list[KindStatistics]:
    """The values of a field that a predicate (not `is null`, no text query) may know."""
    kind = kind_of_predicate(predicate)
    kinds = [] if predicate.test in READ_STRINGS else [kind]
    if predicate.test in READ_STRINGS or kind is Kind.TIMESTAMP:
        kinds.append(Kind.STRING)
    return [field.kinds[each] for each in kinds if each in field.kinds]


def _by_chance(share: float, statistics: KindStatistics) -> float:
    """From a share of values to one of the events that hold any, of which one with a list has several
    chances."""
    chances = statistics.cells / max(1, statistics.events)
    return share if chances == 1 else 1.0 - (1.0 - min(1.0, share)) ** chances


def _share_of_values(predicate: Predicate, statistics: KindStatistics) -> float:
    """The share of the events with values of its kind that hold one which equals an operand, or lies in the
    range."""
    keys = [_key(operand) for operand in predicate.operands]
    if predicate.test in (Test.EQ, Test.IN):
        return _any_of(set(keys), statistics)
    values, total = statistics.weighted
    low, high = _ends(predicate.test, keys, values)
    if low < high and statistics.knows_all:
        return _any_of(values[low:high], statistics)
    least = _least_seen(values, statistics)
    if statistics.lists:
        return max(_lists_with(set(values[low:high]), statistics) / statistics.lists, least)
    return _by_chance(max(float(total[high] - total[low]) if low < high else 0.0, least), statistics)


def _any_of(keys: Collection[Key], statistics: KindStatistics) -> float:
    """The share of events that hold any of some different values.

    An event has one value, or a list. In how many lists each value is was counted; how far these are the
    same lists is told by those of the sample, which are all while there are few. Values that are in none of
    these are taken to have nothing to do with one another.
    """
    shares = [_share_of_value(key, statistics) for key in keys]
    if statistics.cells == statistics.events:
        return sum(shares)
    apart = sum(statistics.lists_with.get(key, 0).bit_count() for key in keys)
    if not apart:
        return 1.0 - float(np.prod([1.0 - min(1.0, share) for share in shares]))
    estimate = sum(shares) * _lists_with(keys, statistics) / apart
    return min(1.0, max(estimate, *shares))


def _lists_with(keys: Iterable[Key], statistics: KindStatistics) -> int:
    """How many lists of the sample hold any of these values."""
    some = 0
    for key in keys:
        some |= statistics.lists_with.get(key, 0)
    return some.bit_count()


def _least_seen(asked: Sequence[Key], statistics: KindStatistics) -> float:
    """What is said when none of the values that were asked is the one: they may stand for others."""
    knows_all = statistics.knows_all and len(asked) == len(statistics.counted)
    return least_share(statistics.cells if knows_all else len(asked))


def _key(operand: Literal) -> Key:
    return str(operand.value) if operand.kind is Kind.STRING else scalar_key(operand)


def _share_of_value(key: Key, statistics: KindStatistics) -> float:
    """Of the events that hold a value: if it was counted what was counted, else an even part of the rest."""
    counted = statistics.counted.get(key)
    if counted is not None:
        return counted / statistics.events
    others = statistics.distinct - len(statistics.counted)
    if statistics.lost == 0 or others <= 0:
        return 0.0
    left = max(0, statistics.cells - sum(statistics.counted.values()))
    return min(left / others, statistics.lost) / statistics.events


def _ends(test: Test, keys: list[Any], values: list[Any]) -> tuple[int, int]:
    """The places between which the values of a range stand, all of one type and ascending."""
    if test is Test.LT:
        return 0, bisect_left(values, keys[0])
    if test is Test.LE:
        return 0, bisect_right(values, keys[0])
    if test is Test.GT:
        return bisect_right(values, keys[0]), len(values)
    if test is Test.GE:
        return bisect_left(values, keys[0]), len(values)
    return bisect_left(values, keys[0]), bisect_right(values, keys[1])


def _share_of_tried(predicate: Predicate, statistics: KindStatistics) -> float:
    """The share of strings that satisfy a predicate, by trying it on some of them."""
    values, total = statistics.weighted
    share = np.diff(total)
    step = max(1, len(values) // TRIED)
    tried = values[::step]
    asked = Predicate(_TRIED_FIELD, predicate.test, predicate.operands)
    holds = [predicate_truth(asked, {_TRIED_FIELD[0]: value}) is Truth.TRUE for value in tried]
    held = float(share[::step][holds].sum() / share[::step].sum()) if tried else 0.0
    return _by_chance(max(held, _least_seen(tried, statistics)), statistics)


def _share_of_text(predicate: Predicate, field: FieldStatistics, history: History) -> float:
    if field.documents is None:
        return GUESS * field.present / field.rows
    any_gap = predicate.test is Test.TM_CONTAINS
    query = parse_query(str(predicate.operands[0].value), any_gap=any_gap)
    threshold = float(predicate.operands[1].value) if has_threshold(predicate) else 0.0
    return text_selectivity(query, history.sketches(field.path), threshold) * field.documents / field.rows
