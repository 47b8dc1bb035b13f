"""What a text query is, once read: leaves and groups in postfix order; and how it is written.

`(golf | tennis) & "David Lee" & !trophy` is

    golf    tennis    OR 2    "david lee"    !trophy    AND 3

Kept flat like conditions (conditions/language/tree.py), so that nothing that walks a query needs recursion. A
group never has an operand that is a group of the same operation: those are one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tocsin.syntax import operands_of

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


_BETWEEN = {Operation.AND: " & ", Operation.OR: " | ", Operation.ACCRUE: ", "}


def print_query(query: TextQuery, *, any_gap: bool = False) -> str:
    """The text of a query, which reads as the same steps; with `any_gap` as tm_contains writes phrases.

    Every group within a group stands in parentheses: to nobody is it obvious how | and , bind.
    """
    operands = query.operands()
    written: list[str] = []
    todo: list[str | int] = [len(query.steps) - 1]
    outermost = len(query.steps) - 1
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        step = query.steps[item]
        if isinstance(step, Leaf):
            written.append(print_leaf(step, any_gap=any_gap))
            continue
        parts: list[str | int] = [] if item == outermost else ["("]
        for number, operand in enumerate(operands[item]):
            if number:
                parts.append(_BETWEEN[step.operation])
            parts.append(operand)
        if item != outermost:
            parts.append(")")
        todo.extend(reversed(parts))
    return "".join(written)


def print_leaf(leaf: Leaf, *, any_gap: bool = False) -> str:
    """The text of a word or phrase."""
    words = [word.text + "*" * word.is_prefix for word in leaf.words]
    negation = "!" * leaf.negated
    if len(words) == 1:
        return negation + words[0]
    if leaf.gap == (ANY_GAP if any_gap else 0):
        gap = ""
    elif any_gap:
        return negation + "-".join(words)
    else:
        gap = "~*" if leaf.gap == ANY_GAP else f"~{leaf.gap}"
    return f'{negation}"{" ".join(words)}"{gap}'
