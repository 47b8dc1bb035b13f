"""ts.match on batch DataFrames: the rows, the columns, the names, and what is refused before a job starts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from tests.spark.answers import rows_of

import tocsin
import tocsin.spark as ts
from tocsin import Index
from tocsin.errors import (
    IndexFileError,
    InputError,
    TocsinWarning,
    UnsupportedError,
    UsageError,
)
from tocsin.spark.index_shipment import ship_rules

RULES = [
    ("adults", "age >= 18"),
    ("west", "state in ('CA', 'OR', 'WA')"),
    ("both", "age >= 18 and state = 'CA'"),
    ("nobody", "age > 1000"),
]


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    rows = [("a", 31, "CA", 0.5), ("b", 17, "OR", 1.5), ("c", None, "NY", 2.5), ("d", 40, None, 3.5)]
    return spark.createDataFrame(rows, "id string, age int, state string, weight double")


def test_free_text_matches_with_scores_as_it_does_without_spark(spark: SparkSession) -> None:
    texts = [
        ("a", "David Lee wins a golf trophy", 1),
        ("b", "golf, golf: é", 2),
        ("c", None, 1),
        ("d", "", 1),
    ]
    events = spark.createDataFrame(texts, "id string, body string, kind int")
    dictionary = tocsin.Dictionary.count([text or "" for _, text, _ in texts])
    rules = [
        ("accrue", "contains(body, '\"David Lee\", golf, trophy', 0.9)"),
        ("mixed", "kind = 1 and contains(body, 'gol* & !tennis', boolean)"),
        ("not", "not contains(body, 'golf')"),
        ("plain", "kind = 2"),
    ]
    index = tocsin.build(rules, dictionaries={"body": dictionary})
    found = {(row.id, row.rule, row.score) for row in ts.match(events, index, keep=["id"]).collect()}
    expected = {
        (texts[number][0], match.rule, match.score)
        for number, (_, body, kind) in enumerate(texts)
        for match in index.match({"body": body, "kind": kind})
    }
    assert found == expected
    assert {rule for _, rule, _ in found} == {"accrue", "mixed", "not", "plain"}


@pytest.fixture(scope="module")
def index() -> Index:
    return build(RULES)


def build(rules: list[tuple[str, str]]) -> Index:
    built = tocsin.build(rules)
    assert isinstance(built, Index)
    return built


FOUND = Counter([("a", "adults"), ("a", "west"), ("a", "both"), ("b", "west"), ("d", "adults")])


def test_matches_with_kept_columns(people: DataFrame, index: Index) -> None:
    found = ts.match(people, index, keep=["id"])
    assert found.dtypes == [("id", "string"), ("rule", "string"), ("score", "double")]
    assert rows_of(found) == FOUND


def test_keeps_nothing_unless_asked(people: DataFrame, index: Index) -> None:
    found = ts.match(people, index)
    assert found.columns == ["rule", "score"]
    assert rows_of(found) == Counter((rule,) for _, rule in FOUND.elements())


def test_kept_columns_come_in_the_order_asked_for(people: DataFrame, index: Index) -> None:
    found = ts.match(people, index, keep=("weight", "state", "age", "id"))
    assert found.columns == ["weight", "state", "age", "id", "rule", "score"]
    assert (3.5, None, 40, "d", "adults") in rows_of(found)


def test_path_gives_the_same_as_the_index(people: DataFrame, index: Index, tmp_path: Path) -> None:
    path = tmp_path / "my rules.tocsin"
    index.save(path)
    assert rows_of(ts.match(people, path, keep=["id"])) == FOUND
    assert rows_of(ts.match(people, str(path), keep=["id"])) == FOUND


def test_index_is_sent_once(spark: SparkSession, people: DataFrame, tmp_path: Path) -> None:
    index = build([("once", "age = 31")])
    index.save(tmp_path / "once.tocsin")
    before = len(spark.sparkContext.listFiles)
    shipped = [
        ship_rules(spark, index),
        ship_rules(spark, tmp_path / "once.tocsin"),
        ship_rules(spark, index),
    ]
    assert len(spark.sparkContext.listFiles) == before + 1
    assert len(set(shipped)) == 1
    assert shipped[0].open() is shipped[2].open()


def test_several_indexes_in_one_job(people: DataFrame, index: Index) -> None:
    other = build([("heavy", "weight > 2")])
    both = ts.match(people, index, keep=["id"]).union(ts.match(people, other, keep=["id"]))
    assert rows_of(both) == FOUND + Counter([("c", "heavy"), ("d", "heavy")])


def test_job_keeps_the_rules_it_was_made_with(people: DataFrame, index: Index, tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    index.save(path)
    found = ts.match(people, path, keep=["id"])
    path.write_bytes(b"somebody copied another file over it")
    assert rows_of(found) == FOUND


def test_damaged_file_is_refused_even_if_its_content_was_sent(
    people: DataFrame, index: Index, tmp_path: Path
) -> None:
    path = tmp_path / "rules.tocsin"
    index.save(path)
    ts.match(people, path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match=f"{re.escape(str(path))} is damaged"):
        ts.match(people, path)
    fresh = build([("fresh", "age = 77")])
    fresh.save(path)
    path.write_bytes(path.read_bytes()[:-1] + b"\xfe")
    with pytest.raises(IndexFileError, match=f"{re.escape(str(path))} is damaged"):
        ts.match(people, path)


@pytest.mark.parametrize("content", [None, b"", b"id,when\n1,true\n", "folder"])
def test_what_is_no_index_is_refused(people: DataFrame, tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "rules.tocsin"
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(IndexFileError, match=re.escape(str(path))):
        ts.match(people, path)


def test_other_arguments_are_refused(people: DataFrame, index: Index, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not NoneType"):
        ts.match(people, None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a Spark DataFrame, not list"):
        ts.match([{"age": 31}], index)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="engine scan does not run on Spark"):
        ts.match(people, tocsin.build(RULES, engine="scan"))
    tocsin.build(RULES, engine="interval").save(tmp_path / "interval.tocsin")
    with pytest.raises(IndexFileError, match="for the engine 'interval'; only an index of atree"):
        ts.match(people, tmp_path / "interval.tocsin")


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        (["nope"], "cannot keep 'nope': the DataFrame has no column of that name"),
        (["ID"], "cannot keep 'ID': the DataFrame has no column of that name"),
        (["id", "id"], "keep names a column twice"),
        (["event"], "cannot keep a column named 'event'"),
        (["rule"], "cannot keep a column named 'rule'"),
        (["score"], "cannot keep a column named 'score'"),
        (["Rule"], "cannot keep a column named 'Rule'"),
        ("id", "keep takes a list of column names"),
        ([1], "keep takes a list of column names"),
        (None, "keep takes a list of column names"),
    ],
)
def test_columns_that_cannot_be_kept(people: DataFrame, index: Index, keep: list[str], reason: str) -> None:
    events = people.selectExpr("*", "1 as event", "2 as rule", "3 as score")
    with pytest.raises(UsageError, match=re.escape(reason)):
        ts.match(events, index, keep=keep)


# ---- Names


def test_fields_and_columns_differ_by_case(people: DataFrame) -> None:
    index = build([("upper", "Age >= 18"), ("missing", "Age is null and age is not null")])
    with pytest.warns(TocsinWarning, match="the events do not have, and that count as missing: Age$"):
        found = ts.match(people, index, keep=["id"])
    assert rows_of(found) == Counter((who, "missing") for who in "abd")


def test_one_warning_names_all_missing_fields(people: DataFrame) -> None:
    index = build([("all", "nope is null"), ("none", "nope = 1 or other.thing = 2"), ("some", "age = 31")])
    with pytest.warns(TocsinWarning, match=r"missing: nope, other\.thing$") as warned:
        found = ts.match(people, index, keep=["id"])
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert rows_of(found) == Counter([("a", "some"), *((who, "all") for who in "abcd")])


def test_rows_count_when_no_column_is_needed(spark: SparkSession) -> None:
    events = spark.range(1_000, numPartitions=3)
    assert ts.match(events, build([("yes", "true"), ("no", "false")])).count() == 1_000
    no_columns = spark.range(7).select()
    assert rows_of(ts.match(no_columns, build([("yes", "true")]))) == Counter({("yes",): 7})
    no_rows = events.where("id < 0")
    assert rows_of(ts.match(no_rows, build([("yes", "true"), ("no", "false")]))) == Counter()


def test_odd_names(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(1, 2, 3, 4, (5, 6, 7))],
        '`a.b` int, `a` int, `tick``s` int, `☃ "q"` int, s struct<`a.b` int, `` int, x int>',
    )
    rules = [
        ("dotted", '"a.b" = 1 and a = 2'),
        ("nested", "a.b is null"),
        ("tick", '"tick`s" = 3 and "☃ ""q""" = 4'),
        ("member", 's."a.b" = 5 and s."" = 6'),
        ("whole", "s is not null and s.y is null"),
    ]
    found = ts.match(events, build(rules), keep=["a.b", "tick`s", '☃ "q"'])
    assert found.columns == ["a.b", "tick`s", '☃ "q"', "rule", "score"]
    assert rows_of(found) == Counter((1, 3, 4, name) for name, _ in rules)


def test_names_that_differ_by_case_only(spark: SparkSession) -> None:
    events = spark.sql("select 1 as n, 2 as N, named_struct('x', 3, 'X', 4) as s")
    index = build([("both", "n = 1 and N = 2 and s.x = 3 and s.X = 4"), ("swapped", "n = 2 or s.x = 4")])
    assert rows_of(ts.match(events, index, keep=["N"])) == Counter([(2, "both")])


def test_columns_of_one_name(spark: SparkSession) -> None:
    events = spark.sql("select 1 as n, 2 as m, 3 as m, named_struct('x', 1, 'x', 2) as s")
    assert rows_of(ts.match(events, build([("r", "n = 1 and s is not null")]), keep=["n"])) == Counter(
        [(1, "r")]
    )
    with pytest.raises(InputError, match="the DataFrame has 2 columns named m"):
        ts.match(events, build([("r", "m = 1")]))
    with pytest.raises(InputError, match="s has 2 members named x"):
        ts.match(events, build([("r", "s.x = 1")]))
    with pytest.raises(UsageError, match="cannot keep 'm': the DataFrame has 2 columns of that name"):
        ts.match(events, build([("r", "n = 1")]), keep=["m"])


# ---- What is read and sent


def test_only_what_rules_name_is_read(spark: SparkSession, tmp_path: Path) -> None:
    wide = spark.sql(
        "select 1 as id, 2 as n, 'x' as unused, array(1) as tags,"
        " named_struct('age', 3, 'home', named_struct('city', 'Rome', 'zip', 'z'), 'raw', 'r') as user"
    )
    wide.write.parquet(str(tmp_path / "wide"))
    events = spark.read.parquet(str(tmp_path / "wide"))
    found = ts.match(
        events, build([("r", "n = 2 and user.age = 3 and user.home.city = 'Rome'")]), keep=["id"]
    )
    assert rows_of(found) == Counter([(1, "r")])
    plan = found._jdf.queryExecution().executedPlan().toString()
    read = re.search(r"ReadSchema: (\S+)", plan)
    assert read is not None
    assert read[1] == "struct<id:int,n:int,user:struct<age:int,home:struct<city:string>>>"


def test_structs_keep_their_nulls_when_cut_down(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [(0, None), (1, (None, None)), (2, (1, None)), (3, (1, (None,))), (4, (1, ("x",)))],
        "id int, s struct<n int, t struct<c string>>",
    )
    rules = [
        ("s", "s is null"),
        ("n", "s.n is null"),
        ("t", "s.t is null"),
        ("c", "s.t.c is null"),
        ("x", "s = 'x'"),
    ]
    expected = {"s": [0], "n": [0, 1], "t": [0, 1, 2], "c": [0, 1, 2, 3]}
    found = ts.match(events, build(rules), keep=["id"])
    assert rows_of(found) == Counter((id_, rule) for rule, ids in expected.items() for id_ in ids)


def test_deep_structs(spark: SparkSession) -> None:
    value = "7"
    for level in range(30):
        value = f"named_struct('a{level}', {value}, 'b', {level})"
    path = ".".join(["s", *(f"a{level}" for level in reversed(range(30)))])
    rules = [
        ("leaf", f"{path} = 7"),
        ("other", f"{path[: path.index('.a20')]}.b = 20"),
        ("beyond", f"{path}{'.x' * 5_000} is null"),
    ]
    found = ts.match(spark.sql(f"select {value} as s"), build(rules))
    assert rows_of(found) == Counter((name,) for name, _ in rules)


def test_many_rows_and_many_matches(spark: SparkSession) -> None:
    index = build([(f"r{number}", f"n >= {number}") for number in range(200)])
    events = spark.range(10_000, numPartitions=2).selectExpr("id", "id % 200 as n", "repeat('x', 20) as text")
    found = ts.match(events, index, keep=["id", "text"]).groupBy("rule").count()
    counts = {row["rule"]: row["count"] for row in found.collect()}
    assert counts == {f"r{number}": 50 * (200 - number) for number in range(200)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.execution.arrow.maxRecordsPerBatch", "0"),
        ("spark.sql.execution.arrow.maxRecordsPerBatch", "1"),
        ("spark.sql.execution.arrow.useLargeVarTypes", "true"),
        ("spark.sql.caseSensitive", "true"),
    ],
)
def test_settings_of_the_session_change_nothing(
    spark: SparkSession, people: DataFrame, index: Index, name: str, value: str
) -> None:
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    try:
        assert rows_of(ts.match(people, index, keep=["id"])) == FOUND
    finally:
        spark.conf.set(name, before or "")


def test_error_in_a_worker_says_what_is_wrong(spark: SparkSession) -> None:
    events = spark.sql("select cast(X'ff' as string) as s")
    with pytest.raises(PythonException, match="EventError: the text of field s is not valid UTF-8"):
        ts.match(events, build([("r", "s = 'x'")])).collect()
    assert ts.match(events, build([("r", "true")])).count() == 1


NOT_UTF8 = ["ff", "80", "c080", "c3", "41c3", "e08080", "eda080", "f08080af", "f4908080", "f09f98"]
UTF8 = ["", "78", "c3a9", "efbfbd", "ee8080", "f09f9880", "f48fbfbf", "00"]


def test_texts_that_are_not_utf8_can_be_mended_or_set_aside(spark: SparkSession) -> None:
    """As the documentation of match says; what Spark calls valid, tocsin takes."""
    values = ", ".join(f"(X'{text}')" for text in NOT_UTF8 + UTF8)
    events = spark.sql(f"select cast(b as string) as s, hex(b) as h from values {values}, (null) as t(b)")
    index = build(
        [("x", "s = 'x'"), ("all", "s is not null"), ("mended", "s like '%\N{REPLACEMENT CHARACTER}%'")]
    )

    def found(rows: DataFrame, rule: str) -> list[str]:
        return sorted(row.h for row in ts.match(rows, index, keep=["h"]).where(f"rule = '{rule}'").collect())

    mended = events.withColumn("s", F.make_valid_utf8("s"))
    assert found(mended, "all") == sorted(text.upper() for text in NOT_UTF8 + UTF8)
    assert found(mended, "mended") == sorted(text.upper() for text in [*NOT_UTF8, "efbfbd"])
    assert found(mended, "x") == ["78"]
    good, rejects = events.where("s is null or is_valid_utf8(s)"), events.where("not is_valid_utf8(s)")
    assert found(good, "all") == sorted(text.upper() for text in UTF8)
    assert (good.count(), rejects.count()) == (len(UTF8) + 1, len(NOT_UTF8))
    lists = events.selectExpr("h", "array(s, 'y') as s").withColumn("s", F.transform("s", F.make_valid_utf8))
    assert found(lists, "mended") == found(mended, "mended")


def test_texts_that_are_only_kept_pass_as_they_are(spark: SparkSession) -> None:
    events = spark.sql("select 1 as n, cast(X'41ff' as string) as s")
    found = ts.match(events, build([("r", "n = 1")]), keep=["s"])
    assert [row.h for row in found.selectExpr("hex(s) as h").collect()] == ["41FF"]


def test_importing_it_loads_no_arrays_and_no_kernels() -> None:
    source = str(Path(ts.__file__).parents[2])
    program = (
        f"import sys; sys.path.insert(0, {source!r}); import tocsin.spark as ts;"
        "from tocsin.spark.session import session; assert ts.session is session;"
        "print(*({'numpy', 'pyarrow', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
