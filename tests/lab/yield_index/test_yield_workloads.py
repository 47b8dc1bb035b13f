"""Workloads as section 6.2 describes them, and the closure by semi-naive evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import UsageError
from tocsin_lab.yield_index import can_use, directed_graph, flights, routing, semi_naive_closure, stored_at
from tocsin_lab.yield_index.yield_workloads import CITIES, FLIGHTS


def test_relations_have_as_many_tuples_as_asked_for_from_so_many_values() -> None:
    workload = flights(500, persons=50)
    assert {name: rows.shape for name, rows in workload.relations.items()} == {
        "friend": (500, 2),
        "city": (500, 2),
        "ticket": (500, 2),
    }
    assert workload.tuples == 1_500
    for name, second in (("friend", 50), ("city", CITIES), ("ticket", FLIGHTS)):
        rows = workload.relations[name]
        assert rows.min() >= 0
        assert rows[:, 0].max() < 50
        assert rows[:, 1].max() < second


def test_a_relation_of_one_column_has_no_more_tuples_than_values() -> None:
    located = routing(5_000, nodes=100).relations["located"]
    assert located.shape == (100, 1)


def test_more_tuples_than_there_can_be_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot be drawn"):
        can_use(26, values=5)
    assert len(can_use(25, values=5).relations["near"]) == 25


def test_the_halves_of_what_arrives() -> None:
    first, second = stored_at(11, nodes=9).halves()
    assert (len(first), len(second)) == (5, 6)


def test_programs_declare_what_they_use() -> None:
    text = directed_graph(10, vertices=20, sources=5).program
    assert text.splitlines() == [
        ".decl arc(c0: number, c1: number)",
        ".decl path(c0: number, c1: number)",
        ".input arc",
        ".output path",
        "path(x, y) :- arc(x, y).",
        "path(x, y) :- arc(x, z), path(z, y).",
    ]
    assert "reserve(0, y) :- friend(0, x), city(0, c), city(x, c), ticket(x, y)." in flights(5).program


def test_arcs_start_at_some_of_the_vertices() -> None:
    arcs = directed_graph(600, vertices=100, sources=10).relations["arc"]
    assert len(np.unique(arcs[:, 0])) == 10
    assert len(np.unique(arcs[:, 1])) > 90


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_semi_naive_gives_the_closure(arcs: set[tuple[int, int]]) -> None:
    closure = set(arcs)
    while more := {(x, y) for x, z in arcs for other, y in closure if other == z} - closure:
        closure |= more
    found = semi_naive_closure(np.array(sorted(arcs), np.int64).reshape(-1, 2))
    assert list(map(tuple, found.paths.tolist())) == sorted(closure)
    assert found.entry_accesses >= found.derived
