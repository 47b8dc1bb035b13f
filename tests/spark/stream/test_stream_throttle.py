from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField

from tocsin.spark.stream.match_columns import column_named, found_schema, is_json, json_field
from tocsin.spark.stream.stream_throttle import throttled

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
SCHEMA = found_schema([], [json_field("who"), StructField("a.b `c", StringType())])
WHO = SCHEMA.names[-2]

Row = dict[str, Any]


def random_batches(seed: int, count: int) -> list[list[Row]]:
    """Matches of rules with and without throttles, and rejects, in batches; times go back now and then."""
    draw = random.Random(seed)
    lengths = {f"r{number}": draw.choice([None, 5, 60, 600]) for number in range(6)}
    batches: list[list[Row]] = []
    ordinal = 0
    for number in range(count):
        rows: list[Row] = []
        if number == count // 2:
            lengths["r0"], lengths["r1"] = 30, None  # another version of the rules
        for _ in range(draw.choice([0, 3, 40, 200])):
            ordinal += 1
            row: Row = dict.fromkeys(SCHEMA.names)
            row |= {"key": f"k{ordinal}", "ordinal": f"{ordinal:020d}", WHO: f'"{draw.random()}"'}
            if draw.random() < 0.05:
                row |= {"reject": "no JSON", "raw": "{"}
            else:
                rule = draw.choice(list(lengths))
                length = lengths[rule]
                row |= {
                    "rule": rule,
                    "time": START + timedelta(seconds=number * 40 + draw.randrange(-100, 60)),
                    "dedup": draw.choice([None, '"a"', '"b"', "1", "null"]) if rule > "r2" else None,
                    "throttle": None if length is None else length * SECOND,
                }
            rows.append(row)
        draw.shuffle(rows)
        batches.append(rows)
    return batches


def obvious(batches: Sequence[Sequence[Row]]) -> list[list[str]]:
    """The keys of the rows that are sent."""
    last: dict[tuple[str, str | None], datetime] = {}
    answer = []
    for rows in batches:
        sent = [row["key"] for row in rows if row["throttle"] is None]
        limited = [row for row in rows if row["throttle"] is not None]
        for row in sorted(limited, key=lambda row: (row["time"], row["ordinal"])):
            group = row["rule"], row["dedup"]
            apart = timedelta(microseconds=row["throttle"])
            if group not in last or row["time"] - last[group] >= apart:
                last[group] = row["time"]
                sent.append(row["key"])
        answer.append(sorted(sent))
    return answer


def test_throttles_hold_across_batches_that_are_done_again(spark: SparkSession, tmp_path: Path) -> None:
    batches = random_batches(seed=7, count=8)
    expected = obvious(batches)
    assert any(len(sent) < len(rows) for sent, rows in zip(expected, batches, strict=True))
    for batch, rows in enumerate(batches):
        found = spark.createDataFrame(
            [tuple(row[name] for name in SCHEMA.names) for row in rows], SCHEMA, verifySchema=False
        )
        for parts in (1, 3) if batch % 3 == 1 else (2,):
            with throttled(found.repartition(parts), tmp_path / "state", batch, batch) as sent:
                assert [is_json(field) for field in sent.schema] == [is_json(field) for field in SCHEMA]
                assert sent.columns == SCHEMA.names
                told = {row["key"]: row[WHO] for row in rows}
                answer = sent.select("key", column_named(WHO).alias("who")).collect()
                assert sorted(row.key for row in answer) == expected[batch], batch
                assert all(told[row.key] == row.who for row in answer)


def test_a_large_batch_of_one_group(spark: SparkSession, tmp_path: Path) -> None:
    """More rows than Spark hands to a task at a time."""
    rows = spark.range(25_000, numPartitions=3).selectExpr(
        "cast(null as string) reject",
        "cast(null as string) raw",
        "cast(id as string) key",
        "lpad(cast(id as string), 20, '0') ordinal",
        "'r' rule",
        "cast(null as double) score",
        "timestamp_seconds(id div 2) time",
        "cast(null as string) dedup",
        "10000000L throttle",
        "cast(null as string) text",
    )
    for batch, expected in ((0, 1250), (1, 0)):
        with throttled(rows, tmp_path, batch, 0) as sent:
            assert sent.count() == expected
            assert sent.where("cast(key as int) % 20 != 0").count() == 0
