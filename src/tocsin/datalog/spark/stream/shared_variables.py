"""Which variable the atoms of rules share, so that tuples which meet are at the same place.

A rule can be run for each value of a variable when the variable stands in every atom of its body, also in
negated ones and in those within aggregates, and has its value from a positive atom: whatever the rule
looks at then has that value, in a known column.

A set of relations can be run *complete* for each value when, beyond that, one column of each of them holds
the variable wherever they stand, heads included: recursion then stays with one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from tocsin.datalog.language.conjunctions import Literal, alternatives_of
from tocsin.datalog.language.syntax import Atom, CheckedProgram, Negation, Positive, Rule, Variable
from tocsin.datalog.language.tree_walk import walk

Columns = dict[str, int]
"""The column of each relation that holds the key."""

MOST_TRIES = 10_000
"""So many ways to choose columns are looked at before a set of relations is given up."""


class Clause(NamedTuple):
    """One head and one alternative of a rule: a rule of its own."""

    rule: Rule
    head: Atom
    literals: tuple[Literal, ...]

    @property
    def atoms(self) -> list[Atom]:
        """All atoms of the body, those within aggregates too."""
        parts = (node for node in walk(*self.literals) if isinstance(node, Positive | Negation))
        return [part.atom for part in parts]

    @property
    def shared(self) -> list[str]:
        """The variables that stand in every atom, those of the head first."""
        bound = [
            argument.name
            for literal in self.literals
            if isinstance(literal, Positive)
            for argument in literal.atom.arguments
            if isinstance(argument, Variable)
        ]
        everywhere = [
            name for name in dict.fromkeys(bound) if all(places_of(atom, name) for atom in self.atoms)
        ]
        return sorted(everywhere, key=lambda name: not places_of(self.head, name))


def places_of(atom: Atom, variable: str) -> list[int]:
    """The columns in which an atom has a variable."""
    return [
        place
        for place, argument in enumerate(atom.arguments)
        if isinstance(argument, Variable) and argument.name == variable
    ]


def clauses_of(program: CheckedProgram) -> list[Clause]:
    """The rules of a program, one for each head and alternative."""
    return [
        Clause(rule, head, tuple(literals))
        for rule in program.rules
        for literals in alternatives_of(rule.body)
        for head in rule.heads
    ]


def key_columns(clauses: Sequence[Clause], relations: Sequence[str]) -> Columns | None:
    """A column for each of the relations, so that their rules are complete for each key; None without one.

    The columns are found by trying: each rule in turn decides for one of its shared variables, and so
    for the columns of the relations in it.
    """
    wanted = frozenset(relations)
    tries = 0
    open_choices: list[Iterator[Columns]] = [_choices(clauses[0], {}, wanted)] if clauses else []
    while open_choices:
        chosen = next(open_choices[-1], None)
        tries += 1
        if chosen is None or tries > MOST_TRIES:
            open_choices.pop()
        elif len(open_choices) < len(clauses):
            open_choices.append(_choices(clauses[len(open_choices)], chosen, wanted))
        elif wanted <= chosen.keys():
            return chosen
    return None


def key_variable(clause: Clause, columns: Mapping[str, int]) -> str:
    """The variable of a rule that stands in these columns."""
    return next(name for name in clause.shared if _fits(clause, name, columns))


def _choices(clause: Clause, columns: Columns, wanted: frozenset[str]) -> Iterator[Columns]:
    """The ways to choose columns that this rule leaves, each an extension of what is chosen."""
    for name in clause.shared:
        ways: list[Columns] = [dict(columns)]
        for atom in chain([clause.head], clause.atoms):
            if atom.relation in wanted:
                ways = [
                    {**way, atom.relation: place}
                    for way in ways
                    for place in places_of(atom, name)
                    if way.get(atom.relation, place) == place
                ]
        yield from ways


def _fits(clause: Clause, name: str, columns: Mapping[str, int]) -> bool:
    return all(
        columns[atom.relation] in places_of(atom, name)
        for atom in (clause.head, *clause.atoms)
        if atom.relation in columns
    )
