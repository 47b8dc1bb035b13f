"""The operators of predicates: a row for each, which parser, printer, checker, evaluator and index go by.

An operator is known by its Test, whose value is how it is written and whose place among the tests is its
code in arrays and kernels. docs/architecture.md has the recipe for another one.
One whose canonical form is another operator's, as `s like 'abc'` is `s = 'abc'`, needs nothing else of the
index; for another one graph/leaf_families.py and graph/pattern_arrays.py say how its leaves are found.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import Enum, auto
from functools import lru_cache
from typing import Any, NamedTuple

from tocsin.conditions.language.addresses import parse_network
from tocsin.conditions.language.like_patterns import Wildcard, compile_like, fold, like_problem, like_tokens
from tocsin.conditions.language.tree import Literal, Predicate, Test
from tocsin.events import Kind
from tocsin.syntax import compile_regex

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1


class Shape(Enum):
    """How a predicate with the operator is written."""

    SIGN = auto()  # x <= 5
    LIST = auto()  # x in (1, 2)
    RANGE = auto()  # x between 1 and 2
    BARE = auto()  # x is null
    WORD = auto()  # x like 'a%'
    CALL = auto()  # cidr(x, '10.0.0.0/8')


class PredicateOperator(NamedTuple):
    """What an operator is.

    shape        how it is written
    negated      how NOT over it is written, where that has a form of its own
    kind         the kind of value that it asks of its field; None when that is the kind of its operands
    problem      what is wrong with its pattern, if anything, for one that has a pattern
    canonical    the simplest predicate that asks the same of every value
    holds        whether a value of its kind satisfies it, given its operands as they compare with the value;
                 None for those that no single value answers: `is null`, and free text
    """

    shape: Shape
    negated: str | None
    kind: Kind | None
    problem: Callable[[str], str | None] | None
    canonical: Callable[[Predicate], Predicate]
    holds: Callable[[Any, Sequence[Any]], bool] | None


def canonical_predicate(predicate: Predicate) -> Predicate:
    """The simplest predicate that asks the same of every value.

        x = 1.0                  x = 1                 a number with an exact integer value is that integer
        x in (3, 1, 3)           x in (1, 3)           each value once, ascending
        x in (1)                 x = 1
        x between 5 and 5        x = 5
        s like 'abc'             s = 'abc'             a pattern without wildcards
        s like '%%a'             s like '%a'
        cidr(ip, '10.1.2.3')     cidr(ip, '10.1.2.3/32')

    Each is exact on lists too: a list satisfies either side when one element does.
    """
    return OPERATORS[predicate.test].canonical(predicate)


def kind_of_predicate(predicate: Predicate) -> Kind:
    """The kind of value that a predicate asks about (any predicate but `is null`)."""
    return OPERATORS[predicate.test].kind or predicate.operands[0].kind


def words_of_shape(shape: Shape) -> dict[str, Test]:
    """The operators that are written so, by their words."""
    return {test.value: test for test, row in OPERATORS.items() if row.shape is shape}


# ---- What is wrong with a pattern


def _refused(check: Callable[[str], object]) -> Callable[[str], str | None]:
    def problem(pattern: str) -> str | None:
        try:
            check(pattern)
        except ValueError as error:
            return str(error)
        return None

    return problem


# ---- Canonical forms


def _as_it_is(predicate: Predicate) -> Predicate:
    return predicate


def _of_literals(predicate: Predicate) -> Predicate:
    return Predicate(predicate.field, predicate.test, tuple(map(canonical_literal, predicate.operands)))


def _of_list(predicate: Predicate) -> Predicate:
    values = tuple(sorted(set(map(canonical_literal, predicate.operands)), key=_order))
    return Predicate(predicate.field, Test.EQ if len(values) == 1 else predicate.test, values)


def _of_range(predicate: Predicate) -> Predicate:
    low, high = map(canonical_literal, predicate.operands)
    if low == high:
        return Predicate(predicate.field, Test.EQ, (low,))
    return Predicate(predicate.field, predicate.test, (low, high))


def _of_like(predicate: Predicate) -> Predicate:
    tokens = like_tokens(str(predicate.operands[0].value))
    folded = predicate.test is Test.ILIKE
    if not folded and all(isinstance(token, str) for token in tokens):
        return Predicate(predicate.field, Test.EQ, (Literal(Kind.STRING, "".join(map(str, tokens))),))
    written = "".join(
        token.value if isinstance(token, Wildcard) else _escaped(fold(token) if folded else token)
        for token in tokens
    )
    return Predicate(predicate.field, predicate.test, (Literal(Kind.STRING, written),))


def _of_network(predicate: Predicate) -> Predicate:
    network = parse_network(str(predicate.operands[0].value)).text
    return Predicate(predicate.field, predicate.test, (Literal(Kind.STRING, network),))


def _of_query(predicate: Predicate) -> Predicate:
    query, *threshold = predicate.operands
    return Predicate(predicate.field, predicate.test, (query, *map(canonical_literal, threshold)))


def canonical_literal(literal: Literal) -> Literal:
    """A number written with a point or an exponent is an integer when its double is exactly one.

    Only then: 9007199254740993.0 is the double 9007199254740992 to integers and floats, and its own
    text to decimals, so it equals no integer in every respect and stays as it is.
    """
    if literal.kind is Kind.NUMBER and isinstance(literal.value, str):
        double = float(literal.value)
        if double.is_integer() and _SMALLEST <= double <= _LARGEST and Decimal(literal.value) == int(double):
            return Literal(Kind.NUMBER, int(double))
    return literal


def _order(literal: Literal) -> tuple[int | str | Decimal, bool]:
    value = literal.value
    if literal.kind is Kind.NUMBER:
        return Decimal(value), isinstance(value, str)
    return value, False


def _escaped(plain: str) -> str:
    return plain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


# ---- Meanings
#
# Python's comparisons are the specification's: of int, float and Decimal exactly by value, of str by code
# point (the order of their bytes in UTF-8), of bool with false first.


_like = lru_cache(maxsize=1024)(compile_like)
_regex = lru_cache(maxsize=1024)(compile_regex)
_network = lru_cache(maxsize=1024)(parse_network)


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Sequence[Any]], bool]:
    return lambda value, operands: bool(compare(value, operands[0]))


def _is_among(value: Any, operands: Sequence[Any]) -> bool:
    return value in operands


def _is_between(value: Any, operands: Sequence[Any]) -> bool:
    low, high = operands
    return bool(low <= value <= high)


def _is_like(value: Any, operands: Sequence[Any]) -> bool:
    return _like(operands[0], False).matches(value)


def _is_ilike(value: Any, operands: Sequence[Any]) -> bool:
    return _like(operands[0], True).matches(value)


def _is_found(value: Any, operands: Sequence[Any]) -> bool:
    return _regex(operands[0]).search(value)


def _is_within(value: Any, operands: Sequence[Any]) -> bool:
    return value in _network(operands[0])


COMPARISONS: dict[Test, Callable[[Any, Any], Any]] = {
    Test.EQ: operator.eq,
    Test.LT: operator.lt,
    Test.LE: operator.le,
    Test.GT: operator.gt,
    Test.GE: operator.ge,
}
"""What the signs mean between any two values."""

_Row = PredicateOperator
_STRING = Kind.STRING
_no_regex = _refused(compile_regex)
_no_network = _refused(parse_network)

OPERATORS: dict[Test, PredicateOperator] = {
    # shape, negated, kind, problem, canonical, holds
    Test.EQ: _Row(Shape.SIGN, "!=", None, None, _of_literals, _compared(COMPARISONS[Test.EQ])),
    Test.LT: _Row(Shape.SIGN, None, None, None, _of_literals, _compared(COMPARISONS[Test.LT])),
    Test.LE: _Row(Shape.SIGN, None, None, None, _of_literals, _compared(COMPARISONS[Test.LE])),
    Test.GT: _Row(Shape.SIGN, None, None, None, _of_literals, _compared(COMPARISONS[Test.GT])),
    Test.GE: _Row(Shape.SIGN, None, None, None, _of_literals, _compared(COMPARISONS[Test.GE])),
    Test.IN: _Row(Shape.LIST, "not in", None, None, _of_list, _is_among),
    Test.BETWEEN: _Row(Shape.RANGE, "not between", None, None, _of_range, _is_between),
    Test.NULL: _Row(Shape.BARE, "is not null", None, None, _as_it_is, None),
    Test.LIKE: _Row(Shape.WORD, "not like", _STRING, like_problem, _of_like, _is_like),
    Test.ILIKE: _Row(Shape.WORD, "not ilike", _STRING, like_problem, _of_like, _is_ilike),
    Test.MATCHES: _Row(Shape.WORD, "not matches", _STRING, _no_regex, _as_it_is, _is_found),
    Test.CIDR: _Row(Shape.CALL, None, Kind.ADDRESS, _no_network, _of_network, _is_within),
    Test.CONTAINS: _Row(Shape.CALL, None, _STRING, None, _of_query, None),
    Test.TM_CONTAINS: _Row(Shape.CALL, None, _STRING, None, _of_query, None),
}
"""Every operator, in the order of their codes."""

READ_STRINGS = frozenset(test for test, row in OPERATORS.items() if row.problem is not None)
"""The operators that read strings of a field by a pattern."""
