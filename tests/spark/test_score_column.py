"""ts.score and ts.tm_score as columns."""

from __future__ import annotations

import math
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import tocsin.spark as ts
from tocsin import Dictionary
from tocsin.errors import InputError, RuleError, UsageError
from tocsin.text import judge, parse_query

TEXTS = ["golf and a trophy", None, "", "Golf golf tennis", "a trophy for golf"]
DICTIONARY = Dictionary.count(["golf", "a golf day", "a day", "tennis"])


def test_score_of_strings_and_lists(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        (place, text, None if text is None else [text, None, "tennis"]) for place, text in enumerate(TEXTS)
    ]
    events = spark.createDataFrame(rows, "id int, body string, parts array<string>")
    path = tmp_path / "words.parquet"
    DICTIONARY.save(path)
    query = 'golf, "a trophy", tennis'
    found = events.select(
        "id",
        ts.score("body", query, DICTIONARY).alias("body"),
        ts.score(F.col("parts"), query, path).alias("parts"),
        ts.score("body", "trophy", stop_words=["trophy"]).alias("stopped"),
    )
    assert found.dtypes == [("id", "int"), ("body", "double"), ("parts", "double"), ("stopped", "double")]
    asked = parse_query(query)
    for row in found.collect():
        text = TEXTS[row.id]
        if text is None:
            assert (row.body, row.parts, row.stopped) == (None, None, None)
        else:
            assert row.body == judge(asked, [text], DICTIONARY).score
            assert row.parts == judge(asked, [text, "tennis"], DICTIONARY).score
            assert row.stopped == 0.0


def test_tm_score_allows_words_between(spark: SparkSession) -> None:
    events = spark.createDataFrame([("a big trophy",)], "body string")
    row = events.select(ts.score("body", '"a trophy"'), ts.tm_score("body", '"a trophy"')).first()
    assert row is not None
    assert tuple(row) == (0.0, 1.0)


def test_flat_accrue_by_hand(spark: SparkSession) -> None:
    events = spark.createDataFrame([("golf tennis",)], "body string")
    row = events.select(ts.score("body", "golf, tennis, trophy")).first()
    assert row is not None
    assert row[0] == 2 / math.sqrt(2)


def test_bad_queries_are_refused_before_a_job() -> None:
    with pytest.raises(RuleError) as refused:
        ts.score("body", "golf & ")
    assert refused.value.column == 8
    with pytest.raises(RuleError, match="~"):
        ts.tm_score("body", '"a b"~2')
    with pytest.raises(UsageError, match="string"):
        ts.score("body", 7)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Dictionary"):
        ts.score("body", "golf", {"golf": 1.0})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nowhere"):
        ts.score("body", "golf", "nowhere")
    with pytest.raises(UsageError, match="stop word"):
        ts.score("body", "golf", stop_words=["A"])


def test_column_without_texts_fails_with_a_reason(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1,)], "number int")
    with pytest.raises(PythonException, match="strings or lists of strings"):
        events.select(ts.score("number", "golf")).collect()
