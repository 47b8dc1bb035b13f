"""What a condition means: the slow, obvious evaluator that every engine is held to.

It follows the specification sentence by sentence and shares nothing with the engines but the small
languages inside strings (see conditions/language/__init__.py) and text/. Read it in this order:

    lookup            what an event holds at a path: nothing, one value, or a flat list
    predicate_truth   what one predicate says of that
    condition_truth   how the truths of predicates combine
    score             what a match carries besides: how well free text fits

Nothing here calls itself, so neither a deep event nor a deep condition can exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from tocsin.conditions.language.addresses import parse_address
from tocsin.conditions.language.tree import (
    TEXT_TESTS,
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Path,
    Predicate,
    Test,
    has_threshold,
)
from tocsin.conditions.operators import OPERATORS, kind_of_predicate
from tocsin.errors import EventError
from tocsin.events import Kind
from tocsin.syntax import parse_timestamp, print_timestamp
from tocsin.text import DEFAULT, TextSettings, Verdict, judge, parse_query

Event = Mapping[str, object]


class Truth(IntEnum):
    """Kleene's three values, numbered so that the connectives are arithmetic.

    `and` is the least, `or` the greatest, `not` changes the sign, `xnor` multiplies.
    """

    FALSE = -1
    UNKNOWN = 0
    TRUE = 1

    def __bool__(self) -> bool:
        raise TypeError("a Truth has three values: compare it with Truth.TRUE")


def matches(condition: Condition, event: Event, texts: TextSettings = DEFAULT) -> bool:
    """Whether an event satisfies a condition: only *true* counts, unknown does not."""
    return condition_truth(condition, event, texts) is Truth.TRUE


def condition_truth(condition: Condition, event: Event, texts: TextSettings = DEFAULT) -> Truth:
    """The truth of a whole condition."""
    return step_truths(condition, event, texts)[-1]


def step_truths(condition: Condition, event: Event, texts: TextSettings = DEFAULT) -> list[Truth]:
    """The truth of every step of a condition, in the order of its steps; the last is the whole's."""
    return truths_of(condition.steps, lambda predicate: predicate_truth(predicate, event, texts))


def truths_of(steps: Iterable[Any], leaf_truth: Callable[[Any], Truth]) -> list[Truth]:
    """The truth of every step, given that of each leaf."""
    truths: list[Truth] = []
    waiting: list[Truth] = []
    for step in steps:
        if isinstance(step, Operator):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            truth = combined(step.connective, operands)
        elif isinstance(step, Constant):
            truth = Truth.TRUE if step.value else Truth.FALSE
        else:
            truth = leaf_truth(step)
        waiting.append(truth)
        truths.append(truth)
    return truths


def combined(connective: Connective, operands: list[Truth]) -> Truth:
    """The truth that a connective gives its operands."""
    if connective is Connective.NOT:
        return Truth(-operands[0])
    if connective is Connective.AND:
        return min(operands)
    if connective is Connective.OR:
        return max(operands)
    left, right = operands
    if connective is Connective.XNOR:
        return Truth(left * right)
    return Truth(-left * right)


def predicate_truth(predicate: Predicate, event: Event, texts: TextSettings = DEFAULT) -> Truth:
    """The truth of one predicate.

    Unknown when the field is missing or holds nothing of the predicate's kind; a list satisfies the
    predicate when any of its elements does, and an empty list is known to satisfy none. To free text
    the strings of a list are one document.
    """
    if predicate.test in TEXT_TESTS:
        return _text_truth(predicate, event, texts)
    found = lookup(event, predicate.field)
    if predicate.test is Test.NULL:
        return Truth.TRUE if found is None else Truth.FALSE
    if found is None:
        return Truth.UNKNOWN
    elements = found if isinstance(found, list) else [found]
    if not elements:
        return Truth.FALSE
    kind = kind_of_predicate(predicate)
    known = [value for value in (value_as(kind, element) for element in elements) if value is not None]
    if not known:
        return Truth.UNKNOWN
    return Truth.TRUE if any(_satisfies(predicate, value) for value in known) else Truth.FALSE


def _text_truth(predicate: Predicate, event: Event, texts: TextSettings) -> Truth:
    document = document_at(event, predicate.field)
    if document is None:
        return Truth.UNKNOWN
    holds, score = text_verdict(predicate, document, texts)
    threshold = threshold_of(predicate, texts)
    return Truth.TRUE if holds and (threshold is None or score >= threshold) else Truth.FALSE


def document_at(event: Event, path: Path) -> list[str] | None:
    """The strings at a path, which are one document; None when there is nothing that free text can ask."""
    found = lookup(event, path)
    elements = found if isinstance(found, list) else [] if found is None else [found]
    strings = [each for each in elements if isinstance(each, str)]
    return None if found is None or (elements and not strings) else strings


def text_verdict(predicate: Predicate, document: list[str], texts: TextSettings) -> Verdict:
    """What a predicate's text query says of a document, whatever its threshold."""
    query = _query(str(predicate.operands[0].value), any_gap=predicate.test is Test.TM_CONTAINS)
    return judge(query, document, texts.weights(predicate.field))


def threshold_of(predicate: Predicate, texts: TextSettings) -> float | None:
    """The score that a text predicate asks for; None when its Boolean reading decides alone."""
    if len(predicate.operands) == 1:
        return texts.threshold
    written = predicate.operands[1]
    return None if written.kind is Kind.BOOLEAN else float(written.value)


def score(condition: Condition, event: Event, texts: TextSettings = DEFAULT) -> float | None:
    """What a match carries: the score of the `contains` with a threshold, else the largest score.

    None for a condition without free text. A field that is missing scores 0.
    """
    return text_score(
        [predicate for predicate in condition.predicates() if predicate.test in TEXT_TESTS], event, texts
    )


def text_score(every: Sequence[Predicate], event: Event, texts: TextSettings = DEFAULT) -> float | None:
    """The score that these predicates over free text, all those of a condition, give a match."""
    scored = [predicate for predicate in every if has_threshold(predicate)] or every
    scores = [
        text_verdict(predicate, document_at(event, predicate.field) or [], texts).score
        for predicate in scored
    ]
    return max(scores, default=None)


# ---- What an event holds at a path


@dataclass(frozen=True, slots=True)
class Instant:
    """A timestamp of an event, in nanoseconds since 1970 UTC: apart from the ints, which are numbers."""

    nanos: int

    def __str__(self) -> str:
        return print_timestamp(self.nanos)


def lookup(event: Event, path: Path) -> object:
    """What an event holds at a path.

    None when it is missing; for a list, the flat list of what is left of it without nulls and NaNs
    (when nothing is left, it is empty and not missing); else the one value. Each value is a bool, int,
    float, Decimal, str, Instant or an object. Raises EventError for anything else.
    """
    here: object = event
    for name in path:
        if isinstance(here, Mapping):
            here = here.get(name)
        elif isinstance(here, LISTS):
            objects = [element for element in _elements(here) if isinstance(element, Mapping)]
            values = [each.get(name) for each in objects]
            here = [value for value in values if not is_missing(value)] or None
        else:
            return None
    if is_missing(here):
        return None
    if isinstance(here, LISTS):
        return [plain_value(element) for element in _elements(here)]
    return plain_value(here)


def _elements(values: Iterable[object]) -> Iterator[object]:
    """The elements of a list and of the lists within it, in order, without nulls and NaNs."""
    open_lists = [_iterator(values)]
    while open_lists:
        for element in open_lists[-1]:
            if isinstance(element, LISTS):
                if len(open_lists) > DEEPEST_LIST:
                    raise EventError(f"lists are nested more than {DEEPEST_LIST:,} deep")
                open_lists.append(_iterator(element))
                break
            if not is_missing(element):
                yield element
        else:
            open_lists.pop()


def _iterator(values: Iterable[object]) -> Iterator[object]:
    return iter(values.ravel() if isinstance(values, np.ndarray) else values)


def is_missing(value: object) -> bool:
    """Null and NaN, of whatever type: NaT of NumPy and pandas is the NaN among their timestamps."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | datetime | np.floating | np.datetime64):
        return bool(value != value)
    return False


def plain_value(value: object) -> object:
    """A value that is not missing, as one of the types that lookup promises."""
    if isinstance(value, np.datetime64):
        second = value.astype("datetime64[s]")
        nanos = (value - second) // np.timedelta64(1, "ns")
        return Instant(int(second.astype(np.int64)) * 1_000_000_000 + int(nanos))
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuU":
        return value.item()
    if isinstance(value, datetime):
        return Instant(_nanoseconds(value))
    if isinstance(value, date):
        return Instant(_nanoseconds(datetime(value.year, value.month, value.day)))
    if isinstance(value, str):
        return _unicode(value)
    if isinstance(value, bool | int | float | Decimal | Mapping):
        return value
    raise EventError(f"a value of type {type(value).__name__}, which no condition can test")


def _nanoseconds(moment: datetime) -> int:
    """Nanoseconds since 1970; without a zone it is UTC. (pandas' Timestamp is a datetime that has some.)"""
    wall = datetime(*moment.timetuple()[:6], moment.microsecond)
    offset = moment.utcoffset() or timedelta(0)
    micros = (wall - datetime(1970, 1, 1) - offset) // timedelta(microseconds=1)
    return micros * 1_000 + int(getattr(moment, "nanosecond", 0))


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EventError("a string that is not Unicode text: it holds half a surrogate pair") from None
    return text


# ---- What a predicate asks of one value


def value_as(kind: Kind, value: object) -> Any:
    """The value as a predicate of this kind sees it, or None when it is of another kind.

    An event's string is a timestamp or an address to a predicate that asks for one, if it reads as one.
    """
    if kind is Kind.NUMBER:
        return value if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None
    if kind is Kind.STRING:
        return value if isinstance(value, str) else None
    if kind is Kind.BOOLEAN:
        return value if isinstance(value, bool) else None
    if kind is Kind.ADDRESS:
        return parse_address(value) if isinstance(value, str) else None
    if isinstance(value, Instant):
        return value.nanos
    return parse_timestamp(value) if isinstance(value, str) else None


def _satisfies(predicate: Predicate, value: Any) -> bool:
    """Whether one value of the predicate's kind satisfies it: what that means is in operators.py."""
    holds = OPERATORS[predicate.test].holds
    if holds is None:
        raise AssertionError("neither is null nor free text asks single values")
    return holds(value, [_operand(literal, value) for literal in predicate.operands])


def _operand(literal: Literal, value: object) -> Any:
    """A literal as it compares with a value: a number with point or exponent is its decimal text to a
    Decimal, and the nearest double to ints and floats."""
    if literal.kind is not Kind.NUMBER or isinstance(literal.value, int):
        return literal.value
    return Decimal(literal.value) if isinstance(value, Decimal) else float(literal.value)


DEEPEST_LIST = 1_000_000
"""Only a list that contains itself is deeper."""
LISTS = (list, tuple, set, frozenset, np.ndarray)
_query = lru_cache(maxsize=1024)(parse_query)
