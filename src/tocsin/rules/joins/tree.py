"""What a condition over several tables is, once read.

It is a condition on the *joined row*: an object with one member for each alias, which is a row of that
alias's table. So every field starts with an alias, `b.vid` is ("b", "vid"), and what conditions mean need
not be said again. Only one thing is new: a field may be compared with a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tocsin.conditions.language import Constant, Operator, Path, Predicate, Test
from tocsin.syntax import operands_of


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two fields compared by one of EQ, LT, LE, GT, GE, in its positive form."""

    left: Path
    test: Test
    right: Path

    @property
    def aliases(self) -> tuple[str, str]:
        """The aliases of the two sides, which may be the same."""
        return self.left[0], self.right[0]


JoinedStep = Predicate | Comparison | Constant | Operator


@dataclass(frozen=True, slots=True)
class JoinedCondition:
    """Steps in postfix order as in a Condition, and where in the text each was written."""

    steps: tuple[JoinedStep, ...]
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def operands(self) -> list[tuple[int, ...]]:
        """For each step the places of the steps it takes."""
        return operands_of(step.arity if isinstance(step, Operator) else 0 for step in self.steps)

    def fields(self) -> Iterator[Path]:
        """Every field that is named, its alias first."""
        for step in self.steps:
            if isinstance(step, Predicate):
                yield step.field
            elif isinstance(step, Comparison):
                yield step.left
                yield step.right
