"""Folders of any name: what Spark writes there is found there, by Spark and by everybody else."""

from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds
from pyspark.sql import SparkSession

import tocsin.spark as ts
from tocsin.spark.file_urls import to_read, to_write

ODD = "a b%20é*[1]{x,y}?#c"


def test_names_stand_for_themselves(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3, numPartitions=1).write.parquet(to_write(tmp_path / ODD))
    (tmp_path / ODD.replace("*", "star")).mkdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([ODD, ODD.replace("*", "star")])
    assert spark.read.parquet(to_read(tmp_path / ODD)).count() == 3


def test_a_stream_between_folders_of_any_name(spark: SparkSession, tmp_path: Path) -> None:
    """But for a question mark in the folder's name, after which a URI has its options."""
    folder = tmp_path / ODD.replace("?", "")
    events, alerts, rules = folder / "events", folder / "alerts", folder / f"{ODD}.jsonl"
    events.mkdir(parents=True)
    (events / f"{ODD}.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    rules.write_text('{"id": "r", "when": "n > 1"}\n')
    ts.stream(f"file://{events}", rules, f"file://{alerts}", once=True, session=spark).wait()
    found = ds.dataset(alerts, partitioning="hive").to_table().to_pylist()
    assert [(row["key"], row["rule"]) for row in found] == [(f"{ODD}.jsonl:1", "r")]


def test_statistics_in_a_folder_of_any_name(spark: SparkSession, tmp_path: Path) -> None:
    for version in (1, 2):
        history = ts.statistics(spark.range(3), tmp_path / ODD, merge=version > 1)
        assert (history.rows, history.version) == (3 * version, version)
    assert [path.name for path in tmp_path.iterdir()] == [ODD]
