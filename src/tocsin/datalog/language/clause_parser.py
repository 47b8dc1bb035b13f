"""Reading of facts and rules: heads, bodies, atoms, comparisons and arguments; and removing of one.

A `!` before parentheses is pushed down to the atoms and comparisons in them, so that the tree knows
only negated atoms.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tocsin.datalog.language import functors, syntax
from tocsin.datalog.language.cursor import Cursor, Mistake
from tocsin.datalog.language.tokens import Token, TokenKind, tokenize
from tocsin.datalog.language.tree_walk import HEIGHT, too_high
from tocsin.syntax import Lines

NESTING = 100
"""How many parentheses, functors, braces and signs may stand within one another."""

AGGREGATE_LEVELS = 4
"""How many of them an aggregate counts for: reading one takes more of the stack."""

_NUMERALS = (TokenKind.NUMBER, TokenKind.UNSIGNED, TokenKind.FLOAT)

RECORDS = "records are not supported: give a relation a column for each field"
COUNTERS = "'$' (counters and branches of algebraic types) is not supported"
USER_FUNCTORS = "user-defined functors are not supported"


class ClauseReader:
    """Reads facts and rules at a cursor.

    Nesting is bounded, so that neither this nor anything that walks the tree can run out of stack.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._depth = 0

    def _enter(self, levels: int = 1) -> None:
        self._depth += levels
        if self._depth > NESTING:
            self._cursor.fail(f"this is nested more than {NESTING} deep")

    def _leave(self, levels: int = 1) -> None:
        self._depth -= levels

    def clause(self) -> syntax.Rule:
        """A fact or a rule, with its point and its plan."""
        cursor = self._cursor
        self._depth = 0
        start = cursor.token.offset
        place = cursor.place()
        heads = [self._atom("a rule, a fact or a directive")]
        while cursor.accept(","):
            heads.append(self._atom("another head"))
        if cursor.at("<="):
            cursor.fail("subsumption (a rule with <= between two heads) is not supported")
        is_fact = len(heads) == 1 and cursor.at(".")
        if is_fact:
            body: syntax.Body = syntax.Truth(True, place)
        else:
            cursor.expect(":-", "',' or ':-'" if len(heads) > 1 else "':-' or '.'")
            body = self._disjunction()
        end = cursor.expect(".", "',', ';' or '.'").end
        high = too_high(body, *syntax.arguments_of(heads))
        if high is not None:
            raise Mistake(high, f"this stands within more than {HEIGHT} operations")
        return syntax.Rule(tuple(heads), body, place, one_line(cursor.text[start:end]), is_fact)

    def _disjunction(self, negated: bool = False) -> syntax.Body:
        parts = [self._conjunction(negated)]
        while self._cursor.accept(";"):
            parts.append(self._conjunction(negated))
        return _joined(syntax.Conjunction if negated else syntax.Disjunction, parts)

    def _conjunction(self, negated: bool) -> syntax.Body:
        parts = [self._term(negated)]
        while self._cursor.accept(","):
            parts.append(self._term(negated))
        return _joined(syntax.Disjunction if negated else syntax.Conjunction, parts)

    def _term(self, negated: bool) -> syntax.Body:
        cursor = self._cursor
        place = cursor.place()
        while cursor.accept("!"):
            negated = not negated
        token = cursor.token
        if cursor.at_word("true", "false"):
            cursor.advance()
            return syntax.Truth((token.text == "true") is not negated, place)
        if cursor.at_word(*functors.PREDICATES) and cursor.peek().text == "(":
            return self._predicate(negated)
        if self._at_atom():
            atom = self._atom("an atom")
            if cursor.at(*functors.SIGNS) or cursor.token.text in functors.BINDING:
                cursor.fail(f"'{atom.relation}' is not a functor", token)
            return syntax.Negation(atom, place) if negated else syntax.Positive(atom)
        if cursor.at("(") and self._at_body():
            cursor.advance()
            self._enter()
            inner = self._disjunction(negated)
            self._leave()
            cursor.expect(")", "',', ';' or ')'")
            return inner
        if token.kind is TokenKind.NAME and token.text in functors.RESERVED and cursor.peek().text == "(":
            behind, comma = cursor.behind_brackets(1)
            if not comma and cursor.peek(behind).text in (",", ".", ";", ")", "}"):
                cursor.fail(f"'{token.text}' is a reserved word, and no relation")
        return self._comparison(negated)

    def _comparison(self, negated: bool) -> syntax.Body:
        cursor = self._cursor
        if cursor.at(",", ";", ".", ")", "}", ":-") or cursor.token.kind is TokenKind.END:
            cursor.expected("an atom or a comparison")
        left = self._argument()
        if not cursor.at(*functors.SIGNS):
            cursor.expected("a comparison (=, !=, <, <=, >, >=)")
        token = cursor.advance()
        right = self._argument()
        operator = functors.OPPOSITE[token.text] if negated else token.text
        return syntax.Comparison(operator, left, right, cursor.place(token))

    def _predicate(self, negated: bool) -> syntax.Body:
        cursor = self._cursor
        token = cursor.advance()
        cursor.advance()
        operands = self._arguments()
        if len(operands) != 2:
            cursor.fail(f"'{token.text}' takes 2 arguments, and has {len(operands)}", token)
        operator = functors.OPPOSITE[token.text] if negated else token.text
        return syntax.Comparison(operator, operands[0], operands[1], cursor.place(token))

    def _at_atom(self) -> bool:
        cursor = self._cursor
        if cursor.token.kind is not TokenKind.NAME:
            return False
        length = cursor.names_ahead()
        behind = cursor.peek(length)
        if behind.text != "(" or behind.kind is not TokenKind.SYMBOL:
            return False
        return length > 1 or cursor.token.text not in functors.NO_RELATIONS

    def _at_body(self) -> bool:
        """Whether the parenthesis here holds a body, and not an argument: what follows it tells."""
        cursor = self._cursor
        behind = cursor.peek(cursor.behind_brackets()[0])
        return behind.kind is TokenKind.STRING or (
            behind.text not in functors.BINDING and behind.text not in functors.SIGNS
        )

    def _atom(self, what: str) -> syntax.Atom:
        cursor = self._cursor
        word = cursor.token
        relation = cursor.qualified_name(what)
        if relation.name in functors.NO_RELATIONS:
            cursor.fail(f"'{relation.name}' is a reserved word, and no relation", word)
        cursor.expect("(")
        return syntax.Atom(relation.name, self._arguments(), relation.place)

    def _argument(self, least: int = 1) -> syntax.Argument:
        """An argument whose operators bind at least so strongly."""
        cursor = self._cursor
        left = self._operand()
        while True:
            functor = cursor.token.text
            binding = functors.BINDING.get(functor, 0) if cursor.token.kind is not TokenKind.STRING else 0
            if binding < least:
                return left
            place = cursor.place(cursor.advance())
            self._enter()
            right = self._argument(binding if functor == "^" else binding + 1)
            self._leave()
            left = syntax.Operation(functor, (left, right), place)

    def _arguments(self) -> tuple[syntax.Argument, ...]:
        """Arguments between commas, and the closing parenthesis."""
        cursor = self._cursor
        found: list[syntax.Argument] = []
        if not cursor.at(")"):
            found.append(self._argument())
            while cursor.accept(","):
                found.append(self._argument())
        cursor.expect(")", "',' or ')'")
        return tuple(found)

    def _operand(self) -> syntax.Argument:
        cursor = self._cursor
        token = cursor.token
        place = cursor.place()
        kind = token.kind
        if kind is TokenKind.STRING:
            cursor.advance()
            return syntax.Constant(token.value, place, syntax.Type.SYMBOL)
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
            self._enter()
            inner = self._argument()
            self._leave()
            cursor.expect(")")
            return inner
        if token.text == "@":
            return self._location()
        if token.text == "[":
            cursor.fail(RECORDS)
        if token.text == "$":
            cursor.fail(COUNTERS)
        return cursor.expected("an argument")

    def _word(self, token: Token, place: syntax.Place) -> syntax.Argument:
        cursor = self._cursor
        word = token.text
        if word in functors.AGGREGATES:
            return self._aggregate(word, place)
        if word in functors.UNARY:
            return self._unary(word, place)
        if word == "nil":
            cursor.fail(RECORDS)
        if word == "_":
            cursor.advance()
            return syntax.Anonymous(place)
        if word in functors.RESERVED:
            cursor.fail(f"'{word}' is a reserved word, and no variable")
        if word in functors.REFUSED and word.startswith("__"):
            cursor.fail(functors.REFUSED[word])
        cursor.advance()
        if not cursor.at("("):
            return syntax.Variable(word, place)
        if word == functors.CAST:
            return self._cast(place)
        if word not in functors.CALLED:
            cursor.fail(functors.REFUSED.get(word, f"'{word}' is not a functor"), token)
        return self._call(word, place)

    def _unary(self, word: str, place: syntax.Place) -> syntax.Argument:
        self._cursor.advance()
        self._enter()
        operand = self._argument(functors.UNARY_BINDING + 1)
        self._leave()
        if word == "-" and isinstance(operand, syntax.Constant) and can_be_negated(operand):
            return syntax.Constant(negative(operand.value), place, operand.type)
        return syntax.Operation(functors.UNARY[word], (operand,), place)

    def _call(self, functor: str, place: syntax.Place) -> syntax.Argument:
        self._cursor.advance()
        self._enter()
        operands = self._arguments()
        self._leave()
        return syntax.Operation(functor, operands, place)

    def _cast(self, place: syntax.Place) -> syntax.Argument:
        cursor = self._cursor
        cursor.advance()
        self._enter()
        operand = self._argument()
        self._leave()
        cursor.expect(",")
        named = cursor.qualified_name("a type")
        cursor.expect(")")
        return syntax.Operation(
            functors.CAST, (operand, syntax.Constant(named.name, named.place, syntax.Type.SYMBOL)), place
        )

    def _location(self) -> syntax.Argument:
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
            located = syntax.Constant(cursor.advance().value, place, syntax.Type.SYMBOL)
        elif token.kind in _NUMERALS:
            located = constant(cursor.advance(), place)
        elif token.kind is TokenKind.NAME and token.text not in functors.RESERVED and not sign:
            return syntax.Variable(cursor.advance().text, place, located=True)
        else:
            cursor.expected("a variable or a constant")
        if sign and not can_be_negated(located):
            cursor.fail("an unsigned has no sign", token)
        return replace(located, value=negative(located.value) if sign else located.value, located=True)

    def _aggregate(self, function: str, place: syntax.Place) -> syntax.Argument:
        cursor = self._cursor
        word = cursor.advance()
        if cursor.at(",", ")", "."):
            cursor.fail(f"'{function}' is a reserved word, and no variable", word)
        if cursor.at("(") and cursor.behind_brackets()[1]:
            if function not in functors.CALLED:
                cursor.fail(f"'{function}' is not a functor", word)
            return self._call(function, place)
        self._enter(AGGREGATE_LEVELS)
        value = None if cursor.at(":") else self._argument()
        if not cursor.at(":"):
            cursor.expected(f"':' and the body that '{function}' is over")
        if value is None and function != "count":
            cursor.fail(f"'{function}' needs a value before the ':'")
        if value is not None and function == "count":
            cursor.fail("'count' takes no value: it counts assignments", word)
        cursor.advance()
        if cursor.accept("{"):
            body = self._disjunction()
            cursor.expect("}", "',', ';' or '}'")
        else:
            body = syntax.Positive(self._atom("'{' or an atom"))
        self._leave(AGGREGATE_LEVELS)
        return syntax.Aggregate(function, value, body, place)


def constant(token: Token, place: syntax.Place) -> syntax.Constant:
    """The constant that a numeric token is."""
    if token.kind is TokenKind.FLOAT:
        return syntax.Constant(float(token.text), place, syntax.Type.FLOAT)
    if token.kind is TokenKind.UNSIGNED:
        return syntax.Constant(integer(token.text[:-1]), place, syntax.Type.UNSIGNED)
    return syntax.Constant(int(token.value) if token.value else integer(token.text), place)


LONGEST_INTEGER = 2000
"""Digits that are read of an integer: one with more is out of any range, a float's too, whatever they are."""


def integer(written: str) -> int:
    """The value of decimal, hexadecimal or binary digits."""
    base = {"0x": 16, "0b": 2}.get(written[:2], 10)
    digits = written if base == 10 else written[2:]
    return int(digits.lstrip("0")[:LONGEST_INTEGER] or "0", base)


def negative(value: syntax.Value) -> syntax.Value:
    """The opposite of a number; 0.0 has none of its own."""
    if isinstance(value, str):
        raise AssertionError("a string has no sign")
    return -value if value else value


def can_be_negated(constant: syntax.Constant) -> bool:
    """Whether a sign becomes part of the constant, so that the smallest number can be written."""
    if constant.located or isinstance(constant.value, str) or constant.type is syntax.Type.UNSIGNED:
        return False
    return constant.value >= 0


_SPACES = re.compile(r'"(?:\\.|[^"\\])*"|(?://[^\n]*|/\*[\s\S]*?\*/|\s)+')


def one_line(source: str) -> str:
    """The text of a clause without its comments, every blank a single space."""
    return _SPACES.sub(lambda found: found[0] if found[0].startswith('"') else " ", source)


def _joined(kind: type[syntax.Conjunction | syntax.Disjunction], parts: list[syntax.Body]) -> syntax.Body:
    """The parts as one body, those of inner ones of this kind included."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def without_rule(text: str, rule: syntax.Rule) -> str:
    """The text with spaces in the place of a rule that stands in it."""
    start = Lines(text).offset(rule.place)
    for token in tokenize(text, start):
        # A point may also join two names, so the rule ends at the one that makes it whole.
        if token.text == "." and one_line(text[start : token.end]) == rule.text:
            blank = re.sub(r"[^\n]", " ", text[start : token.end])
            return text[:start] + blank + text[token.end :]
    raise ValueError(f"the text does not hold the rule: {rule.text}")
