"""A change that takes most of a program's derivations away starts anew, and tells the same net change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.monitor.programs.judged import Judged

from tocsin.errors import DerivationError
from tocsin.index.activation import machine
from tocsin.monitor.programs.engine import Engine
from tocsin.monitor.programs.program import Program

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
def starts() -> Iterator[list[object]]:
    """However little there is, it is worked out anew when enough of it goes; the times this was done."""
    done: list[object] = []
    raised = machine.Overturned.__init__

    def counted(self: Any, *arguments: Any) -> None:
        done.append(self)
        raised(self, *arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(machine, "OVERTURNED", 1)
        patched.setattr(machine.Overturned, "__init__", counted)
        yield done


@given(start=st.lists(PAIRS, min_size=8, max_size=20), changes=st.lists(CHANGES, max_size=8))
@settings(deadline=None, max_examples=100)
def test_any_changes(start: list[Any], changes: list[tuple[Any, ...]]) -> None:
    judged = Judged(Program.parse(PROGRAM))
    judged.step("load", "e", start)
    for method, *arguments in changes:
        if method == "advance":
            arguments = [judged.engine.now + arguments[0]]
        if method == "keep":
            gone = judged.engine.query("e")[arguments[0] :]
            method, arguments = "apply", [[("-", "e", arc) for arc in gone]]
        judged.step(method, *arguments)


def test_it_happens(starts: list[object]) -> None:
    """A chain is cut by one arc and by many, and expires."""
    chain = [(i, i + 1) for i in range(30)]
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


def test_an_error_in_what_is_worked_out_anew_leaves_all_as_it_was(
    starts: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Program.parse(PROGRAM).start()
    chain = [(i, i + 1) for i in range(30)]
    engine.load("e", chain)
    filled, before = Engine._filled, len(starts)

    def failing(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(Engine, "_filled", filled)
        raise DerivationError("no")

    monkeypatch.setattr(Engine, "_filled", failing)
    with pytest.raises(DerivationError):
        engine.delete("e", (15, 16))
    assert len(starts) == before + 1
    assert engine.query("e") == chain
    assert engine.size("p") == 30 * 31 // 2
