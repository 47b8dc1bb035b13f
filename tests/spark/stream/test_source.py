"""DataFrames and records of Kafka as sources of a stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from tests.spark.stream.test_stream import Heard

import tocsin
import tocsin.spark as ts
from tocsin.errors import InputError, UsageError
from tocsin.spark.stream.folder_source import FolderSource
from tocsin.spark.stream.kafka_source import KafkaSource
from tocsin.spark.stream.match_columns import Wanted
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.source import TALLY_PARAM, Onward, Search, Tally


def test_what_a_folder_reads(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "in")
    source = FolderSource.of(f"{tmp_path}/in/../in")
    read = ["in", "in/a", "in/a/_b=1", "link/a"]
    not_read = ["", "inner", "in/.a/b", "in/a/_b", "in/../other"]
    assert [name for name in [*read, *not_read] if source.reads(tmp_path / name)] == read


COLUMNS = {
    "id": "id",
    "small": "cast(id % 5 as tinyint)",
    "big": "id * 1000000007",
    "exact": "cast(id as decimal(38, 10)) / 3",
    "real": "cast(id as double) / 7",
    "single": "cast(id as float) / 7",
    "flag": "id % 2 = 0",
    "word": "if(id % 6 = 0, null, concat('w', id % 4))",
    "fixed": "cast('abc' as char(5))",
    "raw": "unhex(hex(id))",
    "day": "date_add(date '2026-01-01', cast(id as int))",
    "at": "timestamp_seconds(1767225600 + id)",
    "local": "cast(timestamp_seconds(1767225600 + id) as timestamp_ntz)",
    "gap": "make_dt_interval(cast(id as int), 1, 2, 3)",
    "tags": "array('x', concat('t', id % 3), null)",
    "user": "named_struct('name', concat('u', id % 10), 'deep', named_struct('n', id))",
    "labels": "map('k', concat('v', id % 2), 'other', null)",
    "nested": "array(named_struct('p', id % 4), null)",
}
RULES = [
    ("small", "small = 3"),
    ("big", "big > 40000000280"),
    ("exact", "exact = 7"),
    ("real", "real >= 3 and real < 4"),
    ("flag", "flag = true and word = 'w2'"),
    ("missing", "word is null"),
    ("day", "day = timestamp '2026-01-09T00:00:00Z'"),
    ("at", "at > timestamp '2026-01-01T00:00:30Z'"),
    ("local", "local < timestamp '2026-01-01T00:00:05Z'"),
    ("tags", "tags in ('t1')"),
    ("user", "user.name = 'u7' and user.deep.n > 10"),
    ("labels", "labels.k = 'v1' and small = 1"),
    ("nested", "nested.p = 2"),
]


@pytest.fixture
def written(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Sixty rows with columns of every kind, as a stream of two files."""
    rows = spark.range(60, numPartitions=2).selectExpr(*(f"{how} as {name}" for name, how in COLUMNS.items()))
    rows.write.parquet(str(tmp_path / "events"))
    schema = spark.read.parquet(str(tmp_path / "events")).schema
    streamed = (
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "events"))
    )
    assert isinstance(streamed, DataFrame)
    return streamed


def test_a_dataframe_with_columns_of_every_kind(
    spark: SparkSession, tmp_path: Path, written: DataFrame
) -> None:
    rules = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(rules)
    keep = list(COLUMNS)
    heard = Heard()
    ts.stream(
        written,
        rules,
        str(tmp_path / "alerts"),
        key="user.deep.n",
        time="at",
        keep=keep,
        once=True,
        listener=heard,
    ).wait()
    batch = spark.read.schema(written.schema).parquet(str(tmp_path / "events"))
    want = {(row.id, row.rule): row for row in ts.match(batch, rules, keep=keep).collect()}
    found = {(row.id, row.rule): row for row in spark.read.parquet(str(tmp_path / "alerts")).collect()}
    assert {rule for _, rule in want} == {name for name, _ in RULES}
    assert found.keys() == want.keys()
    for place, row in found.items():
        assert [row[name] for name in keep] == [want[place][name] for name in keep]
        assert row.key == str(row.id)
        assert row.time == row.at
    assert sum(report.events for report in heard.batches) == 60


def test_what_a_dataframe_lacks_is_said_before_it_starts(
    spark: SparkSession, tmp_path: Path, written: DataFrame
) -> None:
    rules = tmp_path / "rules.jsonl"
    rules.write_text('{"id": "a", "when": "small = 1"}\n')

    def starts(source: Any = written, **settings: Any) -> None:
        ts.stream(source, rules, "console:", once=True, **settings)

    with pytest.raises(UsageError, match="name a key"):
        starts()
    with pytest.raises(UsageError, match="no column 'nope' to be the key"):
        starts(key="nope.x")
    with pytest.raises(UsageError, match="no column 'nope' to be the time"):
        starts(key="id", time="nope")
    with pytest.raises(UsageError, match="cannot keep 'nope'"):
        starts(key="id", keep=["nope"])
    with pytest.raises(UsageError, match="needs a streaming DataFrame"):
        starts(spark.range(3), key="id")
    variant = written.selectExpr("id", "small", "parse_json(word) as v")
    with pytest.raises(UsageError, match="'v' is a variant"):
        starts(variant, key="v.id")
    rules.write_text('{"id": "a", "when": "small = 1", "throttle": "1 hour", "dedup": "v.id"}\n')
    with pytest.raises(InputError, match="'v' is a variant"):
        starts(variant, key="id")
    rules.write_text('{"id": "a", "when": "raw = \'1\'"}\n')
    with pytest.raises(InputError, match="field raw has the Spark type binary"):
        starts(key="id")


def test_rows_with_texts_that_are_no_utf_8_are_rejects(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(10).selectExpr(
        "if(id = 4, null, concat('k', id)) as id",
        "if(id = 3, cast(unhex('ff') as string), 'good') as word",
        "if(id = 5, cast(unhex('fe') as string), 'told') as told",
        "if(id = 6, cast(unhex('fd') as string), 'kept') as kept",
    )
    rows.write.parquet(str(tmp_path / "events"))
    (tmp_path / "rules.sql").write_text("create trigger a when word = 'good' do alert '{told}';")
    source = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "events"))
    alerts = tmp_path / "alerts"
    ts.stream(source, tmp_path / "rules.sql", str(alerts), key="id", keep=["kept"], once=True).wait()
    found = {row.key: row.text for row in spark.read.parquet(str(alerts)).select("key", "text").collect()}
    assert found == dict.fromkeys(["k0", "k1", "k2", "k6", "k7", "k8", "k9"], "told")
    rejects = [
        json.loads(line)
        for file in (tmp_path / "alerts.checkpoint" / "rejects").rglob("*.jsonl")
        for line in file.open()
    ]
    assert {reject["place"]: reject["reason"].rpartition("field ")[2] for reject in rejects} == {
        "k3": "word is not valid UTF-8",
        "?": "id, which is to be the key, is missing",
        "k5": "told is not valid UTF-8",
    }


def test_rows_that_are_known_by_their_place(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rules.sql").write_text("create trigger a when n > 0;")
    schema = "topic string, partition int, offset bigint, n int"
    rows = spark.createDataFrame(
        [("t", 1, 7, 1), ("t", 2, None, 1), (None, 1, 8, 1), ("t", -1, 9, 1)], schema
    )
    rows.coalesce(1).write.parquet(str(tmp_path / "events"))
    source = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "events"))
    alerts = tmp_path / "alerts"
    ts.stream(source, tmp_path / "rules.sql", str(alerts), once=True).wait()
    assert {row.key for row in spark.read.parquet(str(alerts)).collect()} == {"t/1/7", "t/-1/9"}
    rejects = spark.read.json(str(tmp_path / "alerts.checkpoint" / "rejects")).collect()
    assert [row.place for row in rejects] == ["?", "?"]
    assert all("one of them is missing" in row.reason for row in rejects)
    odd = source.selectExpr("topic", "cast(partition as string)", "offset", "n")
    with pytest.raises(UsageError, match="name a key"):
        ts.stream(odd, tmp_path / "rules.sql", str(tmp_path / "other"), once=True)


def test_records_of_kafka(spark: SparkSession, tmp_path: Path) -> None:
    tocsin.build([("a", "n = 1"), ("b", "user.name = 'ada'")]).save(tmp_path / "rules.tocsin")
    rules = RuleVersion(1, str(tmp_path / "rules.tocsin"))
    values = ['{"n": 1, "user": {"name": "ada"}}', '{"n": 2}', "{", None, " ", '{"n":\n1}', "[1]"]
    rows = [
        Row(topic="t", partition=offset % 2, offset=offset, value=None if value is None else value.encode())
        for offset, value in enumerate(values)
    ]
    records = spark.createDataFrame(rows, "topic string, partition int, offset bigint, value binary")
    tally = spark.sparkContext.accumulator(Tally(), TALLY_PARAM)
    wanted = Wanted(keep=("user",), batch_time=7)
    found = KafkaSource.of("kafka://h:1/t").found(records, Search(rules, wanted, tally, Onward()))
    listed = found.collect()
    matched = {
        (row.key, row.rule): (row["kept user"], row.time.timestamp()) for row in listed if row.reject is None
    }
    assert matched == {
        ("t/0/0", "a"): ('{"name": "ada"}', 0.000007),
        ("t/0/0", "b"): ('{"name": "ada"}', 0.000007),
        ("t/1/5", "a"): (None, 0.000007),
    }
    rejects = {row.key: row.reject.split(":")[0] for row in listed if row.reject is not None}
    assert rejects == {
        "t/0/2": "not valid JSON at character 2",
        "t/1/3": "the record has no value",
        "t/0/4": "the record has no value",
        "t/0/6": "not an object but a list",
    }
    counted = tally.value
    assert (counted.events, counted.matches, counted.rejects) == (3, 3, 4)
    ordinals = {row.key: row.ordinal for row in listed}
    assert ordinals["t/1/5"] == "t/0000000001/00000000000000000005"
