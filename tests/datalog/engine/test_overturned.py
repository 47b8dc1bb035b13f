"""A change that takes most of a program's derivations away starts anew, and tells the same net change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.datalog.engine.judged import Judged

from tocsin import Program
from tocsin.datalog.kernels import layout
from tocsin.datalog.machine import machine
from tocsin.datalog.machine.store import Store
from tocsin.errors import DerivationError

PROGRAM = """
.decl e(x: number, y: number)
.decl n(x: number)
.decl p(x: number, y: number)
.decl q(x: number, y: number)
.decl r(x: number, y: number)
.decl alone(x: number)
.decl reached(x: number, c: number)
.decl any()
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), p(y, z).
q(x, z) :- e(x, y), r(y, z).
r(x, y) :- e(x, y), !n(x).
r(x, z) :- q(x, y), e(y, z).
alone(x) :- n(x), !p(x, _).
reached(x, c) :- n(x), c = count : { p(x, _) }.
any() :- p(x, x).
"""
IMPLICIT = """
.decl c(x: number, y: number)
.decl d(x: number, y: number)
c(x, y) :- e(x, y).
c(x, z) :- c(x, y), c(y, z).
d(x, y) :- p(y, x), !n(x).
d(x, z) :- d(x, y), d(y, z).
"""
"""Closures that nobody looks at, over facts and over what is recursive itself."""

PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 4))
NUMBERS = st.tuples(st.integers(0, 4))
FACTS = st.one_of(
    st.tuples(st.sampled_from("+-"), st.sampled_from(["e", "e", "p", "q"]), PAIRS),
    st.tuples(st.sampled_from("+-"), st.just("n"), NUMBERS),
)
CHANGES = st.one_of(
    st.tuples(st.just("apply"), st.lists(FACTS, min_size=1, max_size=8), st.sampled_from([None, None, 2])),
    st.tuples(st.just("insert"), st.just("e"), PAIRS, st.sampled_from([None, None, 2])),
    st.tuples(st.just("delete"), st.sampled_from("ep"), PAIRS),
    st.tuples(st.just("advance"), st.integers(1, 3)),
    st.tuples(st.just("keep"), st.integers(0, 3)),
)


@pytest.fixture(autouse=True, scope="module")
def starts() -> Iterator[list[int]]:
    """However little there is, it is worked out anew when enough of it goes.

    For each time this was done, how many derivations had gone by then.
    """
    done: list[int] = []
    start_anew = machine.Machine._start_anew

    def counted(self: machine.Machine) -> None:
        done.append(int(self._control[layout.REMOVED]))
        start_anew(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(machine, "OVERTURNED", 1)
        patched.setattr(machine.Machine, "_start_anew", counted)
        yield done


@given(
    more=st.sampled_from(["", IMPLICIT]),
    start=st.lists(PAIRS, min_size=8, max_size=20),
    changes=st.lists(CHANGES, max_size=8),
)
@settings(deadline=None, max_examples=100)
def test_any_changes(more: str, start: list[Any], changes: list[tuple[Any, ...]]) -> None:
    judged = Judged(Program.parse(PROGRAM + more))
    judged.step("load", "e", start)
    for method, *arguments in changes:
        if method == "advance":
            arguments = [judged.engine.now + arguments[0]]
        if method == "keep":
            gone = judged.engine.query("e")[arguments[0] :]
            method, arguments = "apply", [[("-", "e", arc) for arc in gone]]
        judged.step(method, *arguments)


def test_it_happens(starts: list[int]) -> None:
    """A chain is cut by one arc and by many, and expires."""
    chain = CHAIN
    for method, arguments in (
        ("delete", ("e", (15, 16))),
        ("apply", ([("-", "e", arc) for arc in chain[1:]],)),
        ("apply", ([("-", "e", arc) for arc in chain],)),
        ("insert", ("n", (3,))),
    ):
        judged = Judged(Program.parse(PROGRAM))
        judged.step("load", "e", chain)
        before = len(starts)
        judged.step(method, *arguments)
        assert len(starts) == before + (method != "insert")
        judged.step("load", "e", chain)
        judged.step("insert", "n", (1,), 5)
        judged.step("delete", "e", (15, 16))
        judged.step("advance", 5)
    judged = Judged(Program.parse(PROGRAM))
    judged.step("load", "e", chain, 5)
    before = len(starts)
    judged.step("advance", 5)
    assert len(starts) == before + 1


CHAIN = [(i, i + 1) for i in range(30)]
EVERY_THIRD = [("-", "e", arc) for arc in CHAIN[::3]]
MASS = [
    EVERY_THIRD,
    [*EVERY_THIRD, ("+", "n", (4,)), ("+", "e", (3, 9)), ("+", "p", (1, 2)), ("-", "n", (1,))],
    [("-", "e", arc) for arc in CHAIN] + [("-", "p", (7, 3)), ("-", "q", (2, 2))],
    [("-", "e", arc) for arc in CHAIN if arc != (9, 10)] + [("+", "e", (9, 10)), ("-", "e", (50, 50))],
]


def mass_judged(more: str = "") -> Judged:
    """Facts in several relations, some of them derived too, and some that expire."""
    judged = Judged(Program.parse(PROGRAM + more))
    facts: list[tuple[str, str, tuple[int, ...]]] = [
        ("+", "e", (40, 41)),
        ("+", "p", (7, 3)),
        ("+", "q", (2, 2)),
        *(("+", "n", (number,)) for number in (1, 2, 3, 35)),
    ]
    judged.step("apply", facts, 9)
    judged.step("load", "e", CHAIN)
    return judged


@pytest.mark.parametrize("more", ["", IMPLICIT], ids=["explicit", "implicit"])
@pytest.mark.parametrize("operations", MASS)
def test_many_facts_that_go_at_once(starts: list[int], operations: list[Any], more: str) -> None:
    judged, before = mass_judged(more), len(starts)
    judged.step("apply", operations, 4)
    assert starts[before:] == [0]
    for moment in (4, 9):
        judged.step("advance", moment)
    judged.step("load", "e", CHAIN)
    judged.step("apply", operations)
    judged.step("delete", "e", (1, 2))


def test_many_facts_that_expire_at_once(starts: list[int]) -> None:
    judged = mass_judged()
    judged.step("load", "e", CHAIN[5:25], 3)
    before = len(starts)
    judged.step("advance", 3)
    assert starts[before:] == [0]
    judged.step("advance", 9)


def test_few_facts_are_followed(starts: list[int]) -> None:
    judged, before = mass_judged(), len(starts)
    for operations in (
        [("-", "e", CHAIN[-1])],
        [("-", "n", (number,)) for number in (1, 2, 3, 35)],
        [("-", "e", (50 + number, 50)) for number in range(30)],
        [*(("-", "e", arc) for arc in CHAIN), *(("+", "e", arc) for arc in CHAIN)],
    ):
        judged.step("apply", operations)
    assert len(starts) == before


@pytest.mark.parametrize(
    "failing",
    [
        "e(40, 41).\n.decl bad(x: number)\nbad(100 / c) :- c = count : { p(_, _) }.\n",
        "p(0, 30).\n.decl m(x: number)\n.decl many(x: number, y: number)\n"
        "many(x, y) :- m(x), m(y), !p(0, 30).\n" + "".join(f"m({number}).\n" for number in range(45)),
    ],
)
def test_what_remains_cannot_be_worked_out(starts: list[int], failing: str) -> None:
    """Nothing is there to divide by, or more is derived than may be: all stays as it was."""
    judged = mass_judged(failing)
    judged.step("advance", 9)
    before = len(starts)
    assert judged.step("apply", [*(("-", "e", arc) for arc in CHAIN), ("-", "p", (0, 30))]) is None
    assert starts[before:] == [0]
    judged.step("delete", "e", (29, 30))
    judged.step("insert", "e", (29, 31), 1)


def test_an_error_in_what_is_worked_out_anew_leaves_all_as_it_was(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Program.parse(PROGRAM).start()
    chain = [(i, i + 1) for i in range(30)]
    engine.load("e", chain)
    before = len(starts)

    def failing(self: Store) -> int:
        self.relation_record(0)[layout.R_LIVE] = 0
        raise DerivationError("no")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "empty", failing)
        with pytest.raises(DerivationError):
            engine.delete("e", (15, 16))
    assert len(starts) == before + 1
    assert engine.query("e") == chain
    assert engine.size("p") == 30 * 31 // 2
