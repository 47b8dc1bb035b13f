"""Condition texts become steps over distinct predicates, a million at a time.

The skeleton kernel cuts texts into predicates and connectives, and another reads each distinct
predicate. A predicate that it is unsure of goes to the grammar's parser, and a condition that cannot
be read so goes there whole, to be accepted or to hear what is wrong and where. So there is one
language, and one place that reports errors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.packed import starts, text_arrays
from tocsin.conditions.graph.predicate_table import Predicates, PredicateTable
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.kernels.skeleton import AND_BASE, FALSE, NOT, OR_BASE, TRUE, XNOR, XOR, read_skeletons
from tocsin.conditions.language.parser import parse_condition, parse_predicate
from tocsin.conditions.language.tree import Connective, Constant, Operator, Predicate
from tocsin.conditions.operators import canonical_predicate
from tocsin.errors import RuleError, each_error
from tocsin.rules import Rules

_STEP_OF = {Connective.NOT: NOT, Connective.XOR: XOR, Connective.XNOR: XNOR}


class Steps(NamedTuple):
    """Some conditions as postfix steps (see kernels.skeleton).

    number   int64[n]     which conditions these are
    start    int64[n+1]
    step     int32[...]   a step >= 0 is a place in `ref`
    ref      int32[...]   references to leaves (2 * node + sign), or to a constant
    """

    number: Longs
    start: Longs
    step: Ints
    ref: Ints


class Reading(NamedTuple):
    """All conditions read: their steps, the distinct predicates, and what could not be read."""

    parts: list[Steps]
    table: PredicateTable
    errors: list[tuple[int, RuleError]]

    @property
    def predicates(self) -> list[Predicate]:
        """The distinct predicates as the grammar has them: each is parsed, so ask once."""
        whole = self.table.leaf_text.tobytes()
        texts = [whole[begin:end].decode() for begin, end in pairwise(self.table.leaf_start.tolist())]
        read = [parse_predicate(text)[0] for text in texts]
        return [canonical_predicate(predicate) for predicate in read if isinstance(predicate, Predicate)]


def read_conditions(texts: pa.LargeStringArray, aliases: Mapping[int, str]) -> Reading:
    """Read condition i from texts[i], leaving out the table alias aliases[i] if it has one.

    An error is given with the number of its condition; a condition with errors has no steps.
    """
    start, data = text_arrays(texts)
    reader = _Reader()
    for alias, numbers in _by_alias(len(start) - 1, aliases):
        if aliases:
            reader.read(numbers, *gather_spans(data, start[numbers], start[numbers + 1]), alias)
        else:
            reader.read(numbers, start, data, None)
    return reader.reading()


def read_rules(rules: Rules) -> Reading:
    """What rules are matched by: their conditions; of a disabled one, if it has no errors, `false`."""
    disabled = rules.disabled
    if not len(disabled):
        return read_conditions(rules.whens, rules.aliases)
    alone = rules.take(disabled)
    wrong = {place for place, _ in read_conditions(alone.whens, alone.aliases).errors}
    is_off = np.zeros(len(rules), np.bool_)
    is_off[np.delete(disabled, list(wrong))] = True
    matched = pc.if_else(pa.array(is_off), pa.scalar("false", pa.large_string()), rules.whens)
    return read_conditions(matched, rules.aliases)


def _by_alias(count: int, aliases: Mapping[int, str]) -> Iterator[tuple[str | None, Longs]]:
    """The numbers of the conditions that have the same alias, or none."""
    if not aliases:
        yield None, np.arange(count)
        return
    numbers: dict[str | None, list[int]] = defaultdict(list)
    for number in range(count):
        numbers[aliases.get(number)].append(number)
    for alias, some in numbers.items():
        yield alias, np.array(some, np.int64)


class _Reader:
    """Reads conditions, part by part, over one set of predicates; until the end, a reference in a part
    is one of index.predicates.Predicates.
    """

    def __init__(self) -> None:
        self._predicates = Predicates()
        self._parts: list[Steps] = []
        self._errors: list[tuple[int, RuleError]] = []

    def read(self, numbers: Longs, start: Longs, data: Bytes, alias: str | None) -> None:
        """Read conditions whose texts lie side by side; numbers[i] is the number of text i."""
        sure = self._read_sure(numbers, start, data, alias)
        if not sure.all():
            unsure = np.flatnonzero(~sure).tolist()
            texts = [data[start[place] : start[place + 1]].tobytes().decode() for place in unsure]
            self._parse(list(zip(numbers[unsure].tolist(), texts, strict=True)), alias)

    def reading(self) -> Reading:
        """All that was read."""
        table, leaf = self._predicates.table()
        parts = [
            part._replace(ref=np.where(part.ref < 0, UNSURE, 2 * leaf[part.ref >> 1] + 2 + (part.ref & 1)))
            for part in self._parts
        ]
        return Reading(parts, table, sorted(self._errors, key=lambda error: error[0]))

    def _read_sure(self, numbers: Longs, start: Longs, data: Bytes, alias: str | None) -> Flags:
        """Read what the kernel is sure of but for single predicates; which conditions were read."""
        skeletons = read_skeletons(data, start)
        sure, step_start, step = skeletons.accepted, skeletons.step_start, skeletons.step
        begin, end = skeletons.predicate_start, skeletons.predicate_end
        ref = self._predicates.read(data, begin, end, alias)
        unsure = np.flatnonzero(ref == UNSURE)
        if len(unsure):
            spans = zip(begin[unsure].tolist(), end[unsure].tolist(), strict=True)
            ref[unsure] = self._parsed([data[first:last].tobytes().decode() for first, last in spans], alias)
            bad = np.flatnonzero((step >= 0) & (ref[np.maximum(step, 0)] == UNSURE))
            sure[np.searchsorted(step_start, bad, side="right") - 1] = False
        if self._predicates.has_thresholds and len(ref):
            asks = (step >= 0) & self._predicates.asks_for_score(ref)[np.maximum(step, 0)]
            counts = np.add.reduceat(asks, np.minimum(step_start[:-1], len(step) - 1), dtype=np.int64)
            sure &= (counts < 2) | (np.diff(step_start) == 0)
        if not sure.all():
            sizes = np.diff(step_start)
            step = step[np.repeat(sure, sizes)]
            numbers, step_start = numbers[sure], starts(sizes[sure], np.int64)
        self._parts.append(Steps(numbers, step_start, step, ref))
        return sure

    def _parsed(self, texts: list[str], alias: str | None) -> Ints:
        """The references that the texts of predicates stand for; UNSURE where one is no predicate."""
        ref = np.full(len(texts), UNSURE, np.int32)
        places: list[int] = []
        found: list[Predicate] = []
        negated: list[bool] = []
        for place, text in enumerate(texts):
            try:
                predicate, is_negated = parse_predicate(text, alias)
            except RuleError:
                continue
            if isinstance(predicate, Predicate):
                places.append(place)
                found.append(predicate)
                negated.append(is_negated)
        ref[places] = self._predicates.add(found) + np.array(negated, np.int32)
        return ref

    def _parse(self, texts: list[tuple[int, str]], alias: str | None) -> None:
        """Read conditions with the grammar's parser."""
        numbers: list[int] = []
        sizes: list[int] = []
        steps: list[int] = []
        predicates: list[Predicate] = []
        for number, text in texts:
            try:
                condition = parse_condition(text, alias)
            except RuleError as error:
                self._errors.extend((number, each) for each in each_error(error))
                continue
            numbers.append(number)
            sizes.append(len(condition.steps))
            for step in condition.steps:
                if isinstance(step, Predicate):
                    steps.append(len(predicates))
                    predicates.append(step)
                else:
                    steps.append(step_code(step))
        self._parts.append(
            Steps(
                np.array(numbers, np.int64),
                starts(sizes, np.int64),
                np.array(steps, np.int32),
                self._predicates.add(predicates),
            )
        )


def step_code(step: Constant | Operator) -> int:
    """The step of a constant or an operator."""
    if isinstance(step, Constant):
        return TRUE if step.value else FALSE
    if step.connective is Connective.AND:
        return AND_BASE - 2 * step.arity
    if step.connective is Connective.OR:
        return OR_BASE - 2 * step.arity
    return _STEP_OF[step.connective]
