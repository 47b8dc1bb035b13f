"""Steps outside the kernels take a batch in pieces: what has no result in between is no error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tocsin
from tocsin.datalog.language import Type
from tocsin.datalog.machine import Symbols, TupleCode
from tocsin.datalog.machine.normal_form import AggregateRule
from tocsin.datalog.machine.python_steps import AggregateStep, Derivations
from tocsin.errors import DerivationError

SYMBOLS = Symbols()
ORIGIN = TupleCode("o", [Type.NUMBER, Type.FLOAT], SYMBOLS)
HEAD = TupleCode("h", [Type.NUMBER, Type.FLOAT], SYMBOLS)


def take(step: AggregateStep, *changes: tuple[int, float, int]) -> list[tuple[tuple[object, ...], int]]:
    """What comes of values of groups that came (1) or went (-1): tuples of the head, each with its sign."""
    rows = ORIGIN.rows([(group, value) for group, value, _ in changes])
    signs = np.array([sign for *_, sign in changes], np.int64)
    found: Derivations = step.take(rows, signs, np.zeros(len(rows), np.int64))
    return list(zip(HEAD.decode_rows(found.rows), found.signs.tolist(), strict=True))


def test_a_group_without_a_result_has_none_until_its_values_change() -> None:
    step = AggregateStep(AggregateRule("h", "o", 1, "sum", Type.FLOAT), SYMBOLS, HEAD)
    assert take(step, (1, math.inf, 1), (2, 0.5, 1)) == [((1, math.inf), 1), ((2, 0.5), 1)]
    assert take(step, (1, -math.inf, 1)) == [((1, math.inf), -1)]
    assert [error.reason for error in step.failing.values()] == ["the result is not a number"]
    assert take(step, (1, 3.0, 1)) == []
    assert take(step, (1, math.inf, -1)) == [((1, -math.inf), 1)]
    assert not step.failing


def test_a_group_without_a_result_may_go() -> None:
    step = AggregateStep(AggregateRule("h", "o", 1, "mean", Type.FLOAT), SYMBOLS, HEAD)
    assert take(step, (1, math.inf, 1), (1, -math.inf, 1)) == []
    assert step.failing
    assert take(step, (1, math.inf, -1), (1, -math.inf, -1)) == []
    assert not step.failing
    assert take(step, (1, 2.0, 1)) == [((1, 2.0), 1)]


def test_a_sum_beyond_all_floats_is_infinite_and_comes_back() -> None:
    step = AggregateStep(AggregateRule("h", "o", 1, "sum", Type.FLOAT), SYMBOLS, HEAD)
    assert take(step, (1, 1.5e308, 1), (1, 1.6e308, 1)) == [((1, math.inf), 1)]
    assert take(step, (1, 1.5e308, -1)) == [((1, math.inf), -1), ((1, 1.6e308), 1)]
    assert take(step, (2, -1.5e308, 1), (2, -1.6e308, 1)) == [((2, -math.inf), 1)]


SUMS = """
.decl f(i: number, x: float)
.decl g(i: number, x: float)
.decl both(i: number, x: float)
.decl s(x: float)
both(i, x) :- f(i, x).
both(i, x) :- g(i, x).
s(sum x : { both(_, x) }).
"""


@pytest.mark.parametrize(("held", "other"), ["fg", "gf"])
@pytest.mark.parametrize("place", [0, 6_000], ids=["first", "last"])
def test_a_large_change_is_judged_by_its_end(held: str, other: str, place: int) -> None:
    engine = tocsin.Program.parse(SUMS).start(facts={held: [(0, math.inf)]})
    coming = [("+", other, (i, 1.0)) for i in range(1, 6_000)]
    coming.insert(place, ("+", other, (-1, -math.inf)))
    engine.apply([("-", held, (0, math.inf)), *coming])
    assert engine.query("s") == [(-math.inf,)]
    with pytest.raises(DerivationError, match="not a number"):
        engine.insert(held, (7, math.inf))
    assert engine.query("s") == [(-math.inf,)]
