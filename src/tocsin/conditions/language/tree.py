"""What a condition is, once read: a flat list of steps in postfix order.

A condition is kept flat, not as nested objects, so that nothing that walks it needs recursion: one
that is nested 100,000 deep is as safe as a short one. `a = 1 and not (b < 2 or c is null)` is

    a = 1    b < 2    c is null    OR 2    NOT    AND 2

and whoever walks it keeps a stack: a predicate pushes, an operator takes its operands and pushes.

Negated forms are the positive predicate followed by NOT: `x != 5`, `x <> 5` and `not x = 5` are the
same steps, because a negation is a mark on the leaf and never the opposite operator (a list
satisfies `not (n < 5)` when no element does).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from tocsin.events import Kind
from tocsin.syntax import first_steps, operands_of

Path = tuple[str, ...]
"""The names of a field from the outside in: `user.age` is ("user", "age"), `"a.b"` is ("a.b",)."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of a rule.

    NUMBER     an int when written without point and exponent; else its decimal text in lowest form
               ("0.1", "-2.5e30"): decimals compare with the text, integers and floats with the
               nearest double, and no text equals an int by accident
    STRING     a str
    BOOLEAN    a bool
    TIMESTAMP  an int: nanoseconds since 1970-01-01T00:00:00Z
    """

    kind: Kind
    value: int | str | bool


class Test(Enum):
    """What a predicate asks of its field. The value is how it is written."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    EQ = "="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IN = "in"
    BETWEEN = "between"
    NULL = "is null"
    LIKE = "like"
    ILIKE = "ilike"
    MATCHES = "matches"
    CIDR = "cidr"
    CONTAINS = "contains"
    TM_CONTAINS = "tm_contains"


@dataclass(frozen=True, slots=True)
class Predicate:
    """One question about one field, always in its positive form.

    Operands: one literal for comparisons, low and high for BETWEEN, one or more of one kind for IN,
    none for NULL, one STRING (the pattern, the expression, the network, the text query) for the rest.
    Behind the query of CONTAINS and TM_CONTAINS may stand its threshold, a NUMBER from 0 on, or the
    BOOLEAN true for `boolean`.
    """

    field: Path
    test: Test
    operands: tuple[Literal, ...]


TEXT_TESTS = frozenset({Test.CONTAINS, Test.TM_CONTAINS})
"""Tests that ask free text: a list of strings is one document to them."""


def has_threshold(predicate: Predicate) -> bool:
    """Whether a threshold is written in the predicate."""
    return (
        predicate.test in TEXT_TESTS
        and len(predicate.operands) > 1
        and predicate.operands[1].kind is Kind.NUMBER
    )


def is_boolean(predicate: Predicate) -> bool:
    """Whether `boolean` is written in the predicate, in the place of a threshold."""
    return (
        predicate.test in TEXT_TESTS
        and len(predicate.operands) > 1
        and predicate.operands[1].kind is Kind.BOOLEAN
    )


class Connective(Enum):
    """How conditions combine. The value is how it is written."""

    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"
    XNOR = "xnor"


@dataclass(frozen=True, slots=True)
class Operator:
    """Takes the last `arity` operands: 1 for NOT, 2 for XOR and XNOR, 2 or more for AND and OR."""

    connective: Connective
    arity: int


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false` standing as a condition."""

    value: bool


Step = Predicate | Constant | Operator


@dataclass(frozen=True, slots=True)
class Condition:
    """A whole condition: its steps in postfix order, and where in the text each was written.

    `places[i]` is the offset, in characters of the condition's text, of step i: the first character
    of a predicate or constant, the connective of an operator. Two conditions are equal when their
    steps are, wherever they were written.
    """

    steps: tuple[Step, ...]
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def predicates(self) -> Iterator[Predicate]:
        """Every predicate, in the order written, repeated as often as it stands there."""
        for step in self.steps:
            if isinstance(step, Predicate):
                yield step

    def operands(self) -> list[tuple[int, ...]]:
        """For each step the places of the steps it takes: none for a predicate or a constant."""
        return operands_of(step.arity if isinstance(step, Operator) else 0 for step in self.steps)


AnyStep = TypeVar("AnyStep")


def conjuncts(
    steps: tuple[AnyStep, ...], operands: Sequence[tuple[int, ...]]
) -> Iterator[tuple[AnyStep, ...]]:
    """The parts that must all be true, in the order written, however the `and`s were grouped."""
    first = first_steps(operands)
    waiting = [len(steps) - 1]
    while waiting:
        at = waiting.pop()
        step = steps[at]
        if isinstance(step, Operator) and step.connective is Connective.AND:
            waiting.extend(reversed(operands[at]))
        else:
            yield steps[first[at] : at + 1]
