"""What a plan is made of: units, each a part of a program that runs by itself for each of its keys.

A *unit* takes changes of relations through *ports*. A port names a relation and the column that holds the
key: a tuple goes to the key that its value in that column names. The same relation may come in
through two ports, by two of its columns; in the unit these are two relations. A unit without keys takes
every tuple, in one place.

    twice(x, z) :- arc(x, y), arc(y, z).        ports arc@1, arc@0, so that tuples meet at y

    arc (1, 2)   ──>  key 2 through arc@1,  key 1 through arc@0
    arc (2, 3)   ──>  key 3 through arc@1,  key 2 through arc@0: here they meet

There are two kinds of units:

    complete    all rules of its relations, and the key is a column of every one of them: what it says of a
                tuple is all that there is to be said, and no other key says anything
    counted     one rule, of a relation that has others, or that is derived for several keys: it says that
                one more or one less (rule, key) derives a tuple. A second stage, keyed by the tuple,
                counts these, and adds that the tuple was given as a fact

The *level* of a unit is above that of all units whose relations it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tocsin.datalog.engine.program import Program


class Port(NamedTuple):
    """A relation, and the column whose value is the key; None where there are no keys."""

    relation: str
    column: int | None

    @property
    def name(self) -> str:
        """The relation's name in the unit."""
        return self.relation if self.column is None else f"{self.relation}@{self.column}"


@dataclass(frozen=True)
class Unit:
    """A part of a program that runs for itself.

    program     its rules, with the ports as relations
    takes       the ports
    gives       for each relation that is reported, in the unit's program, the program's own relation
    key         the variables or columns that the key comes from, as `explain` names them; None without keys
    counted     whether it is only one of several that derive its relation; its tuples then have the
                key in front, if there are keys
    rules       the rules as they are written
    """

    number: int
    level: int
    program: Program
    takes: tuple[Port, ...]
    gives: Mapping[str, str]
    key: str | None
    counted: bool
    rules: tuple[str, ...]

    @property
    def extra(self) -> int:
        """How many values stand in front of a tuple that it derives."""
        return int(self.counted and self.key is not None)


@dataclass(frozen=True)
class Plan:
    """A program cut into units.

    counted     the relations whose derivations are counted, each with its level: those of counted units,
                and those that are reported but never derived
    """

    program: Program
    units: tuple[Unit, ...]
    counted: Mapping[str, int]

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return 1 + max([unit.level for unit in self.units] + list(self.counted.values()), default=-1)

    @property
    def made(self) -> frozenset[str]:
        """The relations that something derives; of all others the facts are all there is."""
        return frozenset(name for unit in self.units for name in unit.gives.values())
