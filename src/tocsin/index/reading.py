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
from numpy.typing import NDArray

from tocsin.errors import RuleError, each_error
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.conditions import parse_condition, parse_predicate
from tocsin.grammar.tree import Condition, Connective, Constant, Operator, Path, Predicate
from tocsin.index.packing import starts, text_arrays
from tocsin.index.predicates import Predicates
from tocsin.kernels.predicate_table import PredicateTable
from tocsin.kernels.sharing import FALSE_REF, TRUE_REF
from tocsin.kernels.skeleton import AND_BASE, FALSE, NOT, OR_BASE, TRUE, XNOR, XOR, read_skeletons
from tocsin.kernels.spans import gather_spans
from tocsin.kernels.values import UNSURE

CHUNK_BYTES = 1 << 22
"""How much text the skeleton kernel reads at once."""

_STEP_OF = {Connective.NOT: NOT, Connective.XOR: XOR, Connective.XNOR: XNOR}


class Steps(NamedTuple):
    """Some conditions as postfix steps (see kernels.skeleton).

    number   int64[n]     which conditions these are
    start    int64[n+1]
    step     int32[...]   a step >= 0 is a place in `ref`
    ref      int32[...]   references to leaves (2 * node + sign), or to a constant
    """

    number: NDArray[np.int64]
    start: NDArray[np.int64]
    step: NDArray[np.int32]
    ref: NDArray[np.int32]


class Reading(NamedTuple):
    """All conditions read: their steps, the distinct predicates, and what could not be read.

    table        the predicates; predicate l is leaf l, and node l + 1 of the graph
    paths        the fields that the table numbers
    leaf_start   int64[L+1]   each leaf's predicate as it was first written, perhaps negated:
    leaf_text    uint8[...]       leaf_text[leaf_start[l] : leaf_start[l+1]]
    """

    parts: list[Steps]
    table: PredicateTable
    paths: list[Path]
    leaf_start: NDArray[np.int64]
    leaf_text: NDArray[np.uint8]
    errors: list[tuple[int, RuleError]]

    @property
    def predicates(self) -> list[Predicate]:
        """The distinct predicates as the grammar has them: each is parsed, so ask once."""
        whole = self.leaf_text.tobytes()
        texts = [whole[begin:end].decode() for begin, end in pairwise(self.leaf_start.tolist())]
        read = [parse_predicate(text)[0] for text in texts]
        return [canonical_predicate(predicate) for predicate in read if isinstance(predicate, Predicate)]


def read_conditions(texts: pa.LargeStringArray, aliases: Mapping[int, str]) -> Reading:
    """Read condition i from texts[i], leaving out the table alias aliases[i] if it has one.

    An error is given with the number of its condition; a condition with errors has no steps.
    """
    return read_texts(*text_arrays(texts), aliases)


def read_texts(start: NDArray[np.int64], data: NDArray[np.uint8], aliases: Mapping[int, str]) -> Reading:
    """The same, where condition i is data[start[i] : start[i + 1]]."""
    reader = _Reader()
    for alias, numbers in _by_alias(len(start) - 1, aliases):
        if aliases:
            reader.read(numbers, *gather_spans(data, start[numbers], start[numbers + 1]), alias)
        else:
            reader.read(numbers, start, data, None)
    return reader.reading()


def _by_alias(count: int, aliases: Mapping[int, str]) -> Iterator[tuple[str | None, NDArray[np.int64]]]:
    """The numbers of the conditions that have the same alias, or none."""
    if not aliases:
        yield None, np.arange(count)
        return
    numbers: dict[str | None, list[int]] = defaultdict(list)
    for number in range(count):
        numbers[aliases.get(number)].append(number)
    for alias, some in numbers.items():
        yield alias, np.array(some, np.int64)


def _chunks(start: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of conditions of about CHUNK_BYTES of text, at least one condition each."""
    first = 0
    count = len(start) - 1
    while first < count:
        last = int(np.searchsorted(start, start[first] + CHUNK_BYTES, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


class _Reader:
    """Reads conditions, part by part, over one table of predicates."""

    def __init__(self) -> None:
        self._predicates = Predicates()
        self._parts: list[Steps] = []
        self._errors: list[tuple[int, RuleError]] = []
        self._ref_of_text: dict[tuple[bytes, str | None], int] = {}

    def read(
        self,
        numbers: NDArray[np.int64],
        start: NDArray[np.int64],
        data: NDArray[np.uint8],
        alias: str | None,
    ) -> None:
        """Read conditions whose texts lie side by side; numbers[i] is the number of text i."""
        unsure: list[tuple[int, str]] = []
        for first, last in _chunks(start):
            text = data[start[first] : start[last]]
            text_start = start[first : last + 1] - start[first]
            sure = self._read_chunk(numbers[first:last], text_start, text, alias)
            for place in np.flatnonzero(~sure).tolist():
                written = text[text_start[place] : text_start[place + 1]].tobytes().decode()
                unsure.append((int(numbers[first + place]), written))
        if unsure:
            self._parse(unsure, alias)

    def reading(self) -> Reading:
        """All that was read."""
        found = self._predicates
        return Reading(
            self._parts, found.table, found.paths(), *found.texts(), sorted(self._errors, key=_number)
        )

    def _read_chunk(
        self,
        numbers: NDArray[np.int64],
        start: NDArray[np.int64],
        data: NDArray[np.uint8],
        alias: str | None,
    ) -> NDArray[np.bool_]:
        """Read what the kernels are sure of, predicates apart; which conditions were read."""
        skeletons = read_skeletons(data, start)
        sure, step_start, step = skeletons.accepted, skeletons.step_start, skeletons.step
        begin, end = skeletons.predicate_start, skeletons.predicate_end
        ref = self._predicates.read(data, begin, end, alias)
        for place in np.flatnonzero(ref == UNSURE).tolist():
            ref[place] = self._ref(data[begin[place] : end[place]].tobytes(), alias)
        if (ref == UNSURE).any():
            bad_steps = np.flatnonzero((step >= 0) & (ref[np.maximum(step, 0)] == UNSURE))
            sure[np.searchsorted(step_start, bad_steps, side="right") - 1] = False
        if sure.all():
            self._parts.append(Steps(numbers, step_start, step, ref))
        else:
            sizes = np.diff(step_start)
            kept = step[np.repeat(sure, sizes)]
            self._parts.append(Steps(numbers[sure], starts(sizes[sure], np.int64), kept, ref))
        return sure

    def _ref(self, text: bytes, alias: str | None) -> int:
        """The reference that a predicate's text stands for, or UNSURE when it is not one predicate."""
        known = self._ref_of_text.get((text, alias))
        if known is None:
            known = self._parsed_ref(text.decode(), alias)
            self._ref_of_text[text, alias] = known
        return known

    def _parsed_ref(self, text: str, alias: str | None) -> int:
        try:
            predicate, negated = parse_predicate(text, alias)
        except RuleError:
            return UNSURE
        if isinstance(predicate, Constant):
            return TRUE_REF if predicate.value else FALSE_REF
        return self._predicates.ref(predicate, negated)

    def _parse(self, texts: list[tuple[int, str]], alias: str | None) -> None:
        """Read conditions with the grammar's parser."""
        refs: list[int] = []
        steps: list[tuple[int, list[int]]] = []
        for number, text in texts:
            try:
                condition = parse_condition(text, alias)
            except RuleError as error:
                self._errors.extend((number, each) for each in each_error(error))
            else:
                steps.append((number, _steps_of(condition, self._predicates, refs)))
        self._parts.append(
            Steps(
                np.array([number for number, _ in steps], np.int64),
                starts([len(codes) for _, codes in steps], np.int64),
                np.array([code for _, codes in steps for code in codes], np.int32),
                np.array(refs, np.int32),
            )
        )


def _number(error: tuple[int, RuleError]) -> int:
    return error[0]


def _steps_of(condition: Condition, predicates: Predicates, refs: list[int]) -> list[int]:
    codes: list[int] = []
    for step in condition.steps:
        if isinstance(step, Predicate):
            codes.append(len(refs))
            refs.append(predicates.ref(step))
        elif isinstance(step, Constant):
            codes.append(TRUE if step.value else FALSE)
        else:
            codes.append(_operator_step(step))
    return codes


def _operator_step(operator: Operator) -> int:
    if operator.connective is Connective.AND:
        return AND_BASE - 2 * operator.arity
    if operator.connective is Connective.OR:
        return OR_BASE - 2 * operator.arity
    return _STEP_OF[operator.connective]
