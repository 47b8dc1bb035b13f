from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.strata import components_in_order

NODES = "abcdefg"
graphs = st.dictionaries(st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=4))


def reachable(edges: dict[str, list[str]], start: str) -> set[str]:
    """All that one step or more leads to."""
    found: set[str] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(edges.get(node, ()))
    return found


@given(graphs)
def test_components_are_what_reaches_one_another_and_stand_behind_what_they_reach(
    edges: dict[str, list[str]],
) -> None:
    nodes = {*edges, *(target for targets in edges.values() for target in targets)}
    components = components_in_order(edges)
    assert sorted(node for members in components for node in members) == sorted(nodes)
    behind: set[str] = set()
    for members in components:
        for node in members:
            reached = reachable(edges, node)
            assert {
                other for other in nodes if other in reached and node in reachable(edges, other)
            } <= members
            assert members - {node} <= reached
            assert reached <= behind | members
        behind |= members


def test_a_long_chain_and_a_large_circle() -> None:
    many = 100_000
    chain = {str(number): [str(number + 1)] for number in range(many)}
    assert len(components_in_order(chain)) == many + 1
    circle = {**chain, str(many): ["0"]}
    assert components_in_order(circle) == (frozenset(circle),)


def test_the_strata_of_a_program() -> None:
    program = check_program(
        """
        .decl a(x: number)
        .decl b(x: number)
        .decl c(x: number)
        .decl d(x: number)
        .decl e(x: number)
        e(x) :- d(x), !b(x).
        c(x) :- b(x).
        b(x) :- c(x) ; a(x).
        d(n) :- n = count : { c(_) }.
        """
    )
    assert program.strata == tuple(map(frozenset, ["a", "bc", "d", "e"]))
