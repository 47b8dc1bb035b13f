"""What an engine asks of the machine that holds the relations and applies the rules.

The machine of index.activation is the one that is used. Tests put an obvious one in its place, which works
everything out anew after each change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from tocsin.grammar.datalog.syntax import Value
from tocsin.index.activation.symbols import Symbols
from tocsin.index.activation.tuples import Rows
from tocsin.monitor.programs.program import Program

Facts = tuple[tuple[str, tuple[Value, ...]], ...]


class Machine(Protocol):
    """Relations and rules, by the numbers of relations; rows are words."""

    def relation(self, name: str) -> int:
        """The number of a relation."""

    def change(self, relation: int, rows: Rows, insert: bool) -> None:
        """Stage given facts, in or out."""

    def settle(self) -> None:
        """Propagate what is staged. After an error only `given` is of use, with what is staged among it."""

    def change_one(self, relation: int, row: tuple[int, ...], insert: bool) -> int:
        """Stage and settle one tuple; 0 when no reported tuple came or went."""

    def added(self, relation: int) -> Rows:
        """What came in the last settling."""

    def removed(self, relation: int) -> Rows:
        """What went in the last settling."""

    def rows(self, relation: int) -> Rows:
        """All tuples of a relation."""

    def size(self, relation: int) -> int:
        """How many tuples a relation has."""

    def given(self, relation: int) -> Rows:
        """The facts that were given, not derived."""

    def is_given(self, relation: int, row: tuple[int, ...]) -> bool:
        """Whether a tuple was given."""

    def holds(self, relation: int, row: tuple[int, ...]) -> bool:
        """Whether a tuple is in a relation."""

    def lookup(self, relation: int, columns: tuple[int, ...], key: tuple[int, ...]) -> Rows:
        """The tuples that have these words in these columns."""

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes."""


class Started(NamedTuple):
    """A machine without any fact in it, and the facts that stand in the program."""

    machine: Machine
    facts: Facts


class Starter(Protocol):
    """Whatever makes a machine for a program."""

    def __call__(self, program: Program, local: Value | None, symbols: Symbols, limit: int) -> Started:
        """A machine that holds nothing yet."""


def start_machine(program: Program, local: Value | None, symbols: Symbols, limit: int) -> Started:
    """The activation index for a program."""
    from tocsin.index.activation.machine import Machine as ActivationMachine
    from tocsin.index.activation.normalising import normal_program

    normal = normal_program(program.checked, local)
    bare = replace(normal, facts=())
    return Started(ActivationMachine(bare, symbols, reported=program.outputs, limit=limit), normal.facts)
