"""A closure that is kept implicit is, after every change, what the rules make of the facts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tocsin
from tocsin.datalog.machine import closure_change

PROGRAM = """
.decl e(x: symbol, y: symbol)
.decl p(x: symbol, y: symbol){kind}
p({base}) :- e(x, y).
{recursive}
.output p
"""
FORMS = {
    "right-linear": ("x, y", "", "p(x, z) :- e(x, y), p(y, z)."),
    "left-linear": ("x, y", "", "p(x, z) :- p(x, y), e(y, z)."),
    "non-linear": ("x, y", "", "p(x, z) :- p(x, y), p(y, z)."),
    "reversed": ("y, x", "", "p(x, z) :- e(y, x), p(y, z)."),
    "equivalence": ("x, y", " eqrel", ""),
}
Pair = tuple[str, str]

PAIR = st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde"))
OPERATION = st.tuples(st.sampled_from("+++-"), st.sampled_from("eeeep"), PAIR)
CHANGES = st.lists(st.lists(OPERATION, min_size=1, max_size=3), max_size=8)


def meant(form: str, arcs: set[Pair], given_pairs: set[Pair]) -> set[Pair]:
    """What p holds: rules are applied until nothing is new."""
    turned = {(y, x) for x, y in arcs}
    found = (turned if form == "reversed" else arcs) | given_pairs
    while True:
        first, second = {
            "right-linear": (arcs, found),
            "left-linear": (found, arcs),
            "reversed": (turned, found),
        }.get(form, (found, found))
        more = {(x, z) for x, y in first for also, z in second if y == also}
        if form == "equivalence":
            more |= {(y, x) for x, y in found}
        if more <= found:
            return found
        found = found | more


@pytest.mark.parametrize("form", FORMS)
@given(changes=CHANGES, looks=st.lists(st.booleans(), min_size=8, max_size=8))
@settings(deadline=None, max_examples=40)
def test_after_every_change(form: str, changes: list[list[tuple[str, str, Pair]]], looks: list[bool]) -> None:
    """Changes are looked at when they are made, or after all others."""
    base, kind, recursive = FORMS[form]
    engine = tocsin.Program.parse(PROGRAM.format(base=base, kind=kind, recursive=recursive)).start()
    facts: dict[str, set[Pair]] = {"e": set(), "p": set()}
    before: set[Pair] = set()
    unseen = []
    for operations, looks_now in zip(changes, looks, strict=False):
        reported = engine.apply(operations)
        for sign, relation, row in operations:
            (facts[relation].add if sign == "+" else facts[relation].discard)(row)
        after = meant(form, facts["e"], facts["p"])
        unseen.append((reported, after - before, before - after))
        if looks_now:
            assert_reports(*unseen.pop())
            assert engine.query("p") == sorted(after)
            assert engine.query("p", ("a", None)) == sorted(pair for pair in after if pair[0] == "a")
            assert engine.query("p", (None, "b")) == sorted(pair for pair in after if pair[1] == "b")
            assert engine.holds("p", ("a", "b")) == (("a", "b") in after)
        before = after
    assert engine.size("p") == len(before)
    for change in unseen:
        assert_reports(*change)


def assert_reports(reported: tocsin.Changes, added: set[Pair], removed: set[Pair]) -> None:
    assert set(reported.added.get("p", ())) == added
    assert set(reported.removed.get("p", ())) == removed
    assert bool(reported) == bool(added or removed)


def test_billions_of_pairs_are_not_written_out_to_load_and_to_ask() -> None:
    engine = tocsin.Program.parse(
        ".decl arc(x: number, y: number) .decl path(x: number, y: number) "
        "path(x, y) :- arc(x, y). path(x, y) :- arc(x, z), path(z, y)."
    ).start()
    length = 100_000
    engine.load("arc", [(number, number + 1) for number in range(length)])
    assert engine.size("path") == length * (length + 1) // 2
    assert engine.holds("path", (0, length))
    assert engine.query("path", (length - 1, None)) == [(length - 1, length)]
    assert len(engine.insert("arc", (length, length + 1)).added["path"]) == length + 1
    assert len(engine.delete("arc", (length, length + 1)).removed["path"]) == length + 1


def test_why_of_a_closure_that_nobody_is_told_of() -> None:
    text = """
        .decl off(x: number)
        .decl one(x: number)
        .decl same(x: number, y: number) eqrel
        same(1, 2) :- !off(1).
        same(x, x) :- one(x).
        .output one
    """
    engine = tocsin.Program.parse(text).start()
    for pair in ((1, 1), (1, 2), (2, 1), (2, 2)):
        assert engine.why("same", pair)
    assert not engine.why("same", (1, 3))


def test_asking_whether_a_closure_changed_works_out_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    def work_out(*_: object) -> None:
        raise AssertionError("the pairs are worked out")

    base, kind, recursive = FORMS["right-linear"]
    engine = tocsin.Program.parse(PROGRAM.format(base=base, kind=kind, recursive=recursive)).start()
    monkeypatch.setattr(closure_change, "changed_pairs", work_out)
    changes = engine.load("e", [(str(i), str(i + 1)) for i in range(3_000)])
    assert changes
    assert "p" in changes.added
    assert "p" not in changes.removed
    assert list(changes.added) == ["p"]
    assert len(changes.added["p"]) == 3_000 * 3_001 // 2
    assert not engine.insert("e", ("7", "2000"))
