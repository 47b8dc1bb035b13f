"""ts.match on streaming DataFrames: the same rows as on a batch, over several micro-batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.answers import rows_of

import tocsin
import tocsin.spark as ts
from tocsin.errors import InputError, TocsinWarning

SCHEMA = "id bigint, n int, tags array<string>, user struct<name: string, at: timestamp>, raw binary"
RULES = [
    ("even", "n in (0, 2, 4, 6, 8)"),
    ("tagged", "tags = 'x' and tags != 'z'"),
    ("late", "user.at > timestamp '2026-01-01T00:00:05Z'"),
    ("named", "user.name like 'user 1%'"),
    ("missing", "n is null"),
]


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of ten rows."""
    folder = tmp_path_factory.mktemp("events")
    events = spark.range(30, numPartitions=3).selectExpr(
        "id",
        "cast(if(id % 7 = 0, null, id % 10) as int) as n",
        "if(id % 3 = 0, array('x', 'y'), array('x', 'z')) as tags",
        "named_struct('name', concat('user ', id),"
        " 'at', timestamp_seconds(unix_seconds(timestamp '2026-01-01T00:00:00Z') + id % 10)) as user",
        "cast('r' as binary) as raw",
    )
    events.write.parquet(str(folder / "parquet"))
    events.drop("raw").write.json(str(folder / "json"))
    return folder


def one_file_at_a_time(spark: SparkSession, form: str, folder: Path) -> DataFrame:
    return (
        spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).format(form).load(str(folder / form))
    )


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_stream_gives_the_rows_of_the_batch(
    spark: SparkSession, written: Path, tmp_path: Path, form: str
) -> None:
    index = tocsin.build(RULES)
    stream = ts.match(one_file_at_a_time(spark, form, written), index, keep=["id", "user"])
    assert stream.isStreaming
    query = (
        stream.writeStream.format("memory")
        .queryName(f"found_{form}")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert len([progress for progress in query.recentProgress if progress["numInputRows"] > 0]) == 3
    batch = ts.match(
        spark.read.schema(SCHEMA).format(form).load(str(written / form)), index, keep=["id", "user"]
    )
    expected = rows_of(batch)
    assert {row[-1] for row in expected} == {name for name, _ in RULES}
    assert rows_of(spark.table(f"found_{form}")) == expected


def test_match_within_a_micro_batch(spark: SparkSession, written: Path, tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    batches: list[Counter[tuple[object, ...]]] = []

    def on_batch(events: DataFrame, _number: int) -> None:
        batches.append(rows_of(ts.match(events, path, keep=["id"])))

    query = (
        one_file_at_a_time(spark, "parquet", written)
        .writeStream.foreachBatch(on_batch)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert len(batches) == 3
    whole = rows_of(ts.match(spark.read.parquet(str(written / "parquet")), path, keep=["id"]))
    assert sum(batches, Counter()) == whole


def test_stream_is_checked_before_it_starts(spark: SparkSession, written: Path) -> None:
    stream = one_file_at_a_time(spark, "parquet", written)
    with pytest.raises(InputError, match="field raw has the Spark type binary"):
        ts.match(stream, tocsin.build([("r", "raw = 'x'")]))
    with pytest.warns(TocsinWarning, match="missing: nope$"):
        ts.match(stream, tocsin.build([("r", "nope = 1")]))
