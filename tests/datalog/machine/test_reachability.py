"""Graphs of some hundred vertices, whose rows have several words: answers beside Warshall's algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tocsin.datalog.machine.reachability import ROOM, Reachability


def warshall(tails: NDArray[np.int32], heads: NDArray[np.int32], vertices: int) -> NDArray[np.bool_]:
    """Which vertex reaches which."""
    reached = np.zeros((vertices, vertices), np.bool_)
    reached[tails, heads] = True
    for middle in range(vertices):
        reached |= np.outer(reached[:, middle], reached[middle])
    return reached


@pytest.mark.parametrize("room", [ROOM, 700, 0], ids=["all rows", "windows", "no rows"])
@pytest.mark.parametrize("arcs", [0, 60, 150, 200, 260, 2_000])
def test_every_answer(arcs: int, room: int) -> None:
    vertices = 201
    rng = np.random.default_rng(arcs)
    tails, heads = rng.integers(vertices, size=(2, arcs)).astype(np.int32)
    graph = Reachability(tails, heads, vertices, room)
    expected = warshall(tails, heads, vertices)
    assert graph.count == expected.sum()
    words = rng.permutation(10 * vertices)[:vertices]
    sources, targets = np.nonzero(expected)
    assert sorted(map(tuple, graph.pairs(words).tolist())) == sorted(
        zip(words[sources].tolist(), words[targets].tolist(), strict=True)
    )
    for vertex in range(vertices):
        one = np.array([vertex], np.int32)
        assert np.array_equal(np.sort(graph.reached_from(one)), np.flatnonzero(expected[vertex]))
        assert np.array_equal(np.sort(graph.turned.reached_from(one)), np.flatnonzero(expected[:, vertex]))
    for source, target in rng.integers(vertices, size=(300, 2)).tolist():
        assert graph.holds(source, target) == expected[source, target]
        assert graph.turned.holds(target, source) == expected[source, target]


def test_counting_by_windows_and_by_searching_agree() -> None:
    rng = np.random.default_rng(7)
    vertices = 3_000
    tails, heads = rng.integers(vertices, size=(2, 4_000)).astype(np.int32)
    counted = {room: Reachability(tails, heads, vertices, room).count for room in (ROOM, 20_000, 0)}
    assert len(set(counted.values())) == 1


def test_a_vertex_that_came_later_reaches_nothing() -> None:
    graph = Reachability(np.array([0], np.int32), np.array([1], np.int32), 2)
    later = np.array([5], np.int32)
    assert not graph.holds(0, 5)
    assert graph.distance(5, 1) == 0
    assert graph.reached_from(later).size == graph.turned.reached_from(later).size == 0
    assert graph.after(later).tolist() == graph.turned.after(later).tolist() == [5]


@pytest.mark.parametrize("room", [ROOM, 0], ids=["rows", "no rows"])
@pytest.mark.parametrize(("shares", "piece"), [(1, 1), (2, 300), (3, 100_000)])
def test_shares_are_all_pairs_once(shares: int, piece: int, room: int) -> None:
    vertices = 120
    rng = np.random.default_rng(shares)
    tails, heads = rng.integers(vertices, size=(2, 150)).astype(np.int32)
    graph = Reachability(tails, heads, vertices, room)
    words = rng.permutation(10 * vertices)[:vertices]
    found: list[tuple[int, int]] = []
    for share in range(shares):
        for pairs in graph.pairs_of_share(words, share, shares, piece):
            assert len(pairs) <= max(piece, vertices)
            found += map(tuple, pairs.tolist())
    assert sorted(found) == sorted(map(tuple, graph.pairs(words).tolist()))
