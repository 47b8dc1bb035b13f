"""What `why` answers: how a tuple is derived, or why it is not there.

    path(1, 3)  by  path(x, y) :- arc(x, z), path(z, y).
      arc(1, 2)  given
      path(2, 3)  by  path(x, y) :- arc(x, y).
        arc(2, 3)  given

A derivation is kept flat, one step for each tuple: it may be 100,000 tuples deep, and a tuple that is used in
many places is derived once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.printer import print_value
from tocsin.datalog.language.syntax import Value
from tocsin.printable import printable

_MOST_LINES = 200
_DEEPEST = 30


class Fact(NamedTuple):
    """A tuple of a relation."""

    relation: str
    values: Tuple

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(print_value, self.values))})"


@dataclass(frozen=True, slots=True)
class Observation:
    """What a rule saw besides tuples: a comparison that holds, a negated atom, the result of an aggregate."""

    text: str

    def __str__(self) -> str:
        return self.text


class Step(NamedTuple):
    """How one tuple comes about: by a rule, or given when there is none."""

    rule: str | None
    premises: tuple[Fact | Observation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """One finite derivation of a tuple. `rule` is None for a fact that was given."""

    fact: Fact
    steps: Mapping[Fact, Step]

    @property
    def relation(self) -> str:
        """The relation of the tuple."""
        return self.fact.relation

    @property
    def values(self) -> Tuple:
        """The tuple."""
        return self.fact.values

    @property
    def rule(self) -> str | None:
        """The rule that gives it, as it is written."""
        return self.steps[self.fact].rule

    @property
    def premises(self) -> tuple[Derivation | Observation, ...]:
        """What the rule's body is satisfied by, in the order of the body."""
        return tuple(
            Derivation(premise, self.steps) if isinstance(premise, Fact) else premise
            for premise in self.steps[self.fact].premises
        )

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        lines: list[str] = []
        for depth, line in self._lines():
            if len(lines) == _MOST_LINES:
                lines.append(f"... ({len(self.steps):,} tuples in all)")
                break
            lines.append("  " * depth + printable(line))
        return "\n".join(lines)

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Depth and text of each line; what was shown already, or is too deep, is only named."""
        shown: set[Fact] = set()
        waiting: list[tuple[int, Fact | Observation]] = [(0, self.fact)]
        while waiting:
            depth, part = waiting.pop()
            if isinstance(part, Observation):
                yield depth, part.text
                continue
            step = self.steps[part]
            if step.rule is None:
                yield depth, f"{part}  given"
            elif part in shown:
                yield depth, f"{part}  as above"
            elif depth == _DEEPEST:
                yield depth, f"{part}  ..."
            else:
                yield depth, f"{part}  by  {step.rule}"
                shown.add(part)
                waiting += [(depth + 1, premise) for premise in reversed(step.premises)]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a rule does not give a tuple: `text` says which part of its body is not satisfied, `values` are the
    variables that had a value by then."""

    rule: str
    text: str
    values: Mapping[str, Value]

    def __str__(self) -> str:
        known = ", ".join(f"{name} = {print_value(value)}" for name, value in self.values.items())
        return f"{self.text}{f'  with {known}' if known else ''}"


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a tuple is not there: one obstacle for each way that a rule could give it. It counts as false."""

    fact: Fact
    obstacles: tuple[Obstacle, ...]

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        if not self.obstacles:
            return printable(f"{self.fact} is not there: it was not given, and no rule gives such a tuple")
        lines = [f"{printable(str(self.fact))} is not there"]
        for obstacle in self.obstacles:
            lines += [f"  {printable(obstacle.rule)}", f"    {printable(str(obstacle))}"]
        return "\n".join(lines)
