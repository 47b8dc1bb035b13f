"""ts.backtest: the numbers are the obvious evaluator's, and those of tocsin.backtest without Spark."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.cases import Event, make_rule_set, names_below
from tests.history.overview.judging import check_overview
from tests.sharded_rules import shared_out, write_in_parts
from tests.spark.test_types import frame_of, spark_type
from tests.typed_tables import make_type, make_typed_value

import tocsin
import tocsin.spark as ts
from tocsin import Index, Overview
from tocsin.conditions.language import print_condition
from tocsin.errors import InputError, TocsinError, UsageError
from tocsin.events import plan_slices
from tocsin.history.overview import OVER_TIME, RULES, SAMPLES, settings_for
from tocsin.spark.backtest.backtest import backtest_slices
from tocsin.spark.backtest.merged_tables import in_schema

ROWS = 150
TEXTS = [
    ("golf", "contains(body, 'golf, trophy')"),
    ("strict", "contains(body, 'golf, trophy', 1.2)"),
    ("all", "true"),
    ("no field", "nowhere = 1"),
    ("no value", "body = 'Golf'"),
]


def tables(overview: Overview) -> tuple[pa.Table, pa.Table, pa.Table]:
    """The tables in an order of their own."""
    if isinstance(overview.rules, pa.Table):
        found = (overview.rules, overview.over_time, overview.samples)
    else:
        frames = (overview.rules, overview.over_time, overview.samples)
        schemas = (RULES, OVER_TIME, SAMPLES)
        found = tuple(in_schema(each.toArrow(), schema) for each, schema in zip(frames, schemas, strict=True))
    rules, over_time, samples = found
    return (
        rules.sort_by("rule"),
        over_time.sort_by([("rule", "ascending"), ("at", "ascending")]),
        samples.sort_by([("rule", "ascending"), ("json", "ascending")]),
    )


def history(seed: int) -> tuple[pa.Table, list[Event], list[int | None]]:
    """Events of random types, each with a number and a text, and most with a time."""
    rng = random.Random(seed)
    hours = [None if rng.random() < 0.1 else rng.randrange(3_000) for _ in range(ROWS)]
    at = [None if hour is None else dt.datetime(1970, 1, 1) + dt.timedelta(hours=hour) for hour in hours]
    bodies = [rng.choice(["golf", "a golf trophy", "", None]) for _ in range(ROWS)]
    columns = {
        "number": pa.array(range(ROWS), pa.int64()),
        "happened": pa.array(at, pa.timestamp("us", "UTC")),
        "body": pa.array(bodies, pa.string()),
    }
    events: list[Event] = [{"number": number, "body": body} for number, body in enumerate(bodies)]
    for name in names_below(()):
        kind = spark_type(make_type(rng, (name,)))
        pairs = [make_typed_value(rng, kind, (name,)) for _ in range(ROWS)]
        columns[name] = pa.array([arrow for arrow, _ in pairs], kind)
        for event, (_, plain) in zip(events, pairs, strict=True):
            event[name] = plain
    return pa.table(columns), events, hours


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_against_the_obvious_evaluator(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    table, events, hours = history(seed)
    rng = random.Random(seed)
    rules = [(name, print_condition(each)) for name, each in make_rule_set(rng, 120)] + TEXTS
    index = tocsin.build(rules)
    frame = frame_of(spark, table).repartition(3)
    with ts.backtest(frame, index, time="happened", samples=3, keep=["number"]) as found:
        check_overview(found, rules, events, hours, 3, tables(found))
        local = tocsin.backtest(index, table, time="happened", samples=3, keep=["number"])
        assert found.summary == local.summary
        assert found.times.equals(local.times)
        on_spark, here = tables(found), tables(local)
        assert on_spark[0].equals(here[0])
        assert on_spark[1].equals(here[1])
        digest = found.digest(4)
        assert digest.noisiest.equals(local.digest(4).noisiest)
        assert digest.never.equals(local.digest(4).never)
        assert len(digest.samples) > 0
    write_in_parts(tmp_path / "parts.tocsin", shared_out(rng, rules, 3))
    with ts.backtest(frame, tmp_path / "parts.tocsin", time="happened", samples=3, keep=["number"]) as parts:
        assert parts.summary == local.summary
        assert parts.times.equals(local.times)
        for found_in_parts, expected in zip(tables(parts), on_spark, strict=True):
            assert found_in_parts.equals(expected)


EVENTS = [
    {"id": number, "x": number % 5, "at": f"2026-01-{1 + number % 20:02}T00:00:00Z", "body": "golf"}
    for number in range(100)
]
RULE_SET = [
    ("two", "x = 2"),
    ("some", "x > 2 and contains(body, 'golf')"),
    ("never", "x > 7"),
    ("lost", "y = 1"),
]


def test_files_give_what_they_give_without_spark(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in EVENTS) + "no event\n")
    index = tocsin.build(RULE_SET)
    assert isinstance(index, Index)
    slices = plan_slices(file, 2_000)
    assert len(slices) > 3
    settings = settings_for(("at",), "2 days", 4)
    with backtest_slices(spark, index, slices, settings) as found:
        local = tocsin.backtest(index, file, time="at", bucket="2 days", samples=4)
        assert found.summary == local.summary
        assert found.summary.rejects == 1
        assert tables(found) == tables(local)
        found.html(tmp_path / "report.html")
        assert "no event has the field y" in (tmp_path / "report.html").read_text()
    (tmp_path / "bad").mkdir()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "bad" / "a.parquet")
    broken = plan_slices(tmp_path / "bad")
    (tmp_path / "bad" / "a.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read"):
        backtest_slices(spark, index, broken, settings)


def test_tables_in_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(EVENTS)).repartition(2)
    found = ts.backtest(frame, RULE_SET, time="at", samples=2, path=tmp_path / "report")
    local = tocsin.backtest(RULE_SET, EVENTS, time="at", samples=2)
    assert found.summary == local.summary
    assert tables(found)[0] == tables(local)[0]
    times = pq.read_table(tmp_path / "report" / "times").sort_by("at")
    assert times.column("events").to_pylist() == [5] * 20
    assert times.cast(local.times.schema).equals(local.times)
    assert times.schema.field("at").type == local.times.schema.field("at").type  # instants, for every reader
    assert spark.read.parquet(str(tmp_path / "report" / "samples")).count() == len(local.samples)
    with pytest.raises(InputError, match="a new folder"):
        ts.backtest(frame, RULE_SET, path=tmp_path / "report")


def test_what_is_refused_before_a_job_starts(spark: SparkSession) -> None:
    frame = spark.range(3).withColumnRenamed("id", "x")
    for arguments in ({"samples": 1000}, {"keep": ["nowhere"]}, {"bucket": "1 day"}, {"time": "a b"}):
        with pytest.raises(UsageError):
            ts.backtest(frame, RULE_SET, **arguments)
    with pytest.raises(UsageError, match="a Spark DataFrame"):
        ts.backtest(EVENTS, RULE_SET)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is a stream"):
        ts.backtest(spark.readStream.format("rate").load(), RULE_SET)
    with pytest.raises(TocsinError):
        ts.backtest(frame, [("broken", "x =")])


def test_types_that_cannot_be_shown_are_left_out(spark: SparkSession) -> None:
    frame = spark.sql(
        "select 2 as x, interval 3 months as span, date'2026-01-02' as day,"
        " timestamp_ntz'2026-01-02 03:04:05' as at, map('k', array(1.5)) as labels,"
        " cast('abc' as binary) as raw, cast(null as string) as none"
    )
    with ts.backtest(frame, [("two", "x = 2")]) as found:
        (row,) = found.samples.collect()
    assert found.summary.time == "day"
    assert json.loads(row.json) == {
        "x": 2,
        "day": "2026-01-02",
        "at": "2026-01-02T03:04:05Z",
        "labels": {"k": [1.5]},
        "raw": "YWJj",
    }
