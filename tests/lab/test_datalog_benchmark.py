"""The rule of UC written by hand, and a small run; figures are nobody's to assert."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.datalog import __main__ as benchmark
from benchmarks.datalog.bulk import constrained
from benchmarks.datalog.by_hand import CanUse
from benchmarks.datalog.semi_naive import semi_naive
from hypothesis import given
from hypothesis import strategies as st

from tocsin_lab.yield_index import can_use, flights, semi_naive_closure

PAIRS = st.tuples(st.integers(0, 2), st.integers(0, 2))
CHANGES = st.lists(st.tuples(st.booleans(), st.sampled_from(["near", "use", "request"]), PAIRS), max_size=40)


@given(CHANGES)
def test_what_is_written_by_hand_is_right(changes: list[tuple[bool, str, tuple[int, int]]]) -> None:
    hand = CanUse()
    stored: dict[str, set[tuple[int, int]]] = {"near": set(), "use": set(), "request": set()}
    before: set[tuple[int, int]] = set()
    for comes, relation, row in changes:
        reported = (hand.insert if comes else hand.delete)(relation, row)
        (stored[relation].add if comes else stored[relation].discard)(row)
        now = {(x, y) for x, z in stored["near"] & stored["use"] for w, y in stored["request"] if w == z}
        assert sorted(reported) == sorted(now - before if comes else before - now)
        assert set(hand.canuse) == now
        before = now


@given(st.lists(PAIRS, min_size=1, unique=True))
def test_semi_naive_evaluation_is_right(arcs: list[tuple[int, int]]) -> None:
    tails, heads = np.array(arcs, np.int32).T.copy()
    found = list(zip(*(column.tolist() for column in semi_naive(tails, heads, 3)), strict=True))
    assert sorted(found) == sorted(map(tuple, semi_naive_closure(np.array(arcs)).paths.tolist()))


def test_constraints_are_columns_that_are_compared() -> None:
    assert constrained(can_use(10, 100)) == 10 * (2 + 2 + 1)
    assert constrained(flights(10, 100)) == 10 * (2 + 4 + 1)


def test_a_small_run_prints_tables_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = benchmark.RESULTS.read_text() if benchmark.RESULTS.exists() else None
    assert benchmark.main(["--quick", "--rounds", "1"]) == 0
    assert (benchmark.RESULTS.read_text() if benchmark.RESULTS.exists() else None) == before
    shown = capsys.readouterr().out
    assert "| tuples that arrive one by one | 500 | 500 |" in shown
    assert "| tuples | 3,000 | 3,000 |" in shown
    assert "| arcs | 300 | 400 | 500 | 600 | 750 |" in shown
