"""The compared structures: right answers, and counts that a plain nested loop confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_lab.yield_index import (
    AAI,
    AMEM,
    FAI,
    FI,
    NO_INDEX,
    STRUCTURES,
    Structure,
    Workload,
    activate_all,
    activate_arrivals,
    all_combinations,
    can_use,
    flights,
    routing,
    stored_at,
)
from tocsin_lab.yield_index.rule_atoms import Atom

SMALL: dict[str, Callable[[int, int], Workload]] = {
    "UC": lambda tuples, seed: can_use(tuples, values=6, seed=seed),
    "CF": lambda tuples, seed: flights(tuples, persons=4, seed=seed),
    "RT": lambda tuples, seed: routing(tuples, nodes=8, seed=seed),
    "RT@": lambda tuples, seed: stored_at(tuples, nodes=4, seed=seed),
}
Assignment = dict[str, int]


class TupleByTuple:
    """The same activation one tuple at a time, counting as it goes."""

    def __init__(self, workload: Workload, structure: Structure) -> None:
        self.rule = workload.rule
        self.rows = {
            name: [tuple(map(int, row)) for row in rows] for name, rows in workload.relations.items()
        }
        self.structure = structure
        self.index_accesses = 0
        self.tuple_accesses = 0

    def all(self, start: int) -> list[Assignment]:
        atom = self.rule.body[start]
        rows = self.rows[atom.relation]
        if self.structure.is_listed(atom):
            self.index_accesses += 1
            rows = [row for row in rows if fitted(atom, row, {}, constants_only=True) is not None]
        self.tuple_accesses += len(rows)
        found = [each for row in rows if (each := fitted(atom, row, {})) is not None]
        return [done for each in found for done in self.extended(each, self.rest(start))]

    def arrivals(self, start: int, rows: Sequence[tuple[int, ...]]) -> list[Assignment]:
        atom = self.rule.body[start]
        answers: list[Assignment] = []
        for row in rows:
            fits = fitted(atom, row, {}, constants_only=True) is not None
            if fits or not self.structure.memories:
                self.index_accesses += len(self.structure.columns(self.rule, atom))
                self.index_accesses += self.structure.is_listed(atom)
            first = fitted(atom, row, {})
            if first is not None:
                answers += self.extended(first, self.rest(start))
        return answers

    def rest(self, start: int) -> list[Atom]:
        return [atom for number, atom in enumerate(self.rule.body) if number != start]

    def extended(self, known: Assignment, atoms: list[Atom]) -> Iterator[Assignment]:
        if not atoms:
            yield known
            return
        atom = atoms[0]
        for row in self.candidates(atom, known):
            self.tuple_accesses += 1
            more = fitted(atom, row, known)
            if more is not None:
                yield from self.extended(more, atoms[1:])

    def candidates(self, atom: Atom, known: Assignment) -> list[tuple[int, ...]]:
        rows = self.rows[atom.relation]
        listed = self.structure.is_listed(atom)
        if listed:
            rows = [row for row in rows if fitted(atom, row, {}, constants_only=True) is not None]
        columns = [
            column
            for column in self.structure.columns(self.rule, atom)
            if isinstance(atom.terms[column], int) or atom.terms[column] in known
        ]
        if columns:
            self.index_accesses += 1
            column = max(columns, key=lambda each: len({row[each] for row in rows}))
            term = atom.terms[column]
            wanted = term if isinstance(term, int) else known[term]
            return [row for row in rows if row[column] == wanted]
        self.index_accesses += listed
        return rows


def fitted(
    atom: Atom, row: tuple[int, ...], known: Assignment, *, constants_only: bool = False
) -> Assignment | None:
    more = dict(known)
    for term, value in zip(atom.terms, row, strict=True):
        if isinstance(term, int):
            if term != value:
                return None
        elif not constants_only and more.setdefault(term, value) != value:
            return None
    return more


def heads(workload: Workload, answers: list[Assignment]) -> list[tuple[int, ...]]:
    terms = workload.rule.head.terms
    return sorted(
        {tuple(term if isinstance(term, int) else each[term] for term in terms) for each in answers}
    )


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda each: each.name)
@pytest.mark.parametrize("rule", SMALL)
@given(tuples=st.integers(1, 12), seed=st.integers(0, 1_000), data=st.data())
def test_a_whole_relation_is_counted_as_tuple_by_tuple(
    rule: str, structure: Structure, tuples: int, seed: int, data: st.DataObject
) -> None:
    workload = SMALL[rule](tuples, seed)
    start = data.draw(st.integers(0, len(workload.rule.body) - 1))
    judge = TupleByTuple(workload, structure)
    answers = judge.all(start)
    counted = activate_all(workload.rule, workload.relations, structure, start)
    assert counted.index_accesses == judge.index_accesses
    assert counted.tuple_accesses == judge.tuple_accesses
    assert counted.assignments == len(answers)
    assert list(map(tuple, counted.heads.tolist())) == heads(workload, answers)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda each: each.name)
@pytest.mark.parametrize("rule", SMALL)
@given(tuples=st.integers(2, 12), seed=st.integers(0, 1_000))
def test_arrivals_are_counted_as_tuple_by_tuple(
    rule: str, structure: Structure, tuples: int, seed: int
) -> None:
    workload = SMALL[rule](tuples, seed)
    _, arriving = workload.halves()
    judge = TupleByTuple(workload, structure)
    start = [atom.relation for atom in workload.rule.body].index(workload.live)
    answers = judge.arrivals(start, [tuple(map(int, row)) for row in arriving])
    counted = activate_arrivals(workload.rule, workload.relations, structure, workload.live, arriving)
    assert counted.index_accesses == judge.index_accesses
    assert counted.tuple_accesses == judge.tuple_accesses
    assert counted.assignments == len(answers)
    assert list(map(tuple, counted.heads.tolist())) == heads(workload, answers)


def test_structures_stand_in_the_order_that_their_indexes_allow() -> None:
    workload = can_use(2_000, values=200)
    read = {
        each.name: activate_all(workload.rule, workload.relations, each, start=2).tuple_accesses
        for each in STRUCTURES
    }
    assert read[FI.name] == read[AAI.name] < read[FAI.name] < read[NO_INDEX.name] == read[AMEM.name]
    assert all_combinations(workload.rule, workload.relations) == 2_000**3


def test_constants_are_what_lists_are_for() -> None:
    workload = stored_at(2_000, nodes=400)
    read = {
        each.name: activate_all(workload.rule, workload.relations, each).tuple_accesses for each in STRUCTURES
    }
    assert read[FI.name] < read[AAI.name] == read[FAI.name] < read[AMEM.name] < read[NO_INDEX.name]


@given(st.integers(0, 100))
def test_the_same_seed_draws_the_same_tuples(seed: int) -> None:
    for make in SMALL.values():
        one, other = make(10, seed), make(10, seed)
        for name, rows in one.relations.items():
            assert np.array_equal(rows, other.relations[name])
            assert len(np.unique(rows, axis=0)) == len(rows)
