"""What an evaluation keeps: counted, with its first failure, and gone when it is let go."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tocsin.datalog.spark.batch.stored_frames import Storage
from tocsin.errors import InputError


def test_counts_and_failures_come_from_one_look(spark: SparkSession) -> None:
    looks = spark.sparkContext.accumulator(0)

    def looked(number: int) -> int:
        looks.add(1)
        return number

    numbers = spark.sparkContext.parallelize(range(5), 2).map(looked).map(lambda each: (each,)).toDF("c0 int")
    good = spark.sql("select 1 as c0, cast(null as string) as failure")
    frames = Storage(spark).store({"n": numbers, "f": good, "none": numbers.where("c0 > 9")})
    assert {name: frame.rows for name, frame in frames.items()} == {"n": 5, "f": 1, "none": 0}
    assert frames["f"].data.columns == ["c0"]
    before = looks.value
    assert sorted(row.c0 for row in frames["n"].data.collect()) == [0, 1, 2, 3, 4]
    assert looks.value == before
    failing = good.unionAll(spark.sql("values (2, 'b'), (3, 'a')"))
    with pytest.raises(InputError, match=r"^a$"):
        Storage(spark).store({"n": numbers, "f": failing}, refuse=InputError)


def test_what_is_let_go_takes_no_room(spark: SparkSession, tmp_path: Path) -> None:
    context = spark.sparkContext._jsc
    assert context is not None
    storage = Storage(spark)
    frame = storage.store({"r": spark.range(9).toDF("c0")})["r"]
    before = context.getPersistentRDDs().size()
    storage.let_go(frame)
    assert context.getPersistentRDDs().size() == before - 1
    in_folder = Storage(spark, str(tmp_path))
    frame = in_folder.store({"r": spark.range(9).toDF("c0")})["r"]
    assert context.getPersistentRDDs().size() == before - 1
    assert frame.data.count() == 9
