"""ts.evaluate: what it takes, what it gives, what it refuses, and how it says what it did."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.datalog_batch.relations import Facts, frames_of, tuples_of

from tocsin import Program
from tocsin.datalog.spark.batch import evaluate as settings
from tocsin.errors import DerivationError, InputError, RuleError, UsageError
from tocsin.spark import evaluate

PATHS = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
.output path
"""


def test_a_program_from_a_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "paths.dl").write_text(PATHS + "arc(3, 4).")
    arcs = spark.createDataFrame([(1, 2), (2, 3), (1, 2)], "a int, b short")
    found = evaluate(tmp_path / "paths.dl", {"arc": arcs}, checkpoint=tmp_path / "kept")
    assert found["path"].dtypes == [("x", "bigint"), ("y", "bigint")]
    assert tuples_of(found["path"]) == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}
    assert found.sizes == {"path": 6}
    assert found.explain() == "path: in one worker, 6 tuples"
    assert list((tmp_path / "kept").rglob("*.parquet"))


TYPES = """
.decl whole(a: number, b: number, c: number, d: number)
.decl natural(a: unsigned, b: unsigned)
.decl real(a: float, b: float, c: float)
.decl text(a: symbol, b: symbol)
.decl flag()
.decl numbers(n: number) .decl sizes(n: unsigned, m: unsigned) .decl reals(f: float) .decl texts(s: symbol)
.decl on()
numbers(n) :- whole(a, b, c, d), (n = a ; n = b ; n = c ; n = d).
sizes(a, b) :- natural(a, b), a > b.
reals(f) :- real(a, b, c), (f = a ; f = b ; f = c).
texts(s) :- text(a, b), (s = a ; s = b).
on() :- flag(), !whole(1, 1, 1, 1).
"""


@pytest.mark.parametrize("one_worker", [0, 1_000])
def test_columns_of_every_type(spark: SparkSession, one_worker: int) -> None:
    program = Program.parse(TYPES)
    given = {
        "whole": spark.createDataFrame(
            [(1, -2, 3, Decimal(-(2**63)))], "a tinyint, b smallint, c int, d decimal(38,0)"
        ),
        "natural": spark.createDataFrame(
            [(7, Decimal(2**64 - 1)), (2, Decimal(3)), (9, Decimal(8))], "b bigint, a decimal(20,0)"
        ),
        "real": spark.createDataFrame([(0.5, -0.0, 7)], "a float, b double, c int"),
        "text": spark.sql("select cast('a' as varchar(3)) as x, 'B' collate UTF8_LCASE as y"),
        "flag": spark.range(2).select(),
    }
    found = evaluate(program, given, one_worker=one_worker)
    assert tuples_of(found["numbers"]) == {(1,), (-2,), (3,), (-(2**63),)}
    assert tuples_of(found["sizes"]) == {(2**64 - 1, 7), (3, 2)}
    assert found["sizes"].dtypes == [("n", "decimal(20,0)"), ("m", "decimal(20,0)")]
    assert sorted(map(str, (row.f for row in found["reals"].collect()))) == ["0.0", "0.5", "7.0"]
    assert tuples_of(found["texts"]) == {("a",), ("B",)}
    assert found["texts"].dtypes == [("s", "string")]
    assert (found["on"].count(), found["on"].columns) == (1, [])


BAD = [
    ("n int, s string", "(1, 'a'), (null, 'b')", "r.n: a row has no value"),
    ("n int, s string", "(1, null)", "r.s: a row has no value"),
    (
        "n decimal(38,0), s string",
        "(9223372036854775808, 'a')",
        "r.n: a row holds 9223372036854775808: out of",
    ),
    ("n int, s binary", "(1, x'00')", "r.s is symbol, and the DataFrame's column binary"),
    ("n double, s string", "(1, 'a')", "r.n is number, and the DataFrame's column double"),
    ("n decimal(9,2), s string", "(1, 'a')", "r.n is number, and the DataFrame's column decimal(9,2)"),
]


@pytest.mark.parametrize(("columns", "rows", "said"), BAD)
def test_columns_that_are_refused(spark: SparkSession, columns: str, rows: str, said: str) -> None:
    program = Program.parse(".decl r(n: number, s: symbol) .decl q(n: number) q(n) :- r(n, _).")
    names = ", ".join(each.split()[0] for each in columns.split(", "))
    kinds = ", ".join(f"cast({each.split()[0]} as {each.split()[1]})" for each in columns.split(", "))
    given = spark.sql(f"select {kinds} from values {rows} as t({names})").toDF(*names.split(", "))
    with pytest.raises(InputError) as raised:
        evaluate(program, {"r": given})
    assert str(raised.value).startswith(said)


def test_floats_and_texts_that_are_none(spark: SparkSession) -> None:
    program = Program.parse(
        ".decl f(x: float) .decl s(x: symbol) .decl u(x: unsigned) .decl q() q() :- f(_)."
    )
    for name, given, said in (
        ("f", "select double('NaN') as x", "f.x: a row is NaN, which no float here can be"),
        ("s", "select cast(x'ff' as string) as x", "s.x: a row is not valid UTF-8"),
        ("u", "select -1 as x", "u.x: a row holds -1: out of range"),
    ):
        with pytest.raises(InputError, match=said):
            evaluate(program, {name: spark.sql(given)})


def test_what_is_refused_before_a_job(spark: SparkSession) -> None:
    arcs = spark.createDataFrame([(1, 2)], "x int, y int")
    program = Program.parse(PATHS)
    with pytest.raises(UsageError, match=r"there is no relation 'arcs': the program declares arc, path"):
        evaluate(program, {"arcs": arcs})
    with pytest.raises(UsageError, match="arc is given as list: expected a Spark DataFrame"):
        evaluate(program, {"arc": [(1, 2)]})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="relations are DataFrames by name, not list"):
        evaluate(program, [arcs])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="arc is a stream"):
        evaluate(program, {"arc": spark.readStream.format("rate").load()})
    with pytest.raises(InputError, match="arc has 2 columns, and the DataFrame 1 column"):
        evaluate(program, {"arc": arcs.select("x")})
    with pytest.raises(UsageError, match="limit is a number of tuples"):
        evaluate(program, {"arc": arcs}, limit=-1)
    with pytest.raises(UsageError, match="one_worker is a number of tuples"):
        evaluate(program, {"arc": arcs}, one_worker=-1)
    with pytest.raises(InputError, match=r"no\.dl: cannot be read"):
        evaluate("no.dl", {})
    with pytest.raises(RuleError, match="there is no relation 'q'"):
        evaluate(Program.parse(".decl p(x: number) p(x) :- q(x)."), {})


FAILING = """
.decl p(x: number, y: number) .decl q(x: number) .decl w(s: symbol)
.decl f(x: float) .decl b(x: float, y: float) .decl r(x: number)
"""
RULES = {
    "r(z) :- p(x, y), z = x / y, !q(x).": "division by zero",
    "r(x) :- p(x, y), z = x / y, !q(z), !q(x).": "division by zero",
    "r(z) :- w(s), p(x, y), !q(x), z = to_number(s), z > y.": "to_number('x'): this text is not a number",
    "r(1) :- s = sum x : { f(x) }, s > 0.0, p(x1, _), !q(x1).": "the result is not a number",
    "r(1) :- b(x, y), x * y > 0.0, p(z, _), !q(z).": "the result is not a number",
}


@pytest.mark.parametrize(("one_worker", "rules"), [(0, [*RULES]), (1_000, [*RULES][:1])])
def test_what_has_no_value_is_an_error_where_all_else_holds(
    spark: SparkSession, one_worker: int, rules: list[str]
) -> None:
    infinite = float("inf")
    facts: Facts = {
        "p": [(1, 0), (3, 1)],
        "w": [("x",)],
        "f": [(infinite,), (-infinite,)],
        "b": [(infinite, 0.0)],
    }
    for rule in rules:
        program = Program.parse(FAILING + rule)
        with pytest.raises(DerivationError) as raised:
            evaluate(program, frames_of(spark, program, facts), one_worker=one_worker)
        assert (raised.value.reason, raised.value.rule) == (RULES[rule], rule)
    guarded = Program.parse(
        FAILING + "r(z) :- p(x, y), z = x / y, !q(x).\nr(9) :- p(x, y), y != 0, x / y > 2."
    )
    found = evaluate(guarded, frames_of(spark, guarded, {**facts, "q": [(1,)]}), one_worker=one_worker)
    assert tuples_of(found["r"]) == {(3,), (9,)}


def test_the_limit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program.parse(".decl n(x: number) n(0). n(x + 1) :- n(x).")
    with pytest.raises(DerivationError, match="more than 1,000 tuples are derived, which is the limit"):
        evaluate(program, {}, limit=1_000)
    with pytest.raises(DerivationError, match="more than 3 tuples are derived, which is the limit"):
        evaluate(program, {}, limit=3, one_worker=0)
    monkeypatch.setattr("tocsin.datalog.spark.batch.semi_naive.MOST_ROUNDS", 2)
    with pytest.raises(DerivationError, match="no end after 2 rounds of recursion"):
        evaluate(program, {}, one_worker=0)


def test_rounds_whose_pieces_are_merged(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.datalog.spark.batch.semi_naive._FEW", 2)
    program = Program.parse("""
        .decl arc(x: number, y: number) .decl far(x: number, d: number)
        far(0, 0).
        far(y, d + 1) :- far(x, d), arc(x, y), d < 100.
    """)
    chain = spark.range(5).selectExpr("id as x", "id + 1 as y")
    found = evaluate(program, {"arc": chain}, one_worker=0)
    assert tuples_of(found["far"]) == {(each, each) for each in range(6)}
    assert found.explain() == "far: in 6 rounds, 6 tuples"


def test_what_derives_too_much_for_one_worker(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DERIVED_IN_ONE_WORKER", 50)
    program = Program.parse("""
        .decl a(x: number) .decl small(x: number) .decl pair(x: number, y: number) .decl last(x: number)
        small(x) :- a(x), x < 3.
        pair(x, y) :- a(x), a(y).
        last(x) :- small(x), n = count : { pair(x, _) }, n = 9.
    """)
    found = evaluate(program, {"a": spark.range(9)})
    assert tuples_of(found["last"]) == {(0,), (1,), (2,)}
    assert found.sizes == {"small": 3, "pair": 81, "last": 3}
    assert "pair: joined, 81 tuples" in found.explain()


def test_atoms_that_meet_in_a_computed_value_are_no_product(spark: SparkSession) -> None:
    program = Program.parse("""
        .decl a(x: number) .decl next(x: number, y: number)
        next(x, y) :- a(x), a(y), y = x + 1.
    """)
    found = evaluate(program, {"a": spark.range(3_000)}, one_worker=0, limit=3_000)
    assert found["next"].count() == 2_999


def test_a_located_program(spark: SparkSession) -> None:
    program = Program.parse("""
        .decl link(at: symbol, to: symbol) .decl near(to: symbol)
        near(y) :- link(@x, y).
    """)
    links = spark.createDataFrame([("here", "a"), ("there", "b")], "at string, to string")
    found = evaluate(program, {"link": links}, local="here")
    assert tuples_of(found["near"]) == {("a",)}
