from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tocsin.errors import TocsinWarning
from tocsin.spark import session
from tocsin.spark.java import JavaHome
from tocsin.spark.launch_scripts import worker_python
from tocsin.spark.session import is_local, launch_variables, session_settings

JAVA = JavaHome(Path("/somewhere/java"), Path("/usr/bin/java"), 17)


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*]", "local[2,3]", "local-cluster[2,1,1024]"])
def test_local_masters(master: str) -> None:
    assert is_local(master)
    assert session_settings(master, JAVA)["spark.executorEnv.JAVA_HOME"] == "/somewhere/java"


@pytest.mark.parametrize("master", ["yarn", "spark://localhost:7077", "k8s://https://local", "localhost"])
def test_cluster_keeps_its_own_java_and_python(master: str) -> None:
    assert not is_local(master)
    settings = session_settings(master, JAVA)
    assert not [name for name in settings if name.startswith(("spark.executorEnv.", "spark.driver."))]


def test_the_environment_that_spark_starts_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for locale, expected in (("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("de_DE.UTF-8", None)):
        monkeypatch.setenv("LC_ALL", locale)
        assert launch_variables("local[2]", JAVA).get("LC_ALL") == expected
    assert launch_variables("local[2]", JAVA)["PYSPARK_PYTHON"] == str(worker_python())
    monkeypatch.setenv("LC_ALL", "C")
    assert set(launch_variables("spark://localhost:7077", JAVA)) == {"JAVA_HOME", "SPARK_HOME"}


def test_workers_run_this_python_with_the_kernels_loaded(spark: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            seen = [sys.executable, str("tocsin.arrays.jit" in sys.modules), str(os.getppid())]
            yield pa.record_batch({"n": [batch.num_rows], "seen": [" ".join(seen)]})

    rows = spark.range(6, numPartitions=2).mapInArrow(look, "n bigint, seen string").collect()
    assert sum(row.n for row in rows) == 6
    assert {row.seen.split()[:2] == [sys.executable, "True"] for row in rows} == {True}
    assert len({row.seen.split()[2] for row in rows}) == 1  # all forked from the one warm daemon


def test_times_mean_the_same_as_without_spark(spark: SparkSession) -> None:
    def instants(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch(
                {
                    "type": [str(column.type) for column in batch.columns],
                    "value": [column.cast(pa.int64())[0].as_py() for column in batch.columns],
                }
            )

    noon = 1_769_860_800_000_000
    frame = spark.sql(
        "select timestamp'2026-01-31T12:00:00Z' a, timestamp'2026-01-31T12:00:00' b,"
        " timestamp_ntz'2026-01-31T12:00:00' c"
    )
    rows = frame.mapInArrow(instants, "type string, value bigint").collect()
    assert [tuple(row) for row in rows] == [
        ("timestamp[us, tz=UTC]", noon),
        ("timestamp[us, tz=UTC]", noon),
        ("timestamp[us]", noon),
    ]


def test_running_session_is_returned_with_what_can_be_set(spark: SparkSession) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(name))
    try:
        assert session("local[7]", config={name: "77"}) is spark
        assert spark.conf.get(name) == "77"
    finally:
        spark.conf.set(name, before)
    assert spark.sparkContext.master == "local[2]"


def test_what_a_running_session_cannot_take_is_warned_about(spark: SparkSession) -> None:
    with pytest.warns(TocsinWarning, match=r"spark\.driver\.memory cannot be set to '33g'"):
        session(config={"spark.driver.memory": "33g"})
    same = str(spark.sparkContext.getConf().get("spark.driver.memory"))
    session(config={"spark.driver.memory": same})  # a TocsinWarning would fail the test
