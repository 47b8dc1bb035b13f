"""Several executors, each a process with a folder of its own: the index reaches them as a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.spark.cluster_program import PATHS, QUICK, RULES

from tocsin.spark.java import find_java

pytestmark = [pytest.mark.spark]

SOURCE = Path(__file__).parents[2] / "src"

IN_A_PLAIN_SESSION = f"""
from pyspark.sql import SparkSession
import tocsin
import tocsin.spark as ts

def start():
    settings = {{"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": "{QUICK}"}}
    return SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()

spark = start()
tocsin.build([("even", "n in (0, 2)")]).save("rules.tocsin")
print(ts.match(spark.range(4).withColumnRenamed("id", "n"), "rules.tocsin", keep=["n"]).collect())
spark.stop()

spark = start()
print(ts.match(spark.range(4).withColumnRenamed("id", "n"), "rules.tocsin", keep=["n"]).count())
"""


def run(command: list[str], folder: Path, **environment: str) -> list[str]:
    """Run Python in a process of its own; what it printed, line by line."""
    (folder / "tmp").mkdir()
    root = SOURCE.parent
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(root)]), "TMPDIR": str(folder / "tmp")}
        | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in (folder / "tmp").iterdir() if path.name.startswith("tocsin")]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each path of the program has to tell; it has compared the rows itself."""
    folder = tmp_path_factory.mktemp("cluster")
    lines = run(["-m", "tests.spark.cluster_program", str(folder)], folder)
    assert left_behind(folder) == []
    return {line.partition(" ")[0]: json.loads(line.partition(" ")[2]) for line in lines}


def test_every_path_runs_on_the_cluster(told: dict[str, dict[str, Any]]) -> None:
    assert list(told) == [path.__name__ for path in PATHS]
    assert told["match"] == {"rows": 20_685}
    assert told["statistics"] == {"rows": 8_000, "values of n": 10, "words": 301}
    assert told["build"] == {"rules": len(RULES)}
    assert told["activate"]["changes"] > 100


def test_an_executor_has_one_file_of_the_index_and_maps_it(told: dict[str, dict[str, Any]]) -> None:
    assert told["index_is_mapped"] == {
        "executors": 2,
        "files of each": [1, 1],
        "mapped": 2,
        "mapped files are theirs": True,
        "the driver's own": False,
        "kilobytes copied": 0,
    }


def test_what_was_killed_is_made_up_for(told: dict[str, dict[str, Any]]) -> None:
    """And it was killed in the middle: tasks that it was at have failed, and were done again.

    A worker may be between two tasks at the moment that it is killed, but hardly in both jobs.
    """
    assert told["workers_killed"]["failed tasks"] + told["streaming_match"]["failed tasks"] > 0
    assert told["executor_killed"]["failed tasks"] > 0
    assert told["streaming_match"]["batches"] == 3


def test_any_session_will_do(tmp_path: Path) -> None:
    """One that tocsin did not make, without its daemon; and the next one after it was stopped.

    Spark on its own looks for a Java only in JAVA_HOME and on the PATH, and there may be none.
    """
    java = str(find_java().home)
    first, second = run(["-c", IN_A_PLAIN_SESSION], tmp_path, PYSPARK_PYTHON=sys.executable, JAVA_HOME=java)
    assert first == "[Row(n=0, rule='even', score=None), Row(n=2, rule='even', score=None)]"
    assert second == "2"
    assert left_behind(tmp_path) == []
