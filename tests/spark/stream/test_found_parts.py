"""Tasks that write what they find: the same files as the way through Spark, and nothing lost by a crash."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import tocsin.spark as ts
from tocsin.errors import TocsinError, UsageError
from tocsin.spark.sinks.folder_sink import Draft, FolderSink

KEPT = [
    '"text"',
    '"esc \\" \\u00e9 \\n"',
    "1",
    "1.50",
    "true",
    "null",
    '{"a": [1, "b"]}',
    '"{}"',
    '""',
    "123456789012345678901234567890",
]


def told(alerts: Path) -> list[dict[str, Any]]:
    return sorted(ds.dataset(alerts, partitioning="hive").to_table().to_pylist(), key=lambda row: row["key"])


def rejected(checkpoint: Path) -> list[dict[str, Any]]:
    files = sorted((checkpoint / "rejects").rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.open(encoding="utf-8")]


def test_both_ways_write_the_same(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    lines = [f'{{"n": {n}, "kept": {value}, "do.t`": {n}}}' for n, value in enumerate(KEPT)]
    (tmp_path / "events" / "a.jsonl").write_text("\n".join([*lines, 'garb\u00e9ge "', '{"n": 99}']) + "\n")
    (tmp_path / "rules.sql").write_text("create trigger a when n >= 0 do alert 'n is {n}';")
    table = {
        "id": pa.array(range(4)),
        "kept": pa.array([[{"x": Decimal("1.25")}], [], None, [{"x": None}]]),
        "word": pa.array(["a", None, "\u00e9", ""]),
    }
    (tmp_path / "table").mkdir()
    pq.write_table(pa.table(table), tmp_path / "table" / "a.parquet")
    (tmp_path / "more.sql").write_text("create trigger b when id >= 1;")
    schema = spark.read.parquet(str(tmp_path / "table")).schema
    rows = spark.readStream.schema(schema).parquet(str(tmp_path / "table"))
    for source, rules, settings in (
        (str(tmp_path / "events"), "rules.sql", {"keep": ["kept", "n", "do.t`"]}),
        (rows, "more.sql", {"key": "id", "keep": ["kept", "word"]}),
    ):
        one, other, second = (tmp_path / f"{rules}-{name}" for name in ("one", "other", "second"))
        ts.stream(source, tmp_path / rules, str(one), once=True, session=spark, **settings).wait()
        sinks = [str(other), f"jsonl:{second}"]
        ts.stream(source, tmp_path / rules, sinks, once=True, session=spark, **settings).wait()
        found, expected = told(one), told(other)
        for row in (*found, *expected):
            row.pop("time")  # that of the batch
        assert found == expected
        assert found
        assert rejected(Path(f"{one}.checkpoint")) == rejected(Path(f"{other}.checkpoint"))


def test_folders_that_are_not_apart(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "rules.sql").write_text("create trigger a when n > 0;")
    (tmp_path / "y").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "y")
    x, y = tmp_path / "x", tmp_path / "y"
    cases: list[tuple[list[str], dict[str, Any]]] = [
        ([str(x)], {"rejects": x}),
        ([str(x)], {"rejects": x / "rejects"}),
        ([str(x)], {"checkpoint": x}),
        ([str(x / "in")], {"checkpoint": x}),
        ([str(x)], {"checkpoint": y, "rejects": y / "spark"}),
        ([f"parquet:{y}", f"jsonl:{y}"], {}),
        ([f"parquet:{y}", f"jsonl:{tmp_path / 'link'}"], {}),
    ]
    for sinks, settings in cases:
        with pytest.raises(UsageError, match="cannot be the same folder, nor one in the other"):
            ts.stream(
                str(tmp_path / "events"), tmp_path / "rules.sql", sinks, once=True, session=spark, **settings
            )
    hidden: dict[str, Any] = {"checkpoint": x / "_checkpoint", "rejects": x / ".rejects"}
    ts.stream(
        str(tmp_path / "events"), tmp_path / "rules.sql", str(x), once=True, session=spark, **hidden
    ).wait()


@pytest.mark.parametrize("settled", [0, 1])
def test_a_crash_between_the_folders(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: int
) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "a.jsonl").write_text('{"n": 1, "a.b": 7}\ngarbage\n{"n": 2}\n')
    (tmp_path / "rules.sql").write_text("create trigger a when n > 0;")
    alerts = tmp_path / "alerts"

    def run() -> None:
        ts.stream(
            str(tmp_path / "events"),
            tmp_path / "rules.sql",
            str(alerts),
            keep=["a.b"],
            once=True,
            session=spark,
        ).wait()

    calls: list[Draft] = []
    settle = Draft.settle

    def crash(draft: Draft, names: Any) -> None:
        calls.append(draft)
        if len(calls) > settled:
            raise RuntimeError("here")
        settle(draft, names)

    with monkeypatch.context() as patched:
        patched.setattr(Draft, "settle", crash)
        with pytest.raises(TocsinError, match="has stopped: here"):
            run()
    assert not list(alerts.glob("batch=*"))
    run()
    assert [(row["key"], row["a.b"]) for row in told(alerts)] == [("a.jsonl:0", "7"), ("a.jsonl:2", None)]
    assert [reject["place"] for reject in rejected(tmp_path / "alerts.checkpoint")] == ["a.jsonl:1"]
    assert not list(alerts.glob(".*"))


def test_which_folders_tasks_write_to(tmp_path: Path, spark: SparkSession) -> None:
    schema = spark.sql("select 1 as n, timestamp'2026-01-01 00:00:00' as at").schema
    odd = spark.sql("select interval '1' day as pause").schema
    for sink, columns, takes in (
        (FolderSink(tmp_path / "a"), schema, True),
        (FolderSink(tmp_path / "b", "jsonl"), schema, False),
        (FolderSink(tmp_path / "c"), odd, False),
    ):
        sink.open(spark, "0", columns)
        assert sink.takes_parts is takes
