"""Which rows go together, for all triggers: rows enter and leave positions, and are asked for partners.

A row in a position is a tuple (trigger, word for each key..., row number). Triggers whose equalities connect
their positions in the same way have one *shape*, and are joined by one rule, in which the trigger's number is
one more variable: so a new trigger is data, like a new row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from tocsin.conditions.meaning import Event, lookup
from tocsin.datalog.language import Type
from tocsin.datalog.machine import Atom, JoinRule, Machine, NormalProgram, Relation, Symbols, Variable
from tocsin.errors import EventError
from tocsin.watches.join_keys import Mark, Words, marks_of
from tocsin.watches.watched_trigger import Shape, Watched


class Joins:
    """The rows in all positions of all triggers over several tables."""

    def __init__(self) -> None:
        self._words = Words()
        self._shapes: dict[Shape, JoinedRows] = {}

    def prepare(self, trigger: Watched) -> None:
        """Be ready for the rows of a trigger, so that none of them has to wait."""
        if len(trigger.positions) > 1 and trigger.shape not in self._shapes:
            self._shapes[trigger.shape] = JoinedRows(trigger.shape)

    def enter(self, trigger: Watched, entry: Entry, row: int) -> None:
        """A row enters a position."""
        joined = self._shapes[trigger.shape]
        for marks in entry.marks:
            words = self._words.use(marks)
            joined.change(entry.place.position, (entry.place.trigger, *words, row), True)

    def leave(self, trigger: Watched, entry: Entry, row: int) -> None:
        """A row leaves a position that it entered so."""
        joined = self._shapes[trigger.shape]
        for marks in entry.marks:
            words = self._words.numbers(marks)
            joined.change(entry.place.position, (entry.place.trigger, *words, row), False)
            self._words.release(words)

    def combinations(self, trigger: Watched, entry: Entry, row: int) -> Iterator[tuple[int, ...]]:
        """Every combination of rows, one for each position, that joins with this row in its position.

        The row has entered the position, unless the trigger does not remember its rows: then it enters only
        for as long as this takes, and only with marks that other rows have too.
        """
        joined = self._shapes[trigger.shape]
        position = entry.place.position
        passing = not trigger.remembers(position)
        if passing:
            shared = [marks for marks in entry.marks if all(mark in self._words for mark in marks)]
            entry = entry._replace(marks=shared)
            self.enter(trigger, entry, row)
        found: dict[tuple[int, ...], None] = {}
        for marks in entry.marks:
            words = self._words.numbers(marks)
            found.update(dict.fromkeys(joined.combinations(position, (entry.place.trigger, *words, row))))
        if passing:
            self.leave(trigger, entry, row)
        return iter(found)


Tuple = tuple[int, ...]

_TRIGGER = Variable(0)


class JoinedRows:
    """Tuples (trigger, a word for each equality of the position, row) by position."""

    def __init__(self, shape: Shape) -> None:
        names = [f"p{position}" for position in range(len(shape))]
        relations = [
            Relation(name, (Type.NUMBER,) * (len(equalities) + 2))
            for name, equalities in zip(names, shape, strict=True)
        ]
        rule = _rule(names, shape)
        self._machine = Machine(
            NormalProgram((*relations, Relation(rule.head.relation, (Type.NUMBER,) * len(shape))), ()),
            Symbols(),
        )
        self._relations = [self._machine.relation(name) for name in names]
        self._listeners = self._machine.listeners((rule, atom) for atom in range(len(rule.body)))

    def change(self, position: int, row: Tuple, comes: bool) -> None:
        """Add a tuple to a position, or take it away."""
        self._machine.change_one(self._relations[position], row, comes)

    def combinations(self, position: int, row: Tuple) -> list[Tuple]:
        """The row numbers, by position, of every combination that has this tuple, which is there, in this
        position."""
        found: list[list[int]] = self._machine.fire(self._listeners[position], row).tolist()
        return [tuple(numbers) for numbers in found]


def _rule(names: Sequence[str], shape: Shape) -> JoinRule:
    """The rule that joins all positions: variable 0 is the trigger, then the rows, then the keys."""
    rows = [Variable(1 + position) for position in range(len(shape))]
    body = tuple(
        Atom(name, (_TRIGGER, *(Variable(1 + len(shape) + key) for key in equalities), row))
        for name, equalities, row in zip(names, shape, rows, strict=True)
    )
    return JoinRule(Atom("found", tuple(rows)), body)


MOST_KEYS = 100_000
"""Lists in several joining fields of a row join by each combination of their elements; a row with more than
these is refused."""


class Place(NamedTuple):
    """A position of the trigger of this number."""

    trigger: int
    position: int


class Entry(NamedTuple):
    """A position that a row enters.

    score   how well the free text of its selection fits; None without any
    marks   what it joins by: a mark for each key of the position. Of a row with lists there are several
            combinations, and none when a joining field has no value, so that the row has no partners
    """

    place: Place
    score: float | None
    marks: list[tuple[Mark, ...]]


def entry_of(trigger: Watched, place: Place, row: Event, score: float | None) -> Entry:
    """What a row carries into a position whose selection it satisfies.

    EventError when it cannot be joined, or holds something that a filter or the alert's text cannot read: so
    nothing can go wrong later, when it meets its partners.
    """
    position = trigger.positions[place.position]
    for path in position.asked:
        lookup(row, path)
    choices = [marks_of(row, key) for key in position.keys]
    if prod(map(len, choices)) > MOST_KEYS:
        raise EventError(
            f"the lists of this row have more than {MOST_KEYS:,} combinations to join by"
            f" in the trigger {trigger.rule}"
        )
    return Entry(place, score, list(product(*choices)))
