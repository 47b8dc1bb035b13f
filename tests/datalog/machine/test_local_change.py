"""What a few arcs change, found near them, is what the closures before and after say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.datalog.machine.test_closure_graph import Arc, as_array, as_set, assert_counted, changed, closure

from tocsin.datalog.machine import ClosureGraph, closure_change, closure_graph, local_change

STEPS = pytest.mark.parametrize(
    ("first", "least"), [(256, 4_096), (16, 64), (4, 8)], ids=["all found", "some given up", "most given up"]
)
ARC = st.tuples(st.integers(0, 11), st.integers(0, 11))
CHANGE = st.tuples(st.booleans(), st.lists(ARC, min_size=1, max_size=4))


@STEPS
@given(start=st.lists(ARC, max_size=24), changes=st.lists(CHANGE, max_size=8), late=st.integers(0, 255))
@settings(deadline=None, max_examples=examples(80))
def test_any_changes(
    first: int, least: int, start: list[Arc], changes: list[tuple[bool, list[Arc]]], late: int
) -> None:
    """Looked at when they are made, or after others, with vertices numbered anew in between."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local_change, "FIRST_STEPS", first)
        patched.setattr(local_change, "LEAST_STEPS", least)
        patched.setattr(closure_graph, "FORGET", -40)
        graph = ClosureGraph()
        graph.insert(as_array(start))
        arcs = set(start)
        unseen = []
        for number, (comes, some) in enumerate(changes):
            before, version = closure(arcs), graph.version
            changed(graph, comes, some)
            arcs = arcs | set(some) if comes else arcs - set(some)
            unseen.append((graph.changes_between(version, graph.version), before, closure(arcs)))
            if not late >> number & 1:
                assert_looked_at(*unseen.pop())
        for each in unseen:
            assert_looked_at(*each)


def assert_looked_at(change: closure_change.ClosureChange, before: set[Arc], after: set[Arc]) -> None:
    if len(before) % 2:
        assert_counted(change, before, after)
    assert as_set(change.pairs()[0]) == after - before
    assert as_set(change.pairs()[1]) == before - after
    assert_counted(change, before, after)


@given(st.lists(ARC, max_size=24), st.lists(st.tuples(st.booleans(), ARC), max_size=6))
@settings(deadline=None)
def test_both_at_once(start: list[Arc], several: list[tuple[bool, Arc]]) -> None:
    """Arcs that come and arcs that go in one change, looked at together."""
    graph = ClosureGraph()
    graph.insert(as_array(start))
    arcs = set(start)
    before, version = closure(arcs), graph.version
    for comes, arc in several:
        changed(graph, comes, [arc])
        arcs = arcs | {arc} if comes else arcs - {arc}
    assert_looked_at(graph.changes_between(version, graph.version), before, closure(arcs))


def test_single_arcs_of_a_larger_graph_are_found_without_looking_at_it_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trees both ways, chains and small circles: the change of any arc is worked out near it."""
    drawn = random.Random(1)
    arcs = [(i // 3, i) for i in range(1, 2_000)] + [(10_000 + i, 10_000 + i // 3) for i in range(1, 2_000)]
    arcs += [(20_000 + i, 20_000 + i + 1) for i in range(2_000) if i % 20 != 19]
    arcs += [(30_000 + i, 30_000 + (i + 1 if i % 10 != 9 else i - 9)) for i in range(1_000)]
    graph, whole = ClosureGraph(), ClosureGraph()
    for each in (graph, whole):
        each.insert(as_array(arcs))
    expected = []
    monkeypatch.setattr(closure_graph, "FEW", -1)
    picked = [drawn.choice(arcs) for _ in range(25)]
    for comes, arc in ((comes, arc) for arc in picked for comes in (False, True)):
        version = whole.version
        changed(whole, comes, [arc])
        change = whole.changes_between(version, whole.version)
        expected.append((as_set(change.pairs()[0]), as_set(change.pairs()[1])))
    monkeypatch.undo()

    def compared(*_: object) -> None:
        raise AssertionError("whole graphs are compared")

    monkeypatch.setattr(ClosureGraph, "reachability", compared)
    for (comes, arc), pairs in zip(
        ((c, arc) for arc in picked for c in (False, True)), expected, strict=True
    ):
        version = graph.version
        changed(graph, comes, [arc])
        change = graph.changes_between(version, graph.version)
        assert (as_set(change.pairs()[0]), as_set(change.pairs()[1])) == pairs
        assert any(map(len, pairs))
