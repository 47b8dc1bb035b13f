"""Nodes are found by their children as a dictionary finds them, also when there are many and few rooms."""

from __future__ import annotations

import random

import numpy as np

from tocsin.conditions.kernels.shared_nodes import CHILDREN, NODES, SharedNodes, intern, no_nodes, with_room


def interned(nodes: SharedNodes, children: tuple[int, ...]) -> int:
    return intern(nodes, np.array(children, np.int32), 0, len(children))


def test_against_a_dictionary() -> None:
    rng = random.Random(7)
    nodes = no_nodes(50)
    expected: dict[tuple[int, ...], int] = {}
    for _ in range(5_000):
        children = tuple(sorted(rng.sample(range(2, 102), rng.choice([2, 2, 2, 3, 9]))))
        nodes = with_room(nodes, 1, len(children))
        assert interned(nodes, children) == expected.setdefault(children, 51 + len(expected))
    assert nodes.size[NODES] == 51 + len(expected)
    assert nodes.size[CHILDREN] == sum(map(len, expected))
    for children, node in expected.items():
        begin, end = nodes.child_start[node : node + 2]
        assert nodes.child[begin:end].tolist() == list(children)


def test_a_hash_alone_is_not_enough() -> None:
    """A known node that has the same hash but other children, or fewer, is another node."""
    nodes = with_room(no_nodes(5), 3, 6)
    first = interned(nodes, (2, 4))
    nodes.child[nodes.child_start[first]] = 3
    second = interned(nodes, (2, 4))
    assert second == first + 1
    nodes.child_start[second + 1] -= 1
    assert interned(nodes, (2, 4)) == second + 1
