"""Alerts of every kind, for the tests of sinks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from tocsin.spark.stream.match_columns import alert_schema, json_field

TIME = datetime(2026, 3, 1, 12, 30, 0, 250_000, tzinfo=UTC)

KEPT = [
    json_field("json"),
    StructField("flag", BooleanType()),
    StructField("tiny", ByteType()),
    StructField("small", ShortType()),
    StructField("whole", IntegerType()),
    StructField("large", LongType()),
    StructField("single", FloatType()),
    StructField("exact", DecimalType(12, 3)),
    StructField("day", DateType()),
    StructField("local", TimestampNTZType()),
    StructField("bytes", BinaryType()),
    StructField("list", ArrayType(StringType())),
    StructField("map", MapType(StringType(), IntegerType())),
    StructField("object", StructType([StructField("a", StringType()), StructField("b", LongType())])),
    StructField("span", DayTimeIntervalType()),
    StructField('odd "name`, with.all', StringType()),
]
SCHEMA = alert_schema([], KEPT)
SMALL = alert_schema([], [json_field("json")])

TEXTS = ["", "plain", 'quo"ted, with; comma', "line\nbreak\r\n", "\\N", "naïve 𝄞", "zero\0byte", "\\."]
JSONS = ['"text"', "12.5", "true", '{"a": [1, null]}', '"a\\u0000b"', '"a\\\\u0000b"', "null", None]


def rows_of_every_kind() -> list[dict[str, Any]]:
    """Rows whose texts are what tables and lines find hard, and one of nulls."""
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(TEXTS):
        rows.append(
            {
                "alert": f"{number:032x}",
                "rule": text or "r",
                "version": 1,
                "batch": 0,
                "key": text,
                "time": TIME + timedelta(microseconds=number),
                "score": float("inf") if number == 1 else number / 3,
                "text": text,
                "json": JSONS[number],
                "flag": number % 2 == 0,
                "tiny": -number,
                "small": -32768 + number,
                "whole": 2**31 - 1 - number,
                "large": -(2**63) + number,
                "single": number / 7,
                "exact": Decimal(f"{number}.125"),
                "day": date(2024, 2, 29),
                "local": datetime(2026, 3, 1, 12, 30, 0, number),
                "bytes": bytes([0, 255, number]),
                "list": [text, None],
                "map": {text: number},
                "object": (text, None),
                "span": timedelta(days=1, microseconds=number),
                'odd "name`, with.all': text,
            }
        )
    nulls = dict.fromkeys(SCHEMA.names) | {"alert": "f" * 32, "rule": "r", "version": 1, "batch": 0}
    return [*rows, nulls]


def alerts_of_every_kind(spark: SparkSession) -> DataFrame:
    rows = [tuple(row[name] for name in SCHEMA.names) for row in rows_of_every_kind()]
    return spark.createDataFrame(rows, SCHEMA)


def small_alerts(spark: SparkSession, batch: int, count: int, parts: int = 3) -> DataFrame:
    """Alerts that are all different, over all batches."""
    made = spark.range(count, numPartitions=parts).selectExpr(
        f"lower(lpad(hex(id + {batch * 1_000_000}), 32, '0')) alert",
        "concat('r', id % 7) rule",
        "1L version",
        f"{batch}L batch",
        "cast(id as string) key",
        "timestamp_seconds(id) time",
        "cast(null as double) score",
        "concat('text of ', id) text",
        "concat('\"', id, '\"') json",
    )
    return made.to(SMALL)
