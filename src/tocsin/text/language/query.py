"""What a text query is, once read: leaves and groups in postfix order.

`(golf | tennis) & "David Lee" & !trophy` is

    golf    tennis    OR 2    "david lee"    !trophy    AND 3

Kept flat like conditions (conditions/language/tree.py), so that nothing that walks a query needs recursion. A
group never has an operand that is a group of the same operation: those are one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tocsin.syntax.postfix import operands_of

ANY_GAP = -1
"""The gap of a phrase whose words only need to come in order."""


@dataclass(frozen=True, slots=True)
class Word:
    """A normalised word; as a prefix it stands for every word that begins with it, itself included."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase, perhaps negated.

    gap    other words that may stand between neighbours of a phrase: 0 for adjacent words, or ANY_GAP
    """

    words: tuple[Word, ...]
    gap: int = 0
    negated: bool = False


class Operation(Enum):
    """How the operands of a group combine. The value is how it is written."""

    AND = "&"
    OR = "|"
    ACCRUE = ","


@dataclass(frozen=True, slots=True)
class Group:
    """Takes the last `arity` operands, two or more."""

    operation: Operation
    arity: int


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A whole query: its steps in postfix order, and where each leaf stands in the query's text."""

    steps: tuple[Leaf | Group, ...]
    places: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def leaves(self) -> Iterator[Leaf]:
        """The words and phrases, in the order of the query."""
        for step in self.steps:
            if isinstance(step, Leaf):
                yield step

    def operands(self) -> list[tuple[int, ...]]:
        """For each step the places of the steps that it takes: none for a leaf."""
        return operands_of(step.arity if isinstance(step, Group) else 0 for step in self.steps)
