"""How an engine comes by the machine that holds the relations and applies the rules.

Tests put an obvious one in its place, which works everything out anew after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from tocsin.datalog.engine.program import Program
from tocsin.datalog.language.syntax import CheckedProgram, Constant, Value
from tocsin.datalog.machine.closures import closure_steps
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.normal_form import MADE, Atom, ClosureRule, JoinRule, NormalProgram, Relation
from tocsin.datalog.machine.normal_form import Constant as NormalConstant
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.machine.passes.program_builder import ONCE
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.datalog.meaning import applied

Facts = tuple[tuple[str, tuple[Value, ...]], ...]


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
        """Every derived tuple has a derivation whose tuples of its relation's circle are of lower ranks."""
        return self._machine.rank(self._machine.relation(relation), self._codes[relation].encode(values))

    def circle(self, relation: str) -> frozenset[str]:
        """The relations that depend on this one and it on them, as the machine's rules have it."""
        return self._circles[self._machine.component(self._machine.relation(relation))]

    @cached_property
    def _circles(self) -> dict[int, frozenset[str]]:
        members: dict[int, list[str]] = {}
        for name in self._codes:
            members.setdefault(self._machine.component(self._machine.relation(name)), []).append(name)
        return {component: frozenset(names) for component, names in members.items()}

    def is_given(self, relation: str, values: tuple[Value, ...]) -> bool:
        """Whether a tuple is a fact that was given, not only derived."""
        taking = self._taking.get(relation)
        if taking is None:
            return False
        return self._machine.is_given(self._machine.relation(taking), self._codes[relation].encode(values))


Starter = Callable[[Program, Collection[str], Value | None, Symbols, int, bool], Started]
"""What makes a machine for a program, that holds nothing yet, like start_machine."""


def start_machine(
    program: Program, fed: Collection[str], local: Value | None, symbols: Symbols, limit: int, implicit: bool
) -> Started:
    """The activation index for a program.

    The relations `fed` must take facts, others may be `implicit`: kept in a way that takes none.
    """
    normal = with_constant_rules(normal_program(program.bare, local))
    if implicit:
        normal = closure_steps(normal, fed)
    machine = Machine(normal, symbols, reported=program.outputs, limit=limit, may_start_anew=True)
    closures = {step.head: step.facts for step in normal.steps if isinstance(step, ClosureRule)}
    homes = {name: closures.get(name, name) for name in program.relations}
    return Started(machine, {name: home for name, home in homes.items() if home is not None})


def facts_of(program: CheckedProgram) -> Facts:
    """The facts that stand in a program, in its order."""
    facts: list[tuple[str, tuple[Value, ...]]] = []
    for rule in program.rules:
        if not rule.is_fact:
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
