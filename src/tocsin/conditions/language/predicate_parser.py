"""One predicate, from tokens: a field, what is asked of it, and the values.

Every function reads from the cursor's present token on and leaves the cursor behind what it could
read. What is wrong is reported to the cursor, and None is returned. Where it is clear what was meant
(a name where a string should stand) reading goes on, so that one mistake gives one message.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tocsin.conditions.language.cursor import Cursor
from tocsin.conditions.language.numerals import read_number
from tocsin.conditions.language.tokens import Token, TokenKind, describe
from tocsin.conditions.language.tree import TEXT_TESTS, Literal, Path, Predicate, Test
from tocsin.conditions.operators import OPERATORS, Shape, words_of_shape
from tocsin.events import Kind
from tocsin.syntax import is_too_fine, parse_timestamp
from tocsin.text import QueryProblems, parse_query

CONNECTIVES = frozenset({"and", "or", "xor", "xnor"})
CONNECTIVE_SYMBOLS = {"&&": "and", "||": "or"}
"""What other languages write, read as what they mean so that the error is only about the spelling."""

FieldReader = Callable[[Cursor], Path | None]
"""Reads the field that stands at the cursor, with or without its table's alias."""

_COMPARISONS = {
    "=": (Test.EQ, False),
    "==": (Test.EQ, False),
    "!=": (Test.EQ, True),
    "<>": (Test.EQ, True),
    "<": (Test.LT, False),
    "<=": (Test.LE, False),
    ">": (Test.GT, False),
    ">=": (Test.GE, False),
}
_WORDS = words_of_shape(Shape.WORD)
_CALLS = words_of_shape(Shape.CALL)
KIND_NAMES = {
    Kind.NUMBER: "a number",
    Kind.STRING: "a string",
    Kind.BOOLEAN: "a Boolean",
    Kind.TIMESTAMP: "a timestamp",
    Kind.ADDRESS: "an address",
}
"""Each kind as a message names one value of it."""

_TRUE = Literal(Kind.BOOLEAN, True)
_FALSE = Literal(Kind.BOOLEAN, False)


class Comparing(NamedTuple):
    """A comparison's sign: the test that it asks, and where its negation is written when it has one."""

    test: Test
    negated_at: int | None


class Reading(NamedTuple):
    """A predicate in its positive form, and where its negation is written when it has one."""

    predicate: Predicate
    negated_at: int | None


def is_connective(token: Token) -> bool:
    """Whether the token joins two conditions, in tocsin's spelling or another language's."""
    if token.kind is TokenKind.KEYWORD:
        return token.value in CONNECTIVES
    return token.kind is TokenKind.SYMBOL and token.value in CONNECTIVE_SYMBOLS


def read_predicate(cursor: Cursor, alias: str | None) -> Reading | None:
    """Read one predicate that starts with a name."""
    field_reader = partial(read_field, alias=alias)
    if at_call(cursor):
        return read_call(cursor, field_reader)
    field = field_reader(cursor)
    return None if field is None else read_test(cursor, field)


def at_call(cursor: Cursor) -> bool:
    """Whether a name before a parenthesis stands here."""
    return cursor.token.kind is TokenKind.NAME and _is_symbol(cursor.next, "(")


def read_test(cursor: Cursor, field: Path) -> Reading | None:
    """Read what is asked of a field that has been read."""
    token = cursor.token
    if at_comparison(cursor):
        return read_compared(cursor, field, read_sign(cursor))
    if token.kind is TokenKind.KEYWORD:
        if token.value == "is":
            return _read_null_test(cursor, field)
        if token.value == "not":
            cursor.advance()
            return _read_worded(cursor, field, token.offset)
        if token.value not in CONNECTIVES:
            return _read_worded(cursor, field, None)
    if token.kind is TokenKind.END or is_connective(token) or _is_symbol(token, ")"):
        return Reading(Predicate(field, Test.EQ, (_TRUE,)), None)
    cursor.expected("a comparison")
    return None


def read_field(cursor: Cursor, alias: str | None) -> Path | None:
    """Read `name { "." name }`, leaving out a first name that is the alias."""
    first = cursor.token
    if first.kind is not TokenKind.NAME and first.kind is not TokenKind.QUOTED:
        cursor.expected("a field", _field_hint(first))
        if first.kind is not TokenKind.KEYWORD or not _continues_field(cursor.next):
            return None
    cursor.advance()
    if not cursor.at_symbol("."):
        if first.value == alias and first.kind is TokenKind.NAME:
            cursor.expected(
                "'.' and a field", f'{first.text} is the table; as a field it is written "{first.text}"'
            )
            return None
        return (first.value,)
    names = [first.value]
    while cursor.at_symbol("."):
        cursor.advance()
        token = cursor.token
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED, TokenKind.KEYWORD):
            hint = "a name that starts with a digit is written in double quotes"
            cursor.expected("a name", hint if token.kind is TokenKind.NUMBER else "")
            return None
        names.append(token.text if token.kind is TokenKind.KEYWORD else token.value)
        cursor.advance()
    if first.value == alias and first.kind is TokenKind.NAME:
        del names[0]
    return tuple(names)


def read_value(cursor: Cursor) -> Literal | None:
    """Read a literal. A lone wrong word in its place is reported and passed over."""
    token = cursor.token
    if token.kind is TokenKind.NUMBER:
        cursor.advance()
        try:
            return Literal(Kind.NUMBER, read_number(token.value))
        except ValueError as error:
            cursor.problem(token.offset, str(error))
            return None
    if token.kind is TokenKind.STRING:
        cursor.advance()
        return Literal(Kind.STRING, token.value)
    if token.kind is TokenKind.KEYWORD and token.value in ("true", "false"):
        cursor.advance()
        return _TRUE if token.value == "true" else _FALSE
    if cursor.at_word("timestamp") and cursor.next.kind is TokenKind.STRING:
        return _read_timestamp(cursor)
    _refuse_value(cursor, "a value")
    return None


def _refuse_value(cursor: Cursor, what: str) -> None:
    token = cursor.token
    cursor.expected(what, _value_hint(cursor))
    if token.kind in (TokenKind.NAME, TokenKind.QUOTED):
        cursor.advance()
        while cursor.at_symbol(".") and not _ends_value(cursor.next):
            cursor.advance()
            cursor.advance()
    elif not _ends_value(token) and token.kind is not TokenKind.SYMBOL:
        cursor.advance()


def _ends_value(token: Token) -> bool:
    """Whether the token belongs to what follows a value, even when the value is missing."""
    if token.kind is TokenKind.KEYWORD:
        return token.value not in ("null", "true", "false")
    return token.kind is TokenKind.END


def at_comparison(cursor: Cursor) -> bool:
    """Whether a comparison's sign stands here."""
    return cursor.token.kind is TokenKind.SYMBOL and cursor.token.value in _COMPARISONS


def read_sign(cursor: Cursor) -> Comparing:
    """Read a comparison's sign, which stands here."""
    sign = cursor.advance()
    test, negated = _COMPARISONS[sign.value]
    if sign.value == "==":
        cursor.problem(sign.offset, "'==' is not an operator: use '='")
    return Comparing(test, sign.offset if negated else None)


def read_compared(cursor: Cursor, field: Path, sign: Comparing) -> Reading | None:
    """Read the value that a field is compared with."""
    value = read_value(cursor)
    if value is None or not ends_comparison(cursor):
        return None
    return Reading(Predicate(field, sign.test, (value,)), sign.negated_at)


def ends_comparison(cursor: Cursor) -> bool:
    """False, and reported, when another comparison's sign follows the one that was read."""
    if not at_comparison(cursor):
        return True
    token = cursor.token
    cursor.problem(
        token.offset, f"{describe(token)} cannot follow a comparison: join two comparisons with 'and'"
    )
    return False


def _read_null_test(cursor: Cursor, field: Path) -> Reading | None:
    cursor.advance()
    negated_at = cursor.advance().offset if cursor.at_keyword("not") else None
    if not cursor.at_keyword("null"):
        hint = ""
        if cursor.token.kind is TokenKind.KEYWORD and cursor.token.value in ("true", "false"):
            hint = f"use '{'!=' if negated_at is not None else '='} {cursor.token.value}'"
        cursor.expected("'null'" if negated_at is not None else "'null' or 'not null'", hint)
        return None
    cursor.advance()
    return Reading(Predicate(field, Test.NULL, ()), negated_at)


def _read_worded(cursor: Cursor, field: Path, negated_at: int | None) -> Reading | None:
    """What follows a field, or a field and `not`: in, between, like, ilike, matches."""
    token = cursor.token
    operands: tuple[Literal, ...] | None = None
    test = Test.IN
    if token.kind is TokenKind.KEYWORD and token.value in _WORDS:
        cursor.advance()
        test = _WORDS[token.value]
        operands = _read_pattern(cursor, test)
    elif cursor.at_keyword("in"):
        cursor.advance()
        operands = _read_in(cursor)
    elif cursor.at_keyword("between"):
        cursor.advance()
        test, operands = Test.BETWEEN, _read_between(cursor)
    elif negated_at is None:
        cursor.expected("a comparison")
    else:
        hint = ""
        if token.kind is TokenKind.SYMBOL and token.value in _COMPARISONS:
            hint = "put 'not' before the field, or use '!='"
        elif cursor.at_keyword("null"):
            hint = "use 'is not null'"
        *words, last = ("in", "between", *_WORDS)
        cursor.expected(f"{', '.join(map(repr, words))} or {last!r}", hint)
    return None if operands is None else Reading(Predicate(field, test, operands), negated_at)


def _read_pattern(cursor: Cursor, test: Test) -> tuple[Literal] | None:
    token = cursor.token
    if token.kind is not TokenKind.STRING:
        _refuse_value(cursor, "a string")
        return None
    cursor.advance()
    problem = OPERATORS[test].problem
    reason = problem and problem(token.value)
    if reason is not None:
        cursor.problem(token.offset, reason)
        return None
    return (Literal(Kind.STRING, token.value),)


def _read_in(cursor: Cursor) -> tuple[Literal, ...] | None:
    opening = cursor.token
    if not cursor.at_symbol("("):
        cursor.expected("'('", "the values of 'in' stand in parentheses")
        return None
    cursor.advance()
    values: list[Literal] = []
    offsets: list[int] = []
    good = True
    while True:
        offset = cursor.token.offset
        value = read_value(cursor)
        if value is None:
            good = False
        else:
            values.append(value)
            offsets.append(offset)
        if not cursor.at_symbol(","):
            break
        cursor.advance()
    closed = _close_call(cursor, opening, "',' or ')'", silent=not good)
    if _of_one_kind(cursor, "in", values, offsets) and closed and good:
        return tuple(values)
    return None


def _read_between(cursor: Cursor) -> tuple[Literal, ...] | None:
    low_at = cursor.token.offset
    low = read_value(cursor)
    if not cursor.at_keyword("and"):
        cursor.expected("'and' and the upper end of 'between'")
        return None
    cursor.advance()
    high_at = cursor.token.offset
    high = read_value(cursor)
    if low is None or high is None or not _of_one_kind(cursor, "between", [low, high], [low_at, high_at]):
        return None
    return low, high


def _of_one_kind(cursor: Cursor, word: str, values: list[Literal], offsets: list[int]) -> bool:
    for value, offset in zip(values, offsets, strict=True):
        if value.kind is not values[0].kind:
            cursor.problem(
                offset,
                f"the values of one '{word}' are of one kind: this is {KIND_NAMES[value.kind]},"
                f" the first is {KIND_NAMES[values[0].kind]}",
            )
            return False
    return True


def _read_timestamp(cursor: Cursor) -> Literal | None:
    cursor.advance()
    token = cursor.advance()
    instant = parse_timestamp(token.value)
    if instant is None:
        cursor.problem(
            token.offset, f"{describe(token)} is not a timestamp: expected one like '2026-01-31T12:00:00Z'"
        )
        return None
    if is_too_fine(token.value):
        cursor.problem(token.offset, f"{describe(token)} is finer than nanoseconds: nine digits are the most")
        return None
    return Literal(Kind.TIMESTAMP, instant)


def read_call(cursor: Cursor, field_reader: FieldReader) -> Reading | None:
    """Read a name before a parenthesis and what is in it."""
    name = cursor.advance()
    opening = cursor.advance()
    test = _CALLS.get(name.value.lower())
    if test is None:
        cursor.problem(
            name.offset, f"{describe(name)} is not a function: expected a field, contains(...) or cidr(...)"
        )
        cursor.skip_until()
        cursor.advance()
        return None
    is_text = test in TEXT_TESTS
    field = field_reader(cursor)
    operands: tuple[Literal, ...] | None = None
    if field is not None:
        if cursor.at_symbol(","):
            cursor.advance()
            operands = _read_text_operands(cursor, test) if is_text else _read_pattern(cursor, test)
        else:
            cursor.expected(f"',' and the {'text query' if is_text else 'network'} as a string")
    closed = _close_call(cursor, opening, "',' or ')'" if is_text else "')'", silent=operands is None)
    if field is None or operands is None or not closed:
        return None
    return Reading(Predicate(field, test, operands), None)


def _read_text_operands(cursor: Cursor, test: Test) -> tuple[Literal, ...] | None:
    """The query, and behind it perhaps the threshold or `boolean`; None when something is wrong."""
    token = cursor.token
    if token.kind is not TokenKind.STRING:
        _refuse_value(cursor, "a text query as a string")
        return None
    cursor.advance()
    good = True
    try:
        parse_query(token.value, any_gap=test is Test.TM_CONTAINS)
    except QueryProblems as error:
        for place, reason in error.problems:
            cursor.problem(offset_within(token, place), reason)
        good = False
    query = Literal(Kind.STRING, token.value)
    if not cursor.at_symbol(","):
        return (query,) if good else None
    cursor.advance()
    setting = _read_threshold(cursor)
    return (query, setting) if good and setting is not None else None


def _read_threshold(cursor: Cursor) -> Literal | None:
    token = cursor.token
    if cursor.at_word("boolean"):
        cursor.advance()
        return _TRUE
    if token.kind is not TokenKind.NUMBER:
        _refuse_value(cursor, "a threshold or 'boolean'")
        return None
    literal = read_value(cursor)
    if literal is not None and float(literal.value) < 0:
        cursor.problem(token.offset, "a threshold is a number from 0 on: scores are never negative")
        return None
    return literal


def offset_within(token: Token, place: int) -> int:
    """Where a character of a string stands in the text, of which '' is one quote of the string."""
    at = 1
    for character in token.value[:place]:
        at += 2 if character == "'" else 1
    return token.offset + at


def _close_call(cursor: Cursor, opening: Token, what: str, *, silent: bool = False) -> bool:
    """Step over the `)` that belongs to the opening one; False when it does not stand here.

    `silent` when something between the two was reported already.
    """
    if cursor.at_symbol(")"):
        cursor.advance()
        return True
    if cursor.at_end() or is_connective(cursor.token):
        cursor.problem(opening.offset, "this '(' is never closed")
        return False
    if not silent:
        cursor.expected(what)
    cursor.skip_until(is_connective)
    if cursor.at_symbol(")"):
        cursor.advance()
    return False


def _is_symbol(token: Token, symbol: str) -> bool:
    return token.value == symbol and token.kind is TokenKind.SYMBOL


def _continues_field(token: Token) -> bool:
    """Whether a reserved word before this token was meant as a field."""
    return token.kind is TokenKind.SYMBOL and (token.value in _COMPARISONS or token.value == ".")


def _field_hint(token: Token) -> str:
    if token.kind is TokenKind.KEYWORD:
        return f"'{token.text}' is a reserved word; as a field it is written \"{token.text}\""
    if token.kind in (TokenKind.NUMBER, TokenKind.STRING):
        return "a comparison starts with its field"
    return ""


def _value_hint(cursor: Cursor) -> str:
    token, previous = cursor.token, cursor.previous
    if token.kind is TokenKind.QUOTED:
        return "strings are written in single quotes, double quotes are for names"
    if cursor.at_word("timestamp"):
        return "a timestamp is written timestamp '2026-01-31T12:00:00Z'"
    if token.kind is TokenKind.NAME:
        return "a string is written in single quotes, and a field cannot stand here"
    if cursor.at_keyword("null"):
        negated = previous is not None and previous.text in ("!=", "<>")
        return f"use '{'is not null' if negated else 'is null'}'"
    return ""
