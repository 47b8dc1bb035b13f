"""Reading of facts and rules: heads, bodies, atoms and comparisons.

A `!` before parentheses is pushed down to the atoms and comparisons in them, so that the tree knows
only negated atoms.
"""

from __future__ import annotations

import re

from tocsin.datalog.language.argument_parser import ArgumentReader
from tocsin.datalog.language.cursor import Cursor, Mistake
from tocsin.datalog.language.syntax import (
    Atom,
    Body,
    Comparison,
    Conjunction,
    Disjunction,
    Negation,
    Positive,
    Rule,
    Truth,
)
from tocsin.datalog.language.tokens import TokenKind
from tocsin.datalog.language.tree_walk import HEIGHT, too_high
from tocsin.datalog.language.vocabulary import (
    BINDING,
    COMPARISONS,
    NO_RELATIONS,
    OPPOSITE,
    PREDICATES,
    RESERVED,
)

_SPACES = re.compile(r'"(?:\\.|[^"\\])*"|(?://[^\n]*|/\*[\s\S]*?\*/|\s)+')


class ClauseReader:
    """Reads facts and rules at a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._arguments = ArgumentReader(cursor, self._aggregate_body)

    def clause(self) -> Rule:
        """A fact or a rule, with its point and its plan."""
        cursor = self._cursor
        self._arguments.start()
        start = cursor.token.offset
        place = cursor.place()
        heads = [self._atom("a rule, a fact or a directive")]
        while cursor.accept(","):
            heads.append(self._atom("another head"))
        if cursor.at("<="):
            cursor.fail("subsumption (a rule with <= between two heads) is not supported")
        if len(heads) == 1 and cursor.at("."):
            body: Body = Truth(True, place)
        else:
            cursor.expect(":-", "',' or ':-'" if len(heads) > 1 else "':-' or '.'")
            body = self._disjunction()
        end = cursor.expect(".", "',', ';' or '.'").end
        high = too_high(body, *(argument for head in heads for argument in head.arguments))
        if high is not None:
            raise Mistake(high, f"this stands within more than {HEIGHT} operations")
        return Rule(tuple(heads), body, place, one_line(cursor.text[start:end]))

    def _disjunction(self, negated: bool = False) -> Body:
        cursor = self._cursor
        parts = [self._conjunction(negated)]
        while cursor.accept(";"):
            parts.append(self._conjunction(negated))
        return _all_of(parts) if negated else _any_of(parts)

    def _conjunction(self, negated: bool) -> Body:
        cursor = self._cursor
        parts = [self._term(negated)]
        while cursor.accept(","):
            parts.append(self._term(negated))
        return _any_of(parts) if negated else _all_of(parts)

    def _term(self, negated: bool) -> Body:
        cursor = self._cursor
        place = cursor.place()
        while cursor.accept("!"):
            negated = not negated
        token = cursor.token
        if cursor.at_word("true", "false"):
            cursor.advance()
            return Truth((token.text == "true") is not negated, place)
        if cursor.at_word(*PREDICATES) and cursor.peek().text == "(":
            return self._predicate(negated)
        if self._at_atom():
            atom = self._atom("an atom")
            if cursor.at(*COMPARISONS) or cursor.token.text in BINDING:
                cursor.fail(f"'{atom.relation}' is not a functor", token)
            return Negation(atom, place) if negated else Positive(atom)
        if cursor.at("(") and self._at_body():
            cursor.advance()
            self._arguments.enter()
            inner = self._disjunction(negated)
            self._arguments.leave()
            cursor.expect(")", "',', ';' or ')'")
            return inner
        if (
            cursor.token.kind is TokenKind.NAME
            and cursor.token.text in RESERVED
            and cursor.peek().text == "("
        ):
            self._refuse_reserved_relation()
        return self._comparison(negated)

    def _comparison(self, negated: bool) -> Body:
        cursor = self._cursor
        if cursor.at(",", ";", ".", ")", "}", ":-") or cursor.token.kind is TokenKind.END:
            cursor.expected("an atom or a comparison")
        left = self._arguments.argument()
        if not cursor.at(*COMPARISONS):
            cursor.expected("a comparison (=, !=, <, <=, >, >=)")
        token = cursor.advance()
        right = self._arguments.argument()
        operator = OPPOSITE[token.text] if negated else token.text
        return Comparison(operator, left, right, cursor.place(token))

    def _predicate(self, negated: bool) -> Body:
        cursor = self._cursor
        token = cursor.advance()
        cursor.advance()
        operands = self._arguments.arguments()
        if len(operands) != 2:
            cursor.fail(f"'{token.text}' takes 2 arguments, and has {len(operands)}", token)
        operator = OPPOSITE[token.text] if negated else token.text
        return Comparison(operator, operands[0], operands[1], cursor.place(token))

    def _at_atom(self) -> bool:
        cursor = self._cursor
        if cursor.token.kind is not TokenKind.NAME:
            return False
        length = cursor.names_ahead()
        behind = cursor.peek(length)
        if behind.text != "(" or behind.kind is not TokenKind.SYMBOL:
            return False
        return length > 1 or cursor.token.text not in NO_RELATIONS

    def _at_body(self) -> bool:
        """Whether the parenthesis here holds a body, and not an argument: what follows it tells."""
        cursor = self._cursor
        behind = cursor.peek(cursor.behind_brackets()[0])
        return behind.kind is TokenKind.STRING or (
            behind.text not in BINDING and behind.text not in COMPARISONS
        )

    def _refuse_reserved_relation(self) -> None:
        cursor = self._cursor
        behind, comma = cursor.behind_brackets(1)
        if not comma and cursor.peek(behind).text in (",", ".", ";", ")", "}"):
            cursor.fail(f"'{cursor.token.text}' is a reserved word, and no relation")

    def _atom(self, what: str) -> Atom:
        cursor = self._cursor
        word = cursor.token
        relation = cursor.qualified_name(what)
        if relation.name in NO_RELATIONS:
            cursor.fail(f"'{relation.name}' is a reserved word, and no relation", word)
        cursor.expect("(")
        return Atom(relation.name, self._arguments.arguments(), relation.place)

    def _aggregate_body(self) -> Body:
        cursor = self._cursor
        if cursor.accept("{"):
            body = self._disjunction()
            cursor.expect("}", "',', ';' or '}'")
            return body
        return Positive(self._atom("'{' or an atom"))


def one_line(source: str) -> str:
    """The text of a clause without its comments, every blank a single space."""
    return _SPACES.sub(lambda found: found[0] if found[0].startswith('"') else " ", source)


def _all_of(parts: list[Body]) -> Body:
    """The parts as one conjunction, those of inner conjunctions included."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Conjunction) else (part,))]
    return flat[0] if len(flat) == 1 else Conjunction(tuple(flat))


def _any_of(parts: list[Body]) -> Body:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Disjunction) else (part,))]
    return flat[0] if len(flat) == 1 else Disjunction(tuple(flat))
