"""Several closures in one program, facts given to them and to their arcs in every way: nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.datalog.engine.judged import LIMIT, Judged, contents

import tocsin
from tocsin import Program

DECLARED = """
.decl a(x: number, y: number)
.decl b(x: number, y: number)
.decl never(x: number)
.decl p(x: number, y: number)
.decl q(x: number, y: number)
.decl r(x: number, y: number)
.decl s(x: number, y: number) eqrel
.decl seen(x: number)
"""
RULES = """
p(x, y) :- a(x, y).
p(x, z) :- a(x, y), p(y, z).
q(x, y) :- b(x, y).
q(x, z) :- q(x, y), q(y, z).
r(y, x) :- a(x, y).
r(x, y) :- b(x, y), !never(x).
r(x, z) :- r(x, y), r(y, z).
s(x, y) :- b(x, y), x < y.
"""
LOOKING = "seen(x) :- p(x, x)."
"""A rule that looks at p: with it p is written out, without it p is implicit."""
MORE = ("q(x, y) :- a(y, x).", "r(x, z) :- r(x, y), a(y, z).", LOOKING, "q(1, 2). p(3, 1).")
TAKING = ("a", "b", "p", "q", "r", "s")

PAIRS = st.tuples(st.integers(0, 3), st.integers(0, 3))
FACTS = st.tuples(st.sampled_from("++-"), st.sampled_from(TAKING), PAIRS)
CHANGES = st.one_of(
    st.tuples(st.just("apply"), st.lists(FACTS, min_size=1, max_size=5), st.sampled_from([None, 1, 3])),
    st.tuples(st.just("insert"), st.sampled_from(TAKING), PAIRS, st.sampled_from([None, None, 2])),
    st.tuples(st.just("delete"), st.sampled_from(TAKING), PAIRS),
    st.tuples(st.just("load"), st.sampled_from(TAKING), st.lists(PAIRS, max_size=4)),
    st.tuples(st.just("advance"), st.just(1)),
    st.tuples(st.just("add_rule"), st.sampled_from(MORE)),
    st.tuples(st.just("remove_rule"), st.integers(0, 8)),
    st.tuples(st.just("save")),
)


@given(st.lists(CHANGES, max_size=12))
@settings(deadline=None, max_examples=60)
def test_any_changes_of_several_closures(tmp_path_factory: Any, changes: list[tuple[Any, ...]]) -> None:
    judged = Judged(Program.parse(DECLARED + RULES))
    for method, *arguments in changes:
        if method == "advance":
            judged.step(method, judged.engine.now + arguments[0])
        elif method == "save":
            file = tmp_path_factory.mktemp("saved") / "engine"
            judged.engine.save(file)
            judged.engine = tocsin.open(file)
            judged.check()
        elif method != "remove_rule" or arguments[0] < len(judged.engine.program.rules):
            judged.step(method, *arguments)


@given(st.lists(FACTS, min_size=1, max_size=12), st.data())
@settings(deadline=None, max_examples=40)
def test_one_change_or_several_are_the_same(facts: list[Any], data: st.DataObject) -> None:
    program = Program.parse(DECLARED + RULES)
    at_once, one_by_one, in_parts = (program.start(limit=LIMIT) for _ in range(3))
    at_once.apply(facts)
    for sign, relation, values in facts:
        (one_by_one.insert if sign == "+" else one_by_one.delete)(relation, values)
    cut = data.draw(st.integers(0, len(facts)))
    in_parts.apply(facts[:cut])
    assert in_parts.query("p") == sorted(in_parts.query("p", (None, None)))
    in_parts.apply(facts[cut:])
    assert contents(at_once) == contents(one_by_one) == contents(in_parts)


def test_facts_of_two_closures_in_one_change() -> None:
    engine = Program.parse(DECLARED + RULES).start()
    changes = engine.apply([("+", "p", (1, 2)), ("+", "q", (3, 4)), ("+", "r", (5, 6))], ttl=5)
    assert changes.added == {"p": {(1, 2)}, "q": {(3, 4)}, "r": {(5, 6)}}
    assert engine.advance(5).removed == {"p": {(1, 2)}, "q": {(3, 4)}, "r": {(5, 6)}}


def test_a_closure_that_lost_its_facts_takes_others(tmp_path: Path) -> None:
    engine = Program.parse(DECLARED + RULES).start()
    engine.insert("p", (1, 2))
    engine.delete("p", (1, 2))
    engine.insert("q", (3, 4))
    engine.insert("p", (5, 6))
    engine.save(tmp_path / "engine")
    opened = tocsin.open(tmp_path / "engine")
    opened.apply([("+", "r", (1, 1)), ("-", "p", (5, 6)), ("-", "s", (1, 2))])
    assert (opened.query("p"), opened.query("q"), opened.query("r")) == ([], [(3, 4)], [(1, 1)])


def test_a_closure_that_is_implicit_again_takes_facts_with_another() -> None:
    engine = Program.parse(DECLARED + RULES).start()
    engine.insert("p", (1, 2))
    engine.delete("p", (1, 2))
    assert engine.apply([("+", "q", (3, 4)), ("+", "p", (5, 6))]).added == {"p": {(5, 6)}, "q": {(3, 4)}}


def test_a_change_that_fails_before_it_is_settled_is_not_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Program.parse(DECLARED + RULES).start()
    engine.insert("a", (1, 2))

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine._machine, "settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.apply([("+", "a", (2, 3)), ("-", "a", (1, 2))])
    assert engine.query("a") == [(1, 2)]
    engine.insert("b", (7, 8))
    assert (engine.query("a"), engine.query("p")) == ([(1, 2)], [(1, 2)])
