"""Several executors, each a process with a folder of its own: the index reaches them as a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.spark.java import find_java

pytestmark = [pytest.mark.spark]

SOURCE = Path(__file__).parents[2] / "src"

ON_A_CLUSTER = """
import os
import time
import pyarrow as pa
from pyspark import SparkFiles
import tocsin
import tocsin.spark as ts

quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
spark = ts.session("local-cluster[2,1,1024]", config={
    "spark.driver.extraJavaOptions": quick,
    "spark.executor.extraJavaOptions": quick,
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.shuffle.partitions": "2",
})
index = tocsin.build([
    ("even", "n in (0, 2, 4, 6, 8)"), ("big", "n >= 5"), ("old", "at < timestamp '2020-01-01T00:00:00Z'"),
])
events = spark.range(40_000, numPartitions=8).selectExpr("id", "id % 10 as n", "timestamp_seconds(id) as at")
found = ts.match(events, index, keep=["id"])
print(*sorted((row["rule"], row["count"]) for row in found.groupBy("rule").count().collect()))

def folder(batches):
    time.sleep(0.3)  # so that no executor does the work of both
    for batch in batches:
        folder = os.path.abspath(SparkFiles.getRootDirectory())
        (index,) = [name for name in os.listdir(folder) if name.endswith(".tocsin")]
        yield pa.record_batch({"folder": [folder] * batch.num_rows})

rows = spark.range(8, numPartitions=8).mapInArrow(folder, "folder string").collect()
folders = {row.folder for row in rows}
print(len(folders), SparkFiles.getRootDirectory() in folders)
"""

IN_A_PLAIN_SESSION = """
from pyspark.sql import SparkSession
import tocsin
import tocsin.spark as ts

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
tocsin.build([("even", "n in (0, 2)")]).save("rules.tocsin")
print(ts.match(spark.range(4).withColumnRenamed("id", "n"), "rules.tocsin", keep=["n"]).collect())
spark.stop()

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(ts.match(spark.range(4).withColumnRenamed("id", "n"), "rules.tocsin", keep=["n"]).count())
"""


def run(program: str, folder: Path, **environment: str) -> list[str]:
    """Run a program in a process of its own; what it printed, line by line."""
    (folder / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE), "TMPDIR": str(folder / "tmp")} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in (folder / "tmp").iterdir() if path.name.startswith("tocsin")]


def test_executors_fetch_the_index(tmp_path: Path) -> None:
    counts, folders = run(ON_A_CLUSTER, tmp_path)
    assert counts == "('big', 20000) ('even', 20000) ('old', 40000)"
    assert folders == "2 False"
    assert left_behind(tmp_path) == []


def test_any_session_will_do(tmp_path: Path) -> None:
    """One that tocsin did not make, without its daemon; and the next one after it was stopped.

    Spark on its own looks for a Java only in JAVA_HOME and on the PATH, and there may be none.
    """
    java = str(find_java().home)
    first, second = run(IN_A_PLAIN_SESSION, tmp_path, PYSPARK_PYTHON=sys.executable, JAVA_HOME=java)
    assert first == "[Row(n=0, rule='even', score=None), Row(n=2, rule='even', score=None)]"
    assert second == "2"
    assert left_behind(tmp_path) == []
