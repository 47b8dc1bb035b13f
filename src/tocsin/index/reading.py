"""Condition texts become steps over distinct predicates, a million at a time.

The skeleton kernel cuts texts into predicates and connectives; the grammar's parser reads each
distinct predicate once. A condition that either is unsure of goes whole to the grammar's parser,
which accepts it or says what is wrong and where. So there is one language, and one place that
reports errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.errors import RuleError, each_error
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.conditions import parse_condition, parse_predicate
from tocsin.grammar.tree import Condition, Connective, Constant, Operator, Predicate
from tocsin.index.packing import starts, text_arrays
from tocsin.kernels.sharing import FALSE_REF, TRUE_REF
from tocsin.kernels.skeleton import AND_BASE, FALSE, NOT, OR_BASE, TRUE, XNOR, XOR, read_skeletons

CHUNK_BYTES = 1 << 23
"""How much text the skeleton kernel reads at once; it needs some twenty times that in room."""

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


class Predicates:
    """The distinct predicates, in canonical form; predicate l is leaf l, and node l + 1 of the graph."""

    def __init__(self) -> None:
        self.distinct: list[Predicate] = []
        self._leaf: dict[Predicate, int] = {}
        self._ref_of_text: dict[bytes, int | None] = {}

    def ref(self, predicate: Predicate, negated: bool = False) -> int:
        """The reference to a predicate or its negation."""
        canonical = canonical_predicate(predicate)
        leaf = self._leaf.setdefault(canonical, len(self.distinct))
        if leaf == len(self.distinct):
            self.distinct.append(canonical)
        return 2 * (leaf + 1) + negated

    def ref_of_text(self, text: bytes) -> int | None:
        """The reference that a predicate's text stands for, or None when it is not one predicate."""
        if text in self._ref_of_text:
            return self._ref_of_text[text]
        try:
            predicate, negated = parse_predicate(text.decode())
        except RuleError:
            ref = None
        else:
            if isinstance(predicate, Constant):
                ref = TRUE_REF if predicate.value else FALSE_REF
            else:
                ref = self.ref(predicate, negated)
        self._ref_of_text[text] = ref
        return ref


class Reading(NamedTuple):
    """All conditions read: their steps, the distinct predicates, and what could not be read."""

    parts: list[Steps]
    predicates: list[Predicate]
    errors: list[tuple[int, RuleError]]


def read_conditions(texts: pa.LargeStringArray, aliases: dict[int, str]) -> Reading:
    """Read condition i from texts[i], leaving out the table alias aliases[i] if it has one.

    An error is given with the number of its condition; a condition with errors has no steps.
    """
    start, data = text_arrays(texts)
    predicates = Predicates()
    parts: list[Steps] = []
    unsure: list[int] = []
    for first, last in _chunks(start):
        part, doubtful = _read_chunk(first, last, start, data, predicates, aliases)
        parts.append(part)
        unsure.extend(doubtful)
    steps: list[tuple[int, list[int]]] = []
    refs: list[int] = []
    errors: list[tuple[int, RuleError]] = []
    for number in unsure:
        try:
            condition = parse_condition(texts[number].as_py(), aliases.get(number))
        except RuleError as error:
            errors.extend((number, each) for each in each_error(error))
        else:
            steps.append((number, steps_of(condition, predicates, refs)))
    if steps:
        parts.append(
            Steps(
                np.array([number for number, _ in steps], np.int64),
                starts([len(codes) for _, codes in steps], np.int64),
                np.array([code for _, codes in steps for code in codes], np.int32),
                np.array(refs, np.int32),
            )
        )
    return Reading(parts, predicates.distinct, errors)


def _chunks(start: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of conditions of about CHUNK_BYTES of text, at least one condition each."""
    first = 0
    count = len(start) - 1
    while first < count:
        last = int(np.searchsorted(start, start[first] + CHUNK_BYTES, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def _read_chunk(
    first: int,
    last: int,
    start: NDArray[np.int64],
    data: NDArray[np.uint8],
    predicates: Predicates,
    aliases: dict[int, str],
) -> tuple[Steps, list[int]]:
    """The steps of conditions first..last, and the numbers of those that the parser has to see."""
    text = data[start[first] : start[last]]
    skeletons = read_skeletons(text, start[first : last + 1] - start[first])
    sure, step_start, step = skeletons.accepted, skeletons.step_start, skeletons.step
    sizes = np.diff(step_start)
    for number in aliases:
        if first <= number < last:
            sure[number - first] = False
    used = np.zeros(len(skeletons.predicate_start), np.bool_)
    used[step[np.repeat(sure, sizes) & (step >= 0)]] = True
    ref = np.full(len(used), -1, np.int32)
    whole = text.tobytes()
    for number in np.flatnonzero(used).tolist():
        place = slice(skeletons.predicate_start[number], skeletons.predicate_end[number])
        found = predicates.ref_of_text(whole[place])
        if found is not None:
            ref[number] = found
    if (ref[used] < 0).any():
        bad_steps = np.flatnonzero((ref[np.maximum(step, 0)] < 0) & (step >= 0))
        sure[np.searchsorted(step_start, bad_steps, side="right") - 1] = False
    return (
        Steps(np.flatnonzero(sure) + first, starts(sizes[sure], np.int64), step[np.repeat(sure, sizes)], ref),
        (np.flatnonzero(~sure) + first).tolist(),
    )


def steps_of(condition: Condition, predicates: Predicates, refs: list[int]) -> list[int]:
    """The steps of a parsed condition; what they refer to is added to `refs`."""
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
