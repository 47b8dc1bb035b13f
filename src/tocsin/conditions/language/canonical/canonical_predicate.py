"""First pass: each predicate in its simplest form, so that equal questions are equal predicates.

    x = 1.0                  x = 1                 a number with an exact integer value is that integer
    x in (3, 1, 3)           x in (1, 3)           each value once, ascending
    x in (1)                 x = 1
    x between 5 and 5        x = 5
    s like 'abc'             s = 'abc'             a pattern without wildcards
    s like '%%a'             s like '%a'
    cidr(ip, '10.1.2.3')     cidr(ip, '10.1.2.3/32')

Each step is exact on lists too: a list satisfies either side when one element does.
"""

from __future__ import annotations

from decimal import Decimal

from tocsin.conditions.language.patterns import Wildcard, fold, like_tokens, parse_network
from tocsin.conditions.language.tree import TEXT_TESTS, Literal, Predicate, Test
from tocsin.events.kinds import Kind

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1


def canonical_predicate(predicate: Predicate) -> Predicate:
    """The simplest predicate that asks the same of every value."""
    field, test, operands = predicate.field, predicate.test, predicate.operands
    if test is Test.NULL:
        return predicate
    if test is Test.LIKE or test is Test.ILIKE:
        return _canonical_like(predicate)
    if test is Test.CIDR:
        network = parse_network(str(operands[0].value)).text
        return Predicate(field, test, (Literal(Kind.STRING, network),))
    if test is Test.MATCHES:
        return predicate
    if test in TEXT_TESTS:
        return Predicate(field, test, (operands[0], *map(canonical_literal, operands[1:])))
    operands = tuple(canonical_literal(operand) for operand in operands)
    if test is Test.IN:
        operands = tuple(sorted(set(operands), key=_order))
        test = Test.EQ if len(operands) == 1 else test
    elif test is Test.BETWEEN and operands[0] == operands[1]:
        operands, test = operands[:1], Test.EQ
    return Predicate(field, test, operands)


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


def _canonical_like(predicate: Predicate) -> Predicate:
    pattern = str(predicate.operands[0].value)
    tokens = like_tokens(pattern)
    folded = predicate.test is Test.ILIKE
    if not folded and all(isinstance(token, str) for token in tokens):
        return Predicate(predicate.field, Test.EQ, (Literal(Kind.STRING, "".join(map(str, tokens))),))
    written = "".join(
        token.value if isinstance(token, Wildcard) else _escaped(fold(token) if folded else token)
        for token in tokens
    )
    return Predicate(predicate.field, predicate.test, (Literal(Kind.STRING, written),))


def _escaped(plain: str) -> str:
    return plain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
