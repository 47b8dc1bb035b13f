"""Transitive closures of every form, closed in all workers, in parts, or in rounds."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from tests.spark.datalog_batch.relations import frames_of, tuples_of

from tocsin import Program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.meaning import evaluate as obvious
from tocsin.datalog.spark.batch import evaluate as settings
from tocsin.spark import evaluate

PROGRAM = Program.parse("""
.decl arc(x: number, y: number)
.decl name(x: symbol, y: symbol)
.decl big(x: unsigned, y: unsigned)
.decl path(x: number, y: number)
.decl way(x: symbol, y: symbol)
.decl linked(x: unsigned, y: unsigned)
.decl same(x: number, y: number) eqrel
.decl round(x: number)
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
way(x, y) :- name(x, y).
way(x, y) :- way(x, z), way(z, y).
linked(x, y) :- big(x, y).
linked(x, y) :- linked(y, x).
linked(x, y) :- linked(x, z), linked(z, y).
same(x, y) :- arc(x, y), x < y.
round(x) :- path(x, x).
""")


def arcs(seed: int) -> dict[str, list[Tuple]]:
    draw = random.Random(seed)
    pairs = [(draw.randrange(12), draw.randrange(12)) for _ in range(14)] + [
        (100, 101),
        (200, 201),
        (201, 200),
    ]
    return {
        "arc": list(pairs),
        "name": [(f"é{x}", f"é{y}") for x, y in pairs],
        "big": [(2**64 - 1 - x, 2**64 - 1 - y) for x, y in pairs],
        "way": [("a", "é3"), ("é1", "b")],
        "same": [(100, 200)],
    }


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (1_000, "closed in all workers"),
        pytest.param(30, "parts, from", marks=pytest.mark.slow),
        pytest.param(2, "path: in", marks=pytest.mark.slow),
    ],
)
def test_closures(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most: int, said: str) -> None:
    monkeypatch.setattr(settings, "ARCS", most)
    given = arcs(most)
    found = evaluate(PROGRAM, frames_of(spark, PROGRAM, given), one_worker=0)
    wanted = obvious(PROGRAM.checked, given)
    for name in PROGRAM.outputs:
        assert tuples_of(found[name]) == wanted[name], (name, found.explain())
    assert said in found.explain()


def test_arcs_that_no_worker_takes_all(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ARCS", 40)
    program = Program.parse(""".decl next(x: symbol, y: symbol) .decl same(x: symbol, y: symbol) eqrel
        same(x, y) :- next(x, y).""")
    rows = spark.range(60).selectExpr("concat('a', id) as x", "concat('a', if(id % 6 = 5, id, id + 1)) as y")
    found = evaluate(program, {"next": rows}, one_worker=0)
    assert "same: closed in 11 parts, from 110 arcs, 360 tuples" in found.explain()
    places = range(60)
    wanted = {(f"a{x}", f"a{y}") for x in places for y in places if x // 6 == y // 6}
    assert tuples_of(found["same"]) == wanted


def test_a_large_cycle_comes_from_all_workers(spark: SparkSession) -> None:
    program = Program.parse("""
        .decl arc(x: number, y: number) .decl path(x: number, y: number)
        path(x, y) :- arc(x, y). path(x, y) :- path(x, z), arc(z, y).
    """)
    numbers = spark.range(300)
    cycle = numbers.selectExpr("id as x", "(id + 1) % 300 as y")
    found = evaluate(program, {"arc": cycle}, one_worker=0)
    assert found.explain() == "path: closed in all workers, from 300 arcs, 90,000 tuples"
    assert found["path"].distinct().count() == 90_000
