"""The rows of triggers of one shape in an activation index: which of them agree in trigger and keys.

Position p is a relation, and one rule joins them all. For two positions with one equality it is

    found(r0, r1) :- p0(t, k0, r0), p1(t, k0, r1).

What it derives is never stored: only the changes that fire a trigger ask for it, each from its own position.
A position that triggers do not remember rows of is a relation that is empty between changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.normal_form import Atom, JoinRule, NormalProgram, Relation, Variable
from tocsin.datalog.machine.symbols import Symbols
from tocsin.watches.watched_trigger import Shape

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

    def insert(self, position: int, row: Tuple) -> None:
        """Add a tuple to a position."""
        self._machine.change_one(self._relations[position], row, True)

    def delete(self, position: int, row: Tuple) -> None:
        """Take a tuple away from a position."""
        self._machine.change_one(self._relations[position], row, False)

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
