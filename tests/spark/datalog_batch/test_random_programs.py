"""Random programs, worked out by every strategy: what the obvious evaluator says, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.datalog_programs import INPUTS, REFUSED, Case, cases, facts, programs
from tests.spark.datalog_batch.relations import Facts, frames_of, tuples_of

from tocsin import Program
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.meaning import evaluate as obvious
from tocsin.errors import DerivationError, RuleError
from tocsin.spark import evaluate

FEW = settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@st.composite
def batches(draw: st.DrawFn, count: int) -> str:
    """Several programs over the same inputs as one, each a component of its own."""
    lines = [relation.declaration() for relation in INPUTS]
    for number in range(count):
        text = draw(programs())
        try:
            normal_program(check_program(text))
        except RuleError as error:
            assume(REFUSED not in error.reason)
            raise
        derived = text.splitlines()[len(INPUTS) :]
        lines += [f".comp Program{number} {{", *derived, "}", f".init p{number} = Program{number}"]
    return "\n".join(lines)


def check(spark: SparkSession, text: str, some: Facts, one_worker: int) -> None:
    program = Program.parse(text)
    try:
        wanted = obvious(program.checked, some)
    except DerivationError:
        with pytest.raises(DerivationError):
            evaluate(program, frames_of(spark, program, some), one_worker=one_worker)
        return
    found = evaluate(program, frames_of(spark, program, some), one_worker=one_worker)
    assert list(found) == program.outputs
    for name, frame in found.items():
        assert tuples_of(frame) == wanted[name], found.explain()
        assert found.sizes[name] == len(wanted[name])


@FEW
@given(batches(8), facts())
def test_in_one_worker(spark: SparkSession, text: str, some: Facts) -> None:
    check(spark, text, some, 1_000)


@FEW
@given(batches(2), facts())
def test_by_joins(spark: SparkSession, text: str, some: Facts) -> None:
    check(spark, text, some, 0)


TOGETHER = """
.decl e(x: number, y: number)
.decl k(x: number, y: number, s: symbol)
.decl d(a: number, b: number, n: number)
.decl m(a: number, n: number)
.decl p(x: number, y: number)
d(a, b, n) :- e(a, b), n = count : { e(b, a) }, !e(b, a).
m(a, n) :- e(a, b), n = min y : { k(b, y, _) }, !k(b, a, _).
p(1 / x, 1) :- s <= s, k(_, x, s), k(5, _, _).
p(n, y) :- k(_, _, s), n = to_number(s), e(n, y), !e(y, n).
p(x, n) :- e(x, _), n = min y : { k(_, y, _), 6 / y > x }, e(n, x), k(5, _, _).
p(x, n) :- k(_, x, _), z = 1 / x, n = count : { e(z, y), y > 0 }, e(x, _).
"""


FEWER = """
.decl e(x: number, y: number)
.decl k(x: number, y: number, s: symbol)
.decl d(a: number, b: number, n: number)
d(a, b, n) :- e(a, b), n = count : { e(b, a) }, !e(b, a).
d(1 / x, 1, 1) :- s <= s, k(_, x, s), k(5, _, _).
d(x, n, 2) :- e(x, _), n = max y : { k(_, y, _), 6 / y > x }, k(n, _, _).
"""


def test_a_few_by_joins(spark: SparkSession) -> None:
    check(spark, FEWER, {"e": [(1, 1), (2, 3), (1, 2)], "k": [(3, 2, "2"), (2, 3, "1")]}, 0)


@pytest.mark.slow
@pytest.mark.parametrize("one_worker", [0, 1_000])
@pytest.mark.parametrize(
    "k", [[(1, 0, "2"), (3, 2, "x")], [(5, 2, "2"), (5, 1, "1")], [(5, 0, "1")], [(1, 1, "x")]], ids=str
)
def test_negated_groups_and_values_that_there_are_none_of(
    spark: SparkSession, k: list[tuple[int, int, str]], one_worker: int
) -> None:
    without = [(1, 0, "2"), (3, 2, "x")]
    arcs = [] if k == without else [(1, 1), (2, 3), (1, 2)]
    check(spark, TOGETHER, {"e": arcs, "k": k}, one_worker)


@pytest.mark.slow
@settings(FEW, max_examples=150, derandomize=False)
@given(batches(1), facts(), st.sampled_from([0, 0, 8, 20]))
def test_by_whatever_is_chosen(spark: SparkSession, text: str, some: Facts, one_worker: int) -> None:
    check(spark, text, some, one_worker)


@pytest.mark.slow
@settings(FEW, max_examples=100, derandomize=False)
@given(cases(partial=True), st.sampled_from([0, 0, 8, 20]))
def test_values_that_there_are_none_of(spark: SparkSession, case: Case, one_worker: int) -> None:
    check(spark, case.text, case.facts, one_worker)
