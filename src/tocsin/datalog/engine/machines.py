"""What an engine asks of the machine that holds the relations and applies the rules.

The machine of index.activation is the one that is used. Tests put an obvious one in its place, which works
everything out anew after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from tocsin.arrays.dtypes import Flags
from tocsin.datalog.engine.program import Program, is_fact
from tocsin.datalog.language.syntax import CheckedProgram, Constant, Value
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import Machine as ActivationMachine
from tocsin.datalog.machine.normal_form import MADE, Atom, ClosureRule, JoinRule, NormalProgram, Relation
from tocsin.datalog.machine.normal_form import Constant as NormalConstant
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.machine.passes.program_builder import ONCE
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.datalog.meaning import applied

Facts = tuple[tuple[str, tuple[Value, ...]], ...]


class Machine(Protocol):
    """Relations and rules, by the numbers of relations; rows are words."""

    def relation(self, name: str) -> int:
        """The number of a relation."""

    def change(self, relation: int, rows: Rows, insert: bool) -> None:
        """Stage given facts, in or out."""

    def settle(self) -> None:
        """Propagate what is staged. After an error only `given` is of use, with what is staged among it."""

    @property
    def is_settled(self) -> bool:
        """Whether no change is half made."""

    def change_one(self, relation: int, row: tuple[int, ...], insert: bool) -> int:
        """Stage and settle one tuple; 0 when no reported tuple came or went."""

    def number_changer(self, relation: int) -> Callable[[object, bool], int] | None:
        """`change_one` for tuples of numbers, negative for what is none; None if there is no quicker way."""

    def net_change(self, relation: int) -> tuple[Rows, Rows]:
        """What came in the last settling, and what went."""

    def closure_change(self, relation: int) -> ClosureChange | None:
        """What came and went of a relation that is kept implicit, to be worked out later; None of others."""

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

    def held(self, relation: int, rows: Rows) -> Flags:
        """Of many tuples, which are in a relation."""

    def rank(self, relation: int, row: tuple[int, ...]) -> int:
        """Every derived tuple of a recursive relation has a derivation from tuples of lower ranks."""

    def lookup(self, relation: int, columns: tuple[int, ...], key: tuple[int, ...]) -> Rows:
        """The tuples that have these words in these columns."""

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes."""


class Started(NamedTuple):
    """A machine without any fact in it.

    `taking` has the relation that takes the facts given to each declared one; a relation that is not in it
    is kept implicit, in a way that takes no facts: another machine is needed for that.
    """

    machine: Machine
    taking: Mapping[str, str]


class Held:
    """The relations of a machine, by name and in Python values: what `why` asks about."""

    def __init__(self, started: Started, codes: Mapping[str, TupleCode]) -> None:
        self._machine = started.machine
        self._taking = started.taking
        self._codes = codes

    def holds(self, relation: str, values: tuple[Value, ...]) -> bool:
        """Whether a tuple is there."""
        return self._machine.holds(self._machine.relation(relation), self._codes[relation].encode(values))

    def matching(self, relation: str, columns: Mapping[int, Value]) -> Iterator[tuple[Value, ...]]:
        """The tuples that have these values in these columns, counted from 0."""
        number, code = self._machine.relation(relation), self._codes[relation]
        if len(columns) == len(code.types):
            values = tuple(columns[column] for column in range(len(columns)))
            return iter([values] if self.holds(relation, values) else [])
        if columns:
            wanted = dict(sorted(columns.items()))
            key = tuple([code.word(column, value) for column, value in wanted.items()])
            rows = self._machine.lookup(number, tuple(wanted), key)
        else:
            rows = self._machine.rows(number)
        return iter(code.decode_rows(rows))

    def rank(self, relation: str, values: tuple[Value, ...]) -> int:
        """Every derived tuple of a recursive relation has a derivation from tuples of lower ranks."""
        return self._machine.rank(self._machine.relation(relation), self._codes[relation].encode(values))

    def is_given(self, relation: str, values: tuple[Value, ...]) -> bool:
        """Whether a tuple is a fact that was given, not only derived."""
        taking = self._taking.get(relation)
        if taking is None:
            return False
        return self._machine.is_given(self._machine.relation(taking), self._codes[relation].encode(values))


Starter = Callable[[Program, Collection[str], Value | None, Symbols, int, bool], Started]
"""What makes a machine for a program, that holds nothing yet, like start_machine."""


def start_machine(
    program: Program,
    fed: Collection[str],
    local: Value | None,
    symbols: Symbols,
    limit: int,
    implicit: bool,
) -> Started:
    """The activation index for a program.

    The relations `fed` must take facts, others may be `implicit`: kept in a way that takes none.
    """
    normal = with_constant_rules(normal_program(program.bare, local))
    if implicit:
        normal = closure_steps(normal, fed)
    machine = ActivationMachine(normal, symbols, reported=program.outputs, limit=limit, may_start_anew=True)
    closures = {step.head: step.facts for step in normal.steps if isinstance(step, ClosureRule)}
    homes = {name: closures.get(name, name) for name in program.relations}
    return Started(machine, {name: home for name, home in homes.items() if home is not None})


def facts_of(program: CheckedProgram) -> Facts:
    """The facts that stand in a program, in its order."""
    facts: list[tuple[str, tuple[Value, ...]]] = []
    for rule in program.rules:
        if not is_fact(rule):
            continue
        for head in rule.heads:
            values = [argument.value for argument in head.arguments if isinstance(argument, Constant)]
            if len(values) < len(head.arguments):
                facts += applied(rule, {})
                break
            facts.append((head.relation, tuple(values)))
    return tuple(facts)


def with_constant_rules(program: NormalProgram) -> NormalProgram:
    """The program without facts of the user's relations: these come from rules like `p(x) :- x = 5.`

    They are no facts that the user gave, who cannot delete them: each is derived by a rule of its own.
    """
    own = tuple(fact for fact in program.facts if fact[0].startswith(MADE))
    derived = [fact for fact in program.facts if not fact[0].startswith(MADE)]
    if not derived:
        return program
    relations = program.relations
    if (ONCE, ()) not in own:
        relations, own = (*relations, Relation(ONCE, ())), (*own, (ONCE, ()))
    steps = [
        JoinRule(Atom(name, tuple(NormalConstant(value) for value in values)), (Atom(ONCE, ()),))
        for name, values in derived
    ]
    return NormalProgram(relations, (*program.steps, *steps), own)
