"""A body as alternatives: every way to choose one part of each disjunction, as a list of literals."""

from __future__ import annotations

from tocsin.errors import RuleError
from tocsin.grammar.datalog.syntax import (
    Body,
    Comparison,
    Conjunction,
    Disjunction,
    Negation,
    Positive,
    Rule,
    Truth,
)

Literal = Positive | Negation | Comparison

MOST_ALTERNATIVES = 10_000
"""Disjunctions multiply: beyond so many alternatives a rule is refused."""


def alternatives(body: Body, rule: Rule) -> list[tuple[Literal, ...]]:
    """The conjunctions of which a body is the disjunction, in the order of the text.

    An alternative with `false` in it is left out. Raises RuleError when there are too many.
    """
    found: list[tuple[Literal, ...]] = []
    open_ones: list[tuple[list[Body], list[Literal]]] = [([body], [])]
    while open_ones:
        waiting, literals = open_ones.pop()
        branches = _follow(waiting, literals)
        if branches is None:
            found.append(tuple(literals))
        else:
            open_ones += [([*waiting, branch], list(literals)) for branch in reversed(branches)]
        if len(found) + len(open_ones) > MOST_ALTERNATIVES:
            raise RuleError(
                f"the disjunctions of this rule multiply to more than {MOST_ALTERNATIVES:,} alternatives",
                rule=rule.text,
                line=rule.place.line,
                column=rule.place.column,
            )
    return found


def _follow(waiting: list[Body], literals: list[Literal]) -> tuple[Body, ...] | None:
    """Move parts from the end of `waiting` to `literals` up to a disjunction, whose parts are given.

    None when there is none. `false` is a disjunction of nothing.
    """
    while waiting:
        part = waiting.pop()
        if isinstance(part, Conjunction):
            waiting += reversed(part.parts)
        elif isinstance(part, Disjunction):
            return part.parts
        elif isinstance(part, Truth):
            if not part.holds:
                return ()
        else:
            literals.append(part)
    return None
