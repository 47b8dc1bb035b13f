"""A trie filter as plain Python, and what must be true of every one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.text.kernels.trie import (
    HUNG,
    NO_TERM,
    PARENT,
    QUERY,
    ROW,
    TERM,
    TO_TABLE,
    Trie,
    find_in_table,
)
from tocsin.text.kernels.trie import children_of as children_between
from tocsin.text.kernels.trie import predicates_of as predicates_between


class Hung(NamedTuple):
    """A predicate node: its query, and whether something is left to check."""

    query: int
    to_check: bool


def children_of(trie: Trie, node: int) -> list[int]:
    return list(range(*children_between(trie.branch, node)))


def predicates_of(trie: Trie, node: int) -> list[int]:
    return list(range(*predicates_between(trie.branch, node)))


def find_child(trie: Trie, node: int, term: int) -> int:
    """The child of a branch node that has the term, or 0, as a search finds it."""
    if trie.branch[ROW * node + TERM] == NO_TERM:
        return int(trie.root_child[term])
    if is_table(trie, node):
        return int(find_in_table(trie.table, trie.branch, node, term))
    return next((child for child in children_of(trie, node) if trie.branch[ROW * child + TERM] == term), 0)


def is_table(trie: Trie, node: int) -> bool:
    """Whether the children of a branch node are found by hash."""
    return len(children_of(trie, node)) > TO_TABLE and trie.branch[ROW * node + TERM] != NO_TERM


def roots_of(trie: Trie) -> list[int]:
    return np.flatnonzero(trie.branch[TERM:-ROW:ROW] == NO_TERM).tolist()


def path_of(trie: Trie, node: int) -> tuple[int, ...]:
    """The terms from a root down to a branch node."""
    terms: list[int] = []
    while trie.branch[ROW * node + TERM] != NO_TERM:
        terms.insert(0, int(trie.branch[ROW * node + TERM]))
        node = int(trie.branch[ROW * node + PARENT])
    return tuple(terms)


def shape_of(trie: Trie) -> dict[tuple[int, tuple[int, ...]], set[Hung]]:
    """For each branch node, by its text group and the terms that lead to it, what hangs below."""
    shape: dict[tuple[int, tuple[int, ...]], set[Hung]] = {}
    for group in roots_of(trie):
        waiting = [group]
        while waiting:
            node = waiting.pop()
            marked = [int(trie.predicate[HUNG * each + QUERY]) for each in predicates_of(trie, node)]
            shape[group, path_of(trie, node)] = {Hung(number >> 1, bool(number & 1)) for number in marked}
            waiting.extend(children_of(trie, node))
    return shape


def check_invariants(trie: Trie, rarity: NDArray[np.float64] | None = None) -> None:
    """Assert what must be true; with the weights by which its paths were made, also their order."""
    roots = roots_of(trie)
    assert roots == list(range(len(roots)))
    in_table: set[int] = set()
    branches: list[int] = []
    predicates: list[int] = []
    waiting = list(roots)
    while waiting:
        node = waiting.pop(0)
        branches.append(node)
        children, hung = children_of(trie, node), predicates_of(trie, node)
        terms = [int(trie.branch[ROW * child + TERM]) for child in children]
        assert terms == sorted(set(terms))
        assert node in roots or children or hung, "a branch that leads nowhere"
        if is_table(trie, node):
            in_table.update(children)
        for child, term in zip(children, terms, strict=True):
            assert trie.branch[ROW * child + PARENT] == node
            assert find_child(trie, node, term) == child
            above = int(trie.branch[ROW * node + TERM])
            if rarity is not None and above != NO_TERM:
                assert rarity[above] >= rarity[term], "a rarer term below"
        queries = [int(trie.predicate[HUNG * each + QUERY]) >> 1 for each in hung]
        assert len(set(queries)) == len(queries), "a query twice below one branch"
        assert trie.is_indexed[queries].all()
        predicates += hung
        waiting += children
    assert {int(node) for node in trie.table if node} == in_table
    assert 2 * len(in_table) <= len(trie.table) or not in_table
    assert set(np.flatnonzero(trie.root_child).tolist()) == {
        int(trie.branch[ROW * child + TERM]) for root in roots for child in children_of(trie, root)
    }
    assert branches == list(range(len(trie.branch) // ROW - 1)), "level by level, without a gap"
    assert predicates == list(range(len(trie.predicate) // HUNG))
