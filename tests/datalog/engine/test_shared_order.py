"""Atoms with different conditions share one ordered index: a key may have tuples of some of them only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.datalog.engine.judged import Judged

from tocsin import Program

TEXT = """
.decl b(x: number, y: number)
.decl below(x: number, y: number)
.decl above(x: number, y: number)
below(x, y) :- b(x, x), b(y, 0), y <= x.
above(x, y) :- b(x, x), b(y, 0), y > x.
"""

pairs = st.tuples(st.integers(-2, 2), st.integers(-1, 1))


def test_a_key_of_another_atom_is_passed_over() -> None:
    judged = Judged(Program.parse(TEXT))
    judged.step("insert", "b", (-1, -1))
    judged.step("insert", "b", (1, 0))
    assert judged.engine.query("above") == [(-1, 1)]


@given(st.lists(st.tuples(st.booleans(), pairs), max_size=12))
def test_any_changes(changes: list[tuple[bool, tuple[int, int]]]) -> None:
    judged = Judged(Program.parse(TEXT))
    for insert, pair in changes:
        judged.step("insert" if insert else "delete", "b", pair)
