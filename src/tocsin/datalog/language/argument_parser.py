"""Reading of arguments: variables, constants, operations and aggregates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tocsin.datalog.language.cursor import Cursor
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Body,
    Constant,
    Operation,
    Place,
    Type,
    Value,
    Variable,
)
from tocsin.datalog.language.tokens import Token, TokenKind
from tocsin.datalog.language.vocabulary import (
    AGGREGATES,
    BINDING,
    CAST,
    FUNCTORS,
    REFUSED,
    RESERVED,
    UNARY,
    UNARY_BINDING,
)

NESTING = 100
"""How many parentheses, functors, braces and signs may stand within one another."""

AGGREGATE_LEVELS = 4
"""How many of them an aggregate counts for: reading one takes more of the stack."""

_NUMERALS = (TokenKind.NUMBER, TokenKind.UNSIGNED, TokenKind.FLOAT)

RECORDS = "records are not supported: give a relation a column for each field"
COUNTERS = "'$' (counters and branches of algebraic types) is not supported"
USER_FUNCTORS = "user-defined functors are not supported"


class ArgumentReader:
    """Reads arguments at a cursor; `body` reads what an aggregate is over.

    Nesting is bounded, so that neither this nor anything that walks the tree can run out of stack.
    """

    def __init__(self, cursor: Cursor, body: Callable[[], Body]) -> None:
        self._cursor = cursor
        self._body = body
        self._depth = 0

    def start(self) -> None:
        """Begin a new statement."""
        self._depth = 0

    def enter(self, levels: int = 1) -> None:
        """Go deeper."""
        self._depth += levels
        if self._depth > NESTING:
            self._cursor.fail(f"this is nested more than {NESTING} deep")

    def leave(self, levels: int = 1) -> None:
        """Come back."""
        self._depth -= levels

    def argument(self, least: int = 1) -> Argument:
        """An argument whose operators bind at least so strongly."""
        cursor = self._cursor
        left = self._operand()
        while True:
            functor = cursor.token.text
            binding = BINDING.get(functor, 0) if cursor.token.kind is not TokenKind.STRING else 0
            if binding < least:
                return left
            place = cursor.place(cursor.advance())
            self.enter()
            right = self.argument(binding if functor == "^" else binding + 1)
            self.leave()
            left = Operation(functor, (left, right), place)

    def arguments(self, closing: str = ")") -> tuple[Argument, ...]:
        """Arguments between commas up to a closing bracket, which is stepped over."""
        cursor = self._cursor
        found: list[Argument] = []
        if not cursor.at(closing):
            found.append(self.argument())
            while cursor.accept(","):
                found.append(self.argument())
        cursor.expect(closing, f"',' or '{closing}'")
        return tuple(found)

    def _operand(self) -> Argument:
        cursor = self._cursor
        token = cursor.token
        place = cursor.place()
        kind = token.kind
        if kind is TokenKind.STRING:
            cursor.advance()
            return Constant(token.value, place, Type.SYMBOL)
        if kind in _NUMERALS:
            cursor.advance()
            return constant(token, place)
        if kind is TokenKind.NAME:
            return self._word(token, place)
        if kind is not TokenKind.SYMBOL:
            cursor.expected("an argument")
        if token.text == "-":
            return self._unary(token.text, place)
        if token.text == "(":
            cursor.advance()
            self.enter()
            inner = self.argument()
            self.leave()
            cursor.expect(")")
            return inner
        if token.text == "@":
            return self._location()
        if token.text == "[":
            cursor.fail(RECORDS)
        if token.text == "$":
            cursor.fail(COUNTERS)
        return cursor.expected("an argument")

    def _word(self, token: Token, place: Place) -> Argument:
        cursor = self._cursor
        word = token.text
        if word in AGGREGATES:
            return self._aggregate(word, place)
        if word in UNARY:
            return self._unary(word, place)
        if word == "nil":
            cursor.fail(RECORDS)
        if word == "_":
            cursor.advance()
            return Anonymous(place)
        if word in RESERVED:
            cursor.fail(f"'{word}' is a reserved word, and no variable")
        if word in REFUSED and word.startswith("__"):
            cursor.fail(REFUSED[word])
        cursor.advance()
        if not cursor.at("("):
            return Variable(word, place)
        if word == CAST:
            return self._cast(place)
        if word not in FUNCTORS:
            cursor.fail(REFUSED.get(word, f"'{word}' is not a functor"), token)
        return self._call(word, place)

    def _unary(self, word: str, place: Place) -> Argument:
        self._cursor.advance()
        self.enter()
        operand = self.argument(UNARY_BINDING + 1)
        self.leave()
        if word == "-" and isinstance(operand, Constant) and can_be_negated(operand):
            return Constant(negative(operand.value), place, operand.type)
        return Operation(UNARY[word], (operand,), place)

    def _call(self, functor: str, place: Place) -> Argument:
        self._cursor.advance()
        self.enter()
        operands = self.arguments()
        self.leave()
        return Operation(functor, operands, place)

    def _cast(self, place: Place) -> Argument:
        cursor = self._cursor
        cursor.advance()
        self.enter()
        operand = self.argument()
        self.leave()
        cursor.expect(",")
        named = cursor.qualified_name("a type")
        cursor.expect(")")
        return Operation(CAST, (operand, Constant(named.name, named.place, Type.SYMBOL)), place)

    def _location(self) -> Argument:
        cursor = self._cursor
        cursor.advance()
        if cursor.at("@"):
            cursor.fail("user-defined aggregates are not supported", cursor.previous)
        if cursor.token.kind is TokenKind.NAME and cursor.peek().text == "(":
            cursor.fail(USER_FUNCTORS, cursor.previous)
        place = cursor.place(cursor.previous)
        sign = cursor.accept("-")
        token = cursor.token
        if token.kind is TokenKind.STRING and not sign:
            located = Constant(cursor.advance().value, place, Type.SYMBOL)
        elif token.kind in _NUMERALS:
            located = constant(cursor.advance(), place)
        elif token.kind is TokenKind.NAME and token.text not in RESERVED and not sign:
            return Variable(cursor.advance().text, place, located=True)
        else:
            cursor.expected("a variable or a constant")
        if sign and not can_be_negated(located):
            cursor.fail("an unsigned has no sign", token)
        return replace(located, value=negative(located.value) if sign else located.value, located=True)

    def _aggregate(self, function: str, place: Place) -> Argument:
        cursor = self._cursor
        word = cursor.advance()
        if cursor.at(",", ")", "."):
            cursor.fail(f"'{function}' is a reserved word, and no variable", word)
        if cursor.at("(") and cursor.behind_brackets()[1]:
            if function not in FUNCTORS:
                cursor.fail(f"'{function}' is not a functor", word)
            return self._call(function, place)
        self.enter(AGGREGATE_LEVELS)
        value = None if cursor.at(":") else self.argument()
        if not cursor.at(":"):
            cursor.expected(f"':' and the body that '{function}' is over")
        if value is None and function != "count":
            cursor.fail(f"'{function}' needs a value before the ':'")
        if value is not None and function == "count":
            cursor.fail("'count' takes no value: it counts assignments", word)
        cursor.advance()
        body = self._body()
        self.leave(AGGREGATE_LEVELS)
        return Aggregate(function, value, body, place)


def constant(token: Token, place: Place) -> Constant:
    """The constant that a numeric token is."""
    if token.kind is TokenKind.FLOAT:
        return Constant(float(token.text), place, Type.FLOAT)
    if token.kind is TokenKind.UNSIGNED:
        return Constant(integer(token.text[:-1]), place, Type.UNSIGNED)
    return Constant(int(token.value) if token.value else integer(token.text), place)


LONGEST_INTEGER = 2000
"""Digits that are read of an integer: one with more is out of any range, a float's too, whatever they are."""


def integer(written: str) -> int:
    """The value of decimal, hexadecimal or binary digits."""
    base = {"0x": 16, "0b": 2}.get(written[:2], 10)
    digits = written if base == 10 else written[2:]
    return int(digits.lstrip("0")[:LONGEST_INTEGER] or "0", base)


def negative(value: Value) -> Value:
    """The opposite of a number; 0.0 has none of its own."""
    if isinstance(value, str):
        raise AssertionError("a string has no sign")
    return -value if value else value


def can_be_negated(constant: Constant) -> bool:
    """Whether a sign becomes part of the constant, so that the smallest number can be written."""
    if constant.located or isinstance(constant.value, str) or constant.type is Type.UNSIGNED:
        return False
    return constant.value >= 0
