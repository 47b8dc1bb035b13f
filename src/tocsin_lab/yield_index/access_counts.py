"""A rule activated with one of the compared structures, every index and tuple access counted.

Atoms are joined in the order in which they are written, behind the one that activation starts from. What
is counted is what a program would do that goes from tuple to tuple:

    index access   one search of an index, or one list (AMEM) opened
    tuple access   one read of a stored tuple; a tuple that arrives is not one

An index on a column whose value is known is searched, the one with the most values if there are several,
and each tuple under the value is read. Else the list of the atom's constants is opened and its tuples are
read; else all tuples of the relation are. What cannot be known without reading is read: a whole relation
is activated by reading all tuples of the atom it starts from.

Work is done for all tuples together, so scans that would take days are counted in milliseconds: which pairs
match is found by an index that is not counted, and what is read on the way is a sum or a product of sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin_lab.yield_index.joins import Column, all_pairs, different, different_rows, packed
from tocsin_lab.yield_index.rule_atoms import Atom, ConjunctiveRule
from tocsin_lab.yield_index.structures import Structure
from tocsin_lab.yield_index.yield_workloads import Rows

Numbers = Longs
Relations = Mapping[str, Rows]


@dataclass(frozen=True)
class Counted:
    """What one activation took, and what it gave.

    assignments  how often the body holds: each is an answer
    started      the different tuples that activation started from and that have an answer
    heads        the different tuples derived, sorted
    """

    index_accesses: int
    tuple_accesses: int
    assignments: int
    started: int
    heads: Rows


def activate_all(
    rule: ConjunctiveRule, relations: Relations, structure: Structure, start: int = 0
) -> Counted:
    """Activate for all stored tuples, from the body atom of number `start` on."""
    return _Activation(rule, relations, structure).of_all(start)


def activate_arrivals(
    rule: ConjunctiveRule, relations: Relations, structure: Structure, relation: str, arriving: Rows
) -> Counted:
    """Add tuples to a relation, one after the other, and activate for each.

    Each index on the relation is searched once to add a tuple. No other tuple of `relation` may be needed
    to activate for one: it stands in one body atom.
    """
    (start,) = (number for number, atom in enumerate(rule.body) if atom.relation == relation)
    return _Activation(rule, relations, structure).of_arrivals(start, arriving)


def all_combinations(rule: ConjunctiveRule, relations: Relations) -> int:
    """The tuples read when every combination of tuples is made before it is tested: no index in Table 1."""
    return prod(len(relations[atom.relation]) for atom in rule.body)


class _Activation:
    """Partial assignments, as one array of values for each variable, extended atom by atom."""

    def __init__(self, rule: ConjunctiveRule, relations: Relations, structure: Structure) -> None:
        self._rule = rule
        self._relations = relations
        self._structure = structure
        self._index_accesses = 0
        self._tuple_accesses = 0
        self._values: dict[str, Numbers] = {}
        self._origin = np.zeros(1, np.int64)
        self._count = 1

    def of_all(self, start: int) -> Counted:
        self._extend(self._rule.body[start], starts=True)
        return self._finished(start)

    def of_arrivals(self, start: int, arriving: Rows) -> Counted:
        atom = self._rule.body[start]
        passing = with_constants(atom, arriving)
        kept = len(passing) if self._structure.memories else len(arriving)
        self._index_accesses += kept * len(self._structure.columns(self._rule, atom))
        self._index_accesses += kept if self._structure.is_listed(atom) else 0
        self._take(atom, passing, *all_pairs(1, len(passing)))
        return self._finished(start)

    def _finished(self, start: int) -> Counted:
        self._origin = np.arange(self._count)
        for number, atom in enumerate(self._rule.body):
            if number != start:
                self._extend(atom)
        columns = [
            np.full(self._count, term) if isinstance(term, int) else self._values[term]
            for term in self._rule.head.terms
        ]
        heads = different_rows(np.column_stack(columns))
        started = len(different(self._origin))
        return Counted(self._index_accesses, self._tuple_accesses, self._count, started, heads)

    def _extend(self, atom: Atom, *, starts: bool = False) -> None:
        """Find each assignment's tuples of an atom, and count how the structure would.

        The atom that activation `starts` from is gone through as a whole.
        """
        rows = self._relations[atom.relation]
        passing = with_constants(atom, rows)
        listed = self._structure.is_listed(atom)
        indexed = passing if listed else rows
        known = self._known_columns(atom)
        columns = () if starts else self._structure.columns(self._rule, atom)
        searched = [each for each in columns if each in known]
        column = max(searched, key=lambda each: len(different(indexed[:, each])), default=None)
        if column is not None:
            self._index_accesses += self._count
            self._tuple_accesses += Column(indexed[:, column]).count(self._wanted(atom, column))
        else:
            self._index_accesses += self._count if listed else 0
            self._tuple_accesses += self._count * len(indexed)
        self._take(atom, passing, *self._pairs(atom, passing, known))

    def _known_columns(self, atom: Atom) -> Sequence[int]:
        return [
            column for column, term in enumerate(atom.terms) if isinstance(term, int) or term in self._values
        ]

    def _wanted(self, atom: Atom, column: int) -> Numbers:
        """For each assignment, the value that a column must have."""
        term = atom.terms[column]
        return np.full(self._count, term) if isinstance(term, int) else self._values[term]

    def _pairs(self, atom: Atom, rows: Rows, known: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Each assignment with each row that agrees with it in all known columns."""
        if not known:
            return all_pairs(self._count, len(rows))
        stored, wanted = packed(
            [rows[:, column] for column in known], [self._wanted(atom, column) for column in known]
        )
        return Column(stored).find(wanted)

    def _take(self, atom: Atom, rows: Rows, place: Numbers, row: Numbers) -> None:
        """Keep the pairs of an assignment and a tuple that agree in every column."""
        values = {name: each[place] for name, each in self._values.items()}
        fits = np.ones(len(place), np.bool_)
        for column, term in enumerate(atom.terms):
            found = rows[row, column]
            if isinstance(term, int):
                fits &= found == term
            elif term in values:
                fits &= found == values[term]
            else:
                values[term] = found
        self._values = {name: each[fits] for name, each in values.items()}
        self._origin = self._origin[place[fits]]
        self._count = int(fits.sum())


def with_constants(atom: Atom, rows: Rows) -> Rows:
    """The rows that hold an atom's constants."""
    fits = np.ones(len(rows), np.bool_)
    for column, value in atom.constants:
        fits &= rows[:, column] == value
    return rows[fits]
