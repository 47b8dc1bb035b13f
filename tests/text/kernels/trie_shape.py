"""A trie filter as plain Python, and what must be true of every one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.text.kernels.trie import (
    BRANCH,
    BRANCHES_FREE,
    BRANCHES_LIVE,
    BRANCHES_MADE,
    CHILDREN,
    FIRST_CHILD,
    FIRST_PREDICATE,
    IN_TABLE,
    NEXT,
    NEXT_OF_QUERY,
    NO_TERM,
    PARENT,
    PREDICATES_FREE,
    PREDICATES_LIVE,
    PREDICATES_MADE,
    PREVIOUS,
    QUERY,
    ROW,
    TERM,
    TO_TABLE,
    Trie,
    find_child,
)


class Hung(NamedTuple):
    """A predicate node: its query, and whether something is left to check."""

    query: int
    to_check: bool


def children_of(trie: Trie, node: int) -> list[int]:
    chain = []
    child = abs(int(trie.branch[ROW * node + FIRST_CHILD]))
    while child:
        chain.append(child)
        child = int(trie.branch[ROW * child + NEXT])
    return chain


def predicates_of(trie: Trie, node: int) -> list[int]:
    chain = []
    predicate = int(trie.branch[ROW * node + FIRST_PREDICATE])
    while predicate:
        chain.append(predicate)
        predicate = int(trie.predicate[ROW * predicate + NEXT])
    return chain


def is_table(trie: Trie, node: int) -> bool:
    """Whether the children of a branch node are found by hash."""
    return bool(trie.branch[ROW * node + FIRST_CHILD] < 0)


def path_of(trie: Trie, node: int) -> tuple[int, ...]:
    """The terms from a root down to a branch node."""
    terms: list[int] = []
    while trie.branch[ROW * node + TERM] != NO_TERM:
        terms.insert(0, int(trie.branch[ROW * node + TERM]))
        node = int(trie.branch_upkeep[ROW * node + PARENT])
    return tuple(terms)


def shape_of(trie: Trie) -> dict[tuple[int, tuple[int, ...]], set[Hung]]:
    """For each branch node, by its text group and the terms that lead to it, what hangs below."""
    shape: dict[tuple[int, tuple[int, ...]], set[Hung]] = {}
    for group, root in enumerate(trie.root):
        waiting = [int(root)]
        while waiting:
            node = waiting.pop()
            marked = [int(trie.predicate[ROW * each + QUERY]) for each in predicates_of(trie, node)]
            shape[group, path_of(trie, node)] = {Hung(number >> 1, bool(number & 1)) for number in marked}
            waiting.extend(children_of(trie, node))
    return shape


def check_invariants(trie: Trie, rarity: NDArray[np.float64] | None = None) -> None:
    """Assert what must be true; with the weights by which its paths were made, also their order."""
    roots = [int(root) for root in trie.root]
    live: set[int] = set()
    hung: dict[int, set[int]] = {}
    in_table: set[int] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        live.add(node)
        children = children_of(trie, node)
        assert len(children) == trie.branch_upkeep[ROW * node + CHILDREN]
        terms = [int(trie.branch[ROW * child + TERM]) for child in children]
        assert len(set(terms)) == len(terms)
        if node not in roots:
            assert children or trie.branch[ROW * node + FIRST_PREDICATE] != 0, "a branch that leads nowhere"
            assert is_table(trie, node) or len(children) <= TO_TABLE
            assert not is_table(trie, node) or len(children) > TO_TABLE
            if is_table(trie, node):
                in_table.update(children)
        else:
            assert not is_table(trie, node)
        for previous, child, term in zip([0, *children], children, terms, strict=False):
            assert trie.branch_upkeep[ROW * child + PARENT] == node
            assert trie.branch_upkeep[ROW * child + PREVIOUS] == previous
            assert find_child(trie, node, term) == child
            above = int(trie.branch[ROW * node + TERM])
            if rarity is not None and above != NO_TERM:
                assert rarity[above] >= rarity[term], "a rarer term below"
        chain = predicates_of(trie, node)
        for previous, predicate in zip([0, *chain], chain, strict=False):
            assert trie.predicate_upkeep[ROW * predicate + BRANCH] == node
            assert trie.predicate_upkeep[ROW * predicate + PREVIOUS] == previous
            query = int(trie.predicate[ROW * predicate + QUERY]) >> 1
            hung.setdefault(query, set()).add(predicate)
        queries = [int(trie.predicate[ROW * each + QUERY]) >> 1 for each in chain]
        assert len(set(queries)) == len(queries), "a query twice below one branch"
        waiting.extend(children)
    assert {int(node) for node in trie.table if node} == in_table
    assert trie.state[IN_TABLE] == len(in_table)
    assert 2 * len(in_table) <= len(trie.table) or not in_table
    assert {int(term) for term in np.flatnonzero(trie.root_child)} == {
        int(trie.branch[ROW * child + TERM]) for root in roots for child in children_of(trie, root)
    }
    for query in range(len(trie.first_of_query)):
        assert _chain_of_query(trie, query) == hung.get(query, set())
    _check_rows(trie, live, {predicate for some in hung.values() for predicate in some})


def _chain_of_query(trie: Trie, query: int) -> set[int]:
    found: set[int] = set()
    predicate = int(trie.first_of_query[query])
    while predicate > 0:
        assert predicate not in found
        found.add(predicate)
        predicate = int(trie.predicate_upkeep[ROW * predicate + NEXT_OF_QUERY])
    return found


def _check_rows(trie: Trie, branches: set[int], predicates: set[int]) -> None:
    """Every row is in use, and there is no room to spare."""
    assert branches == set(range(len(trie.branch) // ROW))
    assert predicates | {0} == set(range(len(trie.predicate) // ROW))
    assert trie.state[[BRANCHES_MADE, BRANCHES_LIVE]].tolist() == [len(branches)] * 2
    assert trie.state[[PREDICATES_MADE, PREDICATES_LIVE]].tolist() == [len(predicates) + 1, len(predicates)]
    assert trie.state[[BRANCHES_FREE, PREDICATES_FREE]].tolist() == [0, 0]
