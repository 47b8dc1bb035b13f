"""Closures under random changes give what the obvious definition gives, whatever is asked and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.datalog.machine import ClosureGraph, closure_change, closure_graph
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.reachability import ROOM

Arc = tuple[int, int]

WORDS = [0, 1, -1, 7, 2**62, -(2**63), 12, 13, 14]
ARC = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS))
CHANGE = st.tuples(st.booleans(), st.lists(ARC, max_size=6))


def closure(arcs: Iterable[Arc]) -> set[Arc]:
    """By the definition: pairs are joined until no new one comes."""
    pairs = set(arcs)
    while True:
        more = {(x, z) for x, y in pairs for also, z in pairs if y == also} - pairs
        if not more:
            return pairs
        pairs |= more


def distances(arcs: set[Arc]) -> dict[Arc, int]:
    """By the definition: paths get longer by one arc at a time, and the first from here to there counts."""
    found: dict[Arc, int] = {}
    ends, length = set(arcs), 1
    while ends:
        found |= dict.fromkeys(ends, length)
        ends = {(x, z) for x, y in ends for also, z in arcs if y == also} - found.keys()
        length += 1
    return found


def as_array(arcs: Iterable[Arc]) -> np.ndarray:
    return np.array(list(arcs), np.int64).reshape(-1, 2)


def as_set(pairs: np.ndarray) -> set[Arc]:
    listed = [(x, y) for x, y in pairs.tolist()]
    assert len(set(listed)) == len(listed), "a pair stands there twice"
    return set(listed)


def changed(graph: ClosureGraph, comes: bool, arcs: list[Arc]) -> None:
    if comes:
        graph.insert(as_array(arcs))
    else:
        graph.delete(as_array(arcs))


def assert_says(graph: ClosureGraph, arcs: set[Arc]) -> None:
    """Every question is answered as the definition answers it."""
    pairs, lengths = closure(arcs), distances(arcs)
    assert as_set(graph.arcs()) == arcs
    assert as_set(graph.pairs()) == pairs
    assert graph.count() == len(pairs)
    for x in WORDS:
        assert as_set(graph.lookup((0,), (x,))) == {(a, b) for a, b in pairs if a == x}
        assert as_set(graph.lookup((1,), (x,))) == {(a, b) for a, b in pairs if b == x}
        for y in WORDS:
            assert graph.holds(x, y) == ((x, y) in pairs)
            assert graph.distance(x, y) == lengths.get((x, y), 0)
    words = np.array(sorted({end for arc in arcs for end in arc}), np.int64)
    components = graph.now.condensation.component[graph._vertices.find(words)]
    number = dict(zip(words.tolist(), components.tolist(), strict=True))
    for x in number:
        for y in number:
            together = x == y or ((x, y) in pairs and (y, x) in pairs)
            assert (number[x] == number[y]) == together
    assert all(number[tail] >= number[head] for tail, head in arcs)


def assert_counted(change: ClosureChange, before: set[Arc], after: set[Arc]) -> None:
    """Whether something changed, and how much, is told as it is."""
    assert change.any[0] == bool(after - before)
    assert change.any[1] == bool(before - after)
    assert change.counts[0] == len(after - before)
    assert change.counts[1] == len(before - after)


@pytest.fixture(autouse=True, scope="module")
def _whole_graphs() -> Iterator[None]:
    """Changes are worked out from whole graphs here; test_local_change.py has those found near their arcs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_graph, "FEW", -1)
        yield


ANY_ROOM = pytest.mark.parametrize("room", [ROOM, 1, 0], ids=["all rows", "windows", "no rows"])


@ANY_ROOM
@given(changes=st.lists(CHANGE, max_size=8))
@settings(deadline=None)
def test_after_any_changes(room: int, changes: list[tuple[bool, list[Arc]]]) -> None:
    graph = ClosureGraph(room)
    arcs: set[Arc] = set()
    assert_says(graph, arcs)
    for comes, some in changes:
        changed(graph, comes, some)
        arcs = arcs | set(some) if comes else arcs - set(some)
        assert_says(graph, arcs)


@ANY_ROOM
@given(changes=st.lists(CHANGE, max_size=8), spans=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8))))
@settings(deadline=None)
def test_changes_looked_at_late(
    room: int, changes: list[tuple[bool, list[Arc]]], spans: list[tuple[int, int]]
) -> None:
    graph = ClosureGraph(room)
    versions, closures = [graph.version], [closure(())]
    arcs: set[Arc] = set()
    for comes, some in changes:
        changed(graph, comes, some)
        arcs = arcs | set(some) if comes else arcs - set(some)
        versions.append(graph.version)
        closures.append(closure(arcs))
    for one, other in spans:
        first, last = sorted((min(one, len(changes)), min(other, len(changes))))
        change = graph.changes_between(versions[first], versions[last])
        assert_counted(change, closures[first], closures[last])
        assert as_set(change.pairs()[0]) == closures[last] - closures[first]
        assert as_set(change.pairs()[1]) == closures[first] - closures[last]
        assert_counted(change, closures[first], closures[last])
        looked_at = graph.changes_between(versions[first], versions[last])
        assert as_set(looked_at.pairs()[0]) == closures[last] - closures[first]
        assert_counted(looked_at, closures[first], closures[last])


@ANY_ROOM
@given(changes=st.lists(CHANGE, max_size=8))
@settings(deadline=None)
def test_changes_looked_at_at_once(room: int, changes: list[tuple[bool, list[Arc]]]) -> None:
    graph = ClosureGraph(room)
    arcs: set[Arc] = set()
    for comes, some in changes:
        before, version = closure(arcs), graph.version
        changed(graph, comes, some)
        arcs = arcs | set(some) if comes else arcs - set(some)
        change = graph.changes_between(version, graph.version)
        assert as_set(change.pairs()[1]) == before - closure(arcs)
        assert as_set(change.pairs()[0]) == closure(arcs) - before


@given(changes=st.lists(CHANGE, max_size=8))
@settings(deadline=None)
def test_vertices_forgotten_between_a_change_and_a_look(changes: list[tuple[bool, list[Arc]]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_graph, "FORGET", -100)
        graph = ClosureGraph()
        arcs: set[Arc] = set()
        expected = []
        for comes, some in changes:
            before, version = closure(arcs), graph.version
            changed(graph, comes, some)
            arcs = arcs | set(some) if comes else arcs - set(some)
            expected.append((graph.changes_between(version, graph.version), before, closure(arcs)))
            assert_says(graph, arcs)
        for change, earlier, later in expected:
            assert as_set(change.pairs()[0]) == later - earlier
            assert as_set(change.pairs()[1]) == earlier - later
        assert_says(graph, arcs)


@ANY_ROOM
@given(changes=st.lists(CHANGE, max_size=8))
@settings(deadline=None)
def test_counts_of_many_arcs(room: int, changes: list[tuple[bool, list[Arc]]]) -> None:
    """As many arcs as there may be, each is one too many to be asked for itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(closure_change, "FEW", 0)
        graph = ClosureGraph(room)
        arcs: set[Arc] = set()
        for comes, some in changes:
            before, version = closure(arcs), graph.version
            changed(graph, comes, some)
            arcs = arcs | set(some) if comes else arcs - set(some)
            assert_counted(graph.changes_between(version, graph.version), before, closure(arcs))


def test_a_change_is_counted_without_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    def work_out(*_: object) -> None:
        raise AssertionError("the pairs are worked out")

    monkeypatch.setattr(closure_change, "changed_pairs", work_out)
    length = 50_000
    graph = ClosureGraph()
    version = graph.version
    graph.insert(np.stack([np.arange(length), np.arange(1, length + 1)], axis=1))
    change = graph.changes_between(version, graph.version)
    assert change.any[0]
    assert not change.any[1]
    assert change.counts[0] == length * (length + 1) // 2
    assert change.counts[1] == 0


def test_a_stream_of_new_vertices_takes_no_more_room() -> None:
    graph = ClosureGraph()
    for first in range(0, 20_000, 100):
        some = as_array((first + i, first + i + 1) for i in range(99))
        graph.insert(some)
        assert graph.count() == 99 * 100 // 2
        graph.delete(some)
    assert graph.count() == 0
    assert graph.now.vertices < 3_000


def test_a_long_path() -> None:
    length = 100_000
    graph = ClosureGraph()
    graph.insert(np.stack([np.arange(length), np.arange(1, length + 1)], axis=1))
    assert graph.count() == length * (length + 1) // 2
    assert graph.distance(0, length) == length
    assert not graph.holds(length, 0)
    version = graph.version
    graph.insert(as_array([(length, length + 1)]))
    change = graph.changes_between(version, graph.version)
    assert np.array_equal(np.sort(change.pairs()[0][:, 0]), np.arange(length + 1))
    assert set(change.pairs()[0][:, 1].tolist()) == {length + 1}
    assert len(change.pairs()[1]) == 0


def test_one_large_cycle() -> None:
    length = 2_000
    graph = ClosureGraph()
    version = graph.version
    graph.insert(np.stack([np.arange(length), (np.arange(length) + 1) % length], axis=1))
    assert graph.count() == length * length
    assert len(graph.changes_between(version, graph.version).pairs()[0]) == length * length
    version = graph.version
    graph.delete(as_array([(length - 1, 0)]))
    change = graph.changes_between(version, graph.version)
    assert len(change.pairs()[1]) == length * (length + 1) // 2
    assert len(change.pairs()[0]) == 0


def test_an_arc_that_another_path_stands_in_for_changes_nothing() -> None:
    graph = ClosureGraph()
    graph.insert(as_array((i, i + 1) for i in range(50_000)))
    version = graph.version
    graph.insert(as_array([(10, 40_000)]))
    with_both = graph.version
    graph.delete(as_array([(10, 40_000)]))
    for first, last in ((version, with_both), (with_both, graph.version), (version, graph.version)):
        change = graph.changes_between(first, last)
        assert len(change.pairs()[0]) == len(change.pairs()[1]) == 0
