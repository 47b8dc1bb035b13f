"""The machine against the obvious evaluator: whatever comes and goes, in whatever order and batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.activation_shape import check_shape
from tests.conftest import examples
from tests.datalog_programs import Case, Change, cases, changes

from tocsin.datalog.kernels import layout
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.syntax import CheckedProgram
from tocsin.datalog.machine import Machine, Symbols, TupleCode
from tocsin.datalog.machine.machine import NO_LIMIT
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError


class Kept:
    """A program's machine, and the facts it should have."""

    def __init__(self, program: CheckedProgram, limit: int = NO_LIMIT) -> None:
        self.program = program
        self.symbols = Symbols()
        self.machine = Machine(normal_program(program), self.symbols, limit=limit)
        self.codes = {
            name: TupleCode(name, relation.types, self.symbols)
            for name, relation in program.relations.items()
        }
        self.facts: dict[str, set[Tuple]] = {name: set() for name in program.relations}
        self.machine.settle()

    def stage(self, change: Change) -> None:
        rows = self.codes[change.relation].rows([change.values])
        self.machine.change(self.machine.relation(change.relation), rows, change.insert)
        self._note(change)

    def change_one(self, change: Change) -> int:
        row = self.codes[change.relation].encode(change.values)
        self._note(change)
        return self.machine.change_one(self.machine.relation(change.relation), row, change.insert)

    def contents(self) -> dict[str, set[Tuple]]:
        return {name: self._set(name, self.machine.rows(self.machine.relation(name))) for name in self.codes}

    def net_changes(self) -> dict[str, tuple[set[Tuple], set[Tuple]]]:
        relation = self.machine.relation
        return {
            name: (
                self._set(name, self.machine.net_change(relation(name))[0]),
                self._set(name, self.machine.net_change(relation(name))[1]),
            )
            for name in self.codes
        }

    def wanted(self) -> dict[str, set[Tuple]]:
        return {name: set(found) for name, found in evaluate(self.program, self.facts).items()}

    def _note(self, change: Change) -> None:
        facts = self.facts[change.relation]
        facts.add(change.values) if change.insert else facts.discard(change.values)

    def _set(self, name: str, rows: NDArray[np.int64]) -> set[Tuple]:
        found = self.codes[name].decode_rows(rows)
        assert len(found) == len(set(found)), "a relation has no tuple twice"
        return set(found)


def check_step(kept: Kept, before: dict[str, set[Tuple]]) -> dict[str, set[Tuple]]:
    """After a step: contents as worked out anew, changes as the difference."""
    contents = kept.contents()
    assert contents == kept.wanted()
    check_shape(kept.machine)
    for name, (added, removed) in kept.net_changes().items():
        assert added == contents[name] - before[name]
        assert removed == before[name] - contents[name]
    return contents


@given(cases(), st.lists(st.one_of(changes(most=1), changes()), max_size=5))
@settings(max_examples=examples(150), deadline=None)
def test_after_every_step_all_is_as_worked_out_anew(case: Case, batches: Sequence[Sequence[Change]]) -> None:
    kept = Kept(case.program())
    before = kept.contents()
    for name, tuples in case.facts.items():
        for values in tuples:
            kept.stage(Change(name, values, True))
    kept.machine.settle()
    before = check_step(kept, before)
    for batch in batches:
        if len(batch) == 1:
            nothing_reported = kept.change_one(batch[0]) == 0
            after = check_step(kept, before)
            assert not nothing_reported or all(
                after[name] == before[name] for name in after if name[0] == "d"
            )
        else:
            for change in batch:
                kept.stage(change)
            kept.machine.settle()
            after = check_step(kept, before)
        before = after


RECURSION = """
.decl arc(x: number, y: number)
.decl blocked(x: number)
.decl path(x: number, y: number)
.decl far(x: number, y: number)
path(x, y) :- arc(x, y), !blocked(y).
path(x, y) :- path(x, z), path(z, y).
far(x, y) :- path(x, y), !arc(x, y).
far(x, y) :- far(y, x), arc(x, x).
"""


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=60))
@settings(max_examples=examples(100), deadline=None)
def test_circles_hold_nothing_up(moves: Sequence[tuple[bool, int, int, bool]]) -> None:
    kept = Kept(check_program(RECURSION))
    before = kept.contents()
    for insert, x, y, blocks in moves:
        kept.change_one(
            Change("blocked", (x,), insert) if blocks and x == y else Change("arc", (x, y), insert)
        )
        before = check_step(kept, before)


def test_room_is_made_for_whatever_is_derived() -> None:
    """One tuple derives a hundred thousand, and takes them away again."""
    kept = Kept(
        check_program(
            ".decl a(x: number) .decl b(x: number) .decl go() .decl p(x: number, y: number) "
            "p(x, y) :- a(x), b(y), go()."
        )
    )
    machine = kept.machine
    numbers = np.arange(330, dtype=np.int64).reshape(-1, 1)
    for name in ("a", "b"):
        machine.change(machine.relation(name), numbers, True)
    machine.settle()
    assert machine.size(machine.relation("p")) == 0
    for _ in range(2):
        machine.change_one(machine.relation("go"), (), True)
        assert (
            len(machine.net_change(machine.relation("p"))[0])
            == machine.size(machine.relation("p"))
            == 330 * 330
        )
        machine.change_one(machine.relation("go"), (), False)
        assert len(machine.net_change(machine.relation("p"))[1]) == 330 * 330
        assert machine.size(machine.relation("p")) == 0


def test_numbers_of_tuples_that_are_gone_are_used_again() -> None:
    kept = Kept(check_program(".decl a(x: number, y: number) .decl p(x: number) p(x) :- a(x, y), a(y, x)."))
    machine, relation = kept.machine, kept.machine.relation("a")
    for value in range(200):
        machine.change_one(relation, (value, value), True)
    size = machine.stats()["bytes"]
    for value in range(200, 3_000):
        machine.change_one(relation, (value - 200, value - 200), False)
        machine.change_one(relation, (value, value), True)
    assert machine.size(relation) == machine.size(machine.relation("p")) == 200
    assert machine.stats()["bytes"] == size


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("p(x / y) :- a(x, y).", "division by zero"),
        ("p(x % y) :- a(x, y).", "division by zero"),
        ("p(x) :- a(x, y), x / y > 3.", "division by zero"),
        ("p(x) :- a(x, _). p(x + 1) :- p(x).", "more than 1,000 tuples are derived, which is the limit"),
    ],
)
def test_a_failure_names_its_rule(rule: str, reason: str) -> None:
    program = check_program(".decl a(x: number, y: number) .decl p(x: number) " + rule)
    kept = Kept(program, limit=1_000)
    with pytest.raises(DerivationError, match=reason) as failure:
        kept.change_one(Change("a", (4, 0), True))
    assert failure.value.rule is None or failure.value.rule in rule


@given(cases(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_lookup_gives_the_rows_with_these_values(case: Case, data: st.DataObject) -> None:
    kept = Kept(case.program())
    for name, tuples in case.facts.items():
        for values in tuples:
            kept.stage(Change(name, values, True))
    kept.machine.settle()
    contents = kept.contents()
    for _ in range(3):
        name = data.draw(st.sampled_from(sorted(contents)))
        found = sorted(contents[name], key=repr)
        width = len(kept.program.relations[name].types)
        columns = tuple(data.draw(st.lists(st.integers(0, width - 1), unique=True))) if width else ()
        chosen = data.draw(st.sampled_from(found)) if found else None
        if chosen is None:
            continue
        key = kept.codes[name].encode(chosen)
        rows = kept.machine.lookup(kept.machine.relation(name), columns, [key[column] for column in columns])
        wanted = [each for each in found if all(each[column] == chosen[column] for column in columns)]
        assert sorted(kept.codes[name].decode_rows(rows), key=repr) == wanted
        assert kept.contents() == contents


def test_what_nobody_asks_about_is_not_gone_through() -> None:
    """Of `b(k, _)` only some tuple is wanted: with one key for all it is not every pair of tuples."""
    kept = Kept(
        check_program(
            ".decl a(x: number, k: number) .decl b(k: number, y: number) .decl p(x: number) .decl q() "
            "p(x) :- a(x, k), b(k, _). q() :- a(_, _), b(_, _)."
        )
    )
    machine = kept.machine
    numbers = np.arange(2_000, dtype=np.int64)
    machine.change(machine.relation("a"), np.stack((numbers, 0 * numbers), axis=1), True)
    machine.change(machine.relation("b"), np.stack((0 * numbers, numbers), axis=1), True)
    machine.settle()
    assert machine.size(machine.relation("p")) == 2_000
    assert machine.size(machine.relation("q")) == 1
    assert machine.stats()["index_accesses"] < 100 * 2_000
    for number in range(1, 2_000):
        machine.change_one(machine.relation("b"), (0, number), False)
    assert machine.size(machine.relation("p")) == 2_000, "b(0, 0) is left"
    machine.change_one(machine.relation("b"), (0, 0), False)
    assert len(machine.net_change(machine.relation("p"))[1]) == 2_000
    assert machine.net_change(machine.relation("q"))[1].tolist() == [[]]


ASKED = """
.decl a(x: number, y: number)
.decl b(x: number, y: number)
.decl c(x: number)
.decl p(x: number, y: number)
.decl q(x: number, y: number)
.decl r(x: number)
p(x, y) :- c(x), c(y), a(x, _), a(y, _).
q(x, y) :- c(x), c(y), a(x, _), !a(y, _).
r(x) :- a(x, _), a(_, x), !b(x, _), b(_, _).
"""


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 2)), max_size=40
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_atoms_that_ask_for_some_tuple_or_none(moves: Sequence[tuple[bool, str, int, int]]) -> None:
    kept = Kept(check_program(ASKED))
    before = kept.contents()
    for insert, relation, x, y in moves:
        kept.change_one(Change(relation, (x,) if relation == "c" else (x, y), insert))
        before = check_step(kept, before)


TURNED_ROUND = """
.decl e(x: number, y: number)
.decl t(x: number, y: number, z: number)
.decl d(x: number, y: number, n: number)
.decl m(x: number, y: number)
.decl r(x: number, y: number, n: number)
d(a, b, n) :- e(a, b), n = count : { e(b, a) }, !e(b, a).
m(a, n) :- e(a, b), n = min c : { t(b, a, c) }, !e(b, a), !t(a, b, _).
r(a, b, n) :- t(a, b, c), n = sum z : { t(b, c, z) }, !t(c, b, a), !e(c, b).
"""


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from("et"), st.tuples(*[st.integers(1, 3)] * 3)), max_size=30
    ),
    st.booleans(),
)
@settings(max_examples=examples(100), deadline=None)
def test_groups_of_permuted_columns_beside_a_negation(
    moves: Sequence[tuple[bool, str, tuple[int, int, int]]], at_once: bool
) -> None:
    kept = Kept(check_program(TURNED_ROUND))
    before = kept.contents()
    for insert, relation, values in moves:
        change = Change(relation, values if relation == "t" else values[:2], insert)
        if at_once:
            kept.stage(change)
        else:
            kept.change_one(change)
            before = check_step(kept, before)
    kept.machine.settle()
    check_step(kept, before if at_once else kept.contents())


def test_a_tuple_hangs_everywhere_before_a_plan_runs_for_it() -> None:
    text = """
        .decl e(x: number, y: number)
        .decl r(x: number)
        r(y) :- e(_, y), !e(x, y), e(y, x), e(x, y).
    """
    kept = Kept(check_program(text, None))
    store = kept.machine._store
    record = store.relation_record(kept.machine.relation("e"))
    pairs = store.memory.arrays[layout.SCHEDULES].reshape(-1, 2)
    coming = pairs[record[layout.R_COMING] : record[layout.R_COMING_END], 0].tolist()
    hangs = [place for place, action in enumerate(coming) if action in (layout.JOIN, layout.HANG)]
    activations = (layout.ACTIVATE, layout.ACTIVATE_SOME, layout.ACTIVATE_NONE)
    plans = [place for place, action in enumerate(coming) if action in activations]
    assert coming.count(layout.HANG) == coming.count(layout.JOIN_COUNTED) >= 2
    assert max(hangs) < min(plans)
