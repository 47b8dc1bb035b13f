"""A condition, from text to steps in postfix order.

    condition  = xor_expr { "or" xor_expr }
    xor_expr   = and_expr { ("xor" | "xnor") and_expr }
    and_expr   = not_expr { "and" not_expr }
    not_expr   = "not" not_expr | "(" condition ")" | predicate | "true" | "false"

The reader goes through the tokens once. What is open at each parenthesis is a Level on an explicit
stack, so depth costs memory and never recursion. After an error it goes on at the next connective or
parenthesis of the same depth, and so reports every error of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

from tocsin.conditions.language.cursor import Cursor
from tocsin.conditions.language.predicate_parser import CONNECTIVE_SYMBOLS, is_connective, read_predicate
from tocsin.conditions.language.tokens import TokenKind, describe, tokenize
from tocsin.conditions.language.tree import (
    Condition,
    Connective,
    Constant,
    Operator,
    Predicate,
    has_threshold,
)
from tocsin.syntax import error_of

Leaf = TypeVar("Leaf")
LeafReader = Callable[[Cursor], tuple[Leaf, int | None] | None]
"""Reads what stands between the connectives, and where its negation is written when it has one."""

_NOT = Operator(Connective.NOT, 1)
_XORS = {"xor": Operator(Connective.XOR, 2), "xnor": Operator(Connective.XNOR, 2)}
_CONSTANTS = {"true": Constant(True), "false": Constant(False)}

MOST_UNCLOSED = 10
"""Of the parentheses that are never closed, so many are reported, the outermost."""


def parse_condition(text: str, alias: str | None = None) -> Condition:
    """Read a condition; `alias` is a table's name or alias, left out where a field starts with it.

    Raises RuleError, or RuleErrors when there are several, with lines and columns within the text.
    """
    cursor = Cursor(tokenize(text))
    condition = read_condition(cursor, alias)
    if condition is None:
        raise error_of(text, cursor.problems)
    return condition


def parse_predicate(text: str, alias: str | None = None) -> tuple[Predicate | Constant, bool]:
    """Read the text of exactly one predicate, and whether it is written in a negated form.

    `x != 1` is `x = 1` and True. Raises RuleError as parse_condition does.
    """
    cursor = Cursor(tokenize(text))
    if cursor.token.kind is TokenKind.KEYWORD and cursor.token.value in _CONSTANTS:
        constant = _CONSTANTS[cursor.advance().value]
        if cursor.at_end():
            return constant, False
    else:
        reading = read_predicate(cursor, alias)
        if reading is not None and cursor.at_end() and not cursor.failed:
            return reading.predicate, reading.negated_at is not None
    if not cursor.failed:
        cursor.expected("the end of the predicate")
    raise error_of(text, cursor.problems)


def read_condition(cursor: Cursor, alias: str | None) -> Condition | None:
    """Read tokens to their END; None when the cursor has been told of problems."""
    if cursor.at_end():
        cursor.problem(cursor.token.offset, "the condition is empty")
        return None
    steps, places = read_steps(cursor, partial(read_predicate, alias=alias))
    return None if cursor.failed else Condition(tuple(steps), tuple(places))


def read_steps(
    cursor: Cursor, leaf_reader: LeafReader[Leaf]
) -> tuple[list[Leaf | Constant | Operator], list[int]]:
    """Read tokens to their END, as steps and the place of each; what is wrong the cursor is told."""
    reader = _ConditionReader(cursor, leaf_reader)
    reader.read()
    _check_thresholds(cursor, reader.steps, reader.places)
    return reader.steps, reader.places


def _check_thresholds(cursor: Cursor, steps: Iterable[object], places: Iterable[int]) -> None:
    """At most one `contains` of a condition has a threshold."""
    first = True
    for step, place in zip(steps, places, strict=True):
        if isinstance(step, Predicate) and has_threshold(step):
            if not first:
                cursor.problem(
                    place,
                    "only one contains of a condition can have a threshold, the one that a test run sets:"
                    " make the others boolean",
                )
            first = False


class _Level:
    """What is pending inside one parenthesis, or in the whole condition.

    Operands are already in the steps. `nots` are the `not`s before the operand that comes next;
    `ands` and `ors` count the operands of the chain so far; each chain stands where its first
    connective does.
    """

    __slots__ = ("and_place", "ands", "nots", "opened", "or_place", "ors", "xor", "xor_place")

    def __init__(self, opened: int) -> None:
        self.opened = opened
        self.nots: list[int] = []
        self.ands = self.ors = 0
        self.and_place = self.or_place = self.xor_place = 0
        self.xor: Operator | None = None


class _ConditionReader(Generic[Leaf]):
    """Reads one condition; the invariant between operands is that of _Level."""

    def __init__(self, cursor: Cursor, leaf_reader: LeafReader[Leaf]) -> None:
        self.steps: list[Leaf | Constant | Operator] = []
        self.places: list[int] = []
        self._cursor = cursor
        self._leaf_reader = leaf_reader
        self._level = _Level(-1)
        self._outer: list[_Level] = []

    def read(self) -> None:
        while self._read_connective(self._read_operand()):
            pass
        while self._outer:
            if len(self._outer) <= MOST_UNCLOSED:
                self._cursor.problem(self._level.opened, "this '(' is never closed")
            self._level = self._outer.pop()
        self._close_level()

    def _emit(self, step: Leaf | Constant | Operator, place: int) -> None:
        self.steps.append(step)
        self.places.append(place)

    def _read_operand(self) -> bool:
        """Read `not`s and opening parentheses up to a predicate or constant; False when it is bad."""
        cursor = self._cursor
        while True:
            token = cursor.token
            kind = token.kind
            if kind is TokenKind.SYMBOL and token.value == "(":
                cursor.advance()
                self._outer.append(self._level)
                self._level = _Level(token.offset)
            elif kind is TokenKind.KEYWORD and token.value == "not":
                cursor.advance()
                self._level.nots.append(token.offset)
            elif kind is TokenKind.SYMBOL and token.value == "!":
                cursor.problem(token.offset, "'!' is not an operator: use 'not'")
                cursor.advance()
            elif kind is TokenKind.KEYWORD and token.value in _CONSTANTS:
                cursor.advance()
                self._emit(_CONSTANTS[token.value], token.offset)
                return True
            elif kind is TokenKind.END or kind is TokenKind.SYMBOL or is_connective(token):
                cursor.expected("a condition")
                return False
            else:
                return self._read_leaf()

    def _read_leaf(self) -> bool:
        place = self._cursor.token.offset
        reading = self._leaf_reader(self._cursor)
        if reading is None:
            return False
        leaf, negated_at = reading
        self._emit(leaf, place)
        if negated_at is not None:
            self._emit(_NOT, negated_at)
        return True

    def _read_connective(self, good: bool) -> bool:
        """Read from behind an operand to the next operand's start; False at the end.

        `good` says whether the operand could be read: behind a bad one nothing is expected, so what
        stands there is passed over without another message.
        """
        cursor = self._cursor
        self._finish_operand()
        while True:
            token = cursor.token
            if is_connective(token):
                word = CONNECTIVE_SYMBOLS.get(token.value)
                if word is not None:
                    cursor.problem(token.offset, f"{describe(token)} is not an operator: use '{word}'")
                self._join(word or token.value, token.offset)
                cursor.advance()
                return True
            if token.kind is TokenKind.END:
                return False
            if cursor.at_symbol(")"):
                good = self._read_closing(good)
                continue
            if good:
                cursor.expected("'and', 'or', 'xor', 'xnor' or the end", self._operand_hint())
                if token.kind in (TokenKind.NAME, TokenKind.QUOTED) or cursor.at_symbol("("):
                    self._join("and", token.offset)
                    return True
            good = False
            cursor.skip_until(is_connective)

    def _operand_hint(self) -> str:
        return "a condition ends without ';'" if self._cursor.at_symbol(";") else ""

    def _read_closing(self, good: bool) -> bool:
        token = self._cursor.advance()
        if self._outer:
            self._close_level()
            self._level = self._outer.pop()
            self._finish_operand()
            return True
        if good:
            self._cursor.problem(token.offset, "this ')' closes nothing: there is no '(' before it")
        return good

    def _finish_operand(self) -> None:
        level = self._level
        while level.nots:
            self._emit(_NOT, level.nots.pop())
        level.ands += 1

    def _join(self, word: str, place: int) -> None:
        level = self._level
        if word == "and":
            if level.ands == 1:
                level.and_place = place
            return
        self._close_and_xor()
        if word == "or":
            level.ors += 1
            if level.ors == 1:
                level.or_place = place
        else:
            level.xor, level.xor_place = _XORS[word], place

    def _close_and_xor(self) -> None:
        level = self._level
        if level.ands > 1:
            self._emit(Operator(Connective.AND, level.ands), level.and_place)
        level.ands = 0
        if level.xor is not None:
            self._emit(level.xor, level.xor_place)
            level.xor = None

    def _close_level(self) -> None:
        self._close_and_xor()
        if self._level.ors:
            self._emit(Operator(Connective.OR, self._level.ors + 1), self._level.or_place)
