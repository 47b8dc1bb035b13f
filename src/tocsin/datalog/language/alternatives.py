"""Bodies as alternatives: each a conjunction without a disjunction in it."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.datalog.language.syntax import (
    Body,
    Comparison,
    Conjunction,
    Disjunction,
    Negation,
    Positive,
    Truth,
)

Literal = Positive | Negation | Comparison | Truth

MOST = 10_000
"""How many alternatives a body may have."""


class TooManyError(Exception):
    """A body has more than MOST alternatives."""


def alternatives_of(body: Body) -> list[list[Literal]]:
    """The conjunctions of which one must hold; raises TooManyError."""
    if isinstance(body, Disjunction):
        found = [alternative for part in body.parts for alternative in alternatives_of(part)]
        _check(len(found))
        return found
    if not isinstance(body, Conjunction):
        return [[body]]
    found = [[]]
    for part in body.parts:
        choices = alternatives_of(part)
        if len(choices) == 1:
            for alternative in found:
                alternative.extend(choices[0])
        else:
            _check(len(found) * len(choices))
            found = [[*alternative, *choice] for alternative in found for choice in choices]
    return found


def body_of(alternatives: Sequence[Sequence[Body]]) -> Body:
    """The body that says the same as these alternatives."""
    bodies: list[Body] = [
        literals[0] if len(literals) == 1 else Conjunction(tuple(literals)) for literals in alternatives
    ]
    return bodies[0] if len(bodies) == 1 else Disjunction(tuple(bodies))


def _check(count: int) -> None:
    if count > MOST:
        raise TooManyError
