"""A SparkSession with the settings that tocsin works best with.

On a *local* master (`local`, `local[4]`, `local-cluster[2,1,1024]`) every process of Spark is started
from here, and everything they need is set: the Java, this very Python for the workers, the way to
tocsin's code, addresses, memory and logging. On a *cluster* the machines have their own Java, Python
and tocsin, and only what holds everywhere is set; what the cluster's administrator chose stays.

The environment variables that starting Spark takes are set while it starts, and then put back.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from tocsin.errors import TocsinError, TocsinWarning, UsageError
from tocsin.spark.java import JavaHome, find_java
from tocsin.spark.java_launch import fetches_packages, launch_quietly
from tocsin.spark.launch_scripts import worker_python
from tocsin.storage import temporary_folder

GIBIBYTE = 1 << 30

EVERYWHERE = {
    # Shown and parsed times mean the same on every machine. Matching does not depend on it: a
    # TIMESTAMP reaches the kernels as an instant whatever the zone, and a TIMESTAMP_NTZ counts as UTC.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Four full blocks of events (conditions/kernels/bitmap_store.py): reading and looking up what is in a
    # batch has a price for each batch besides that for each event.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    "spark.python.daemon.module": "tocsin.spark.worker_daemon",
    # The only one that holds the state of ts.activate, on disk beyond memory.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


def session(
    master: str = "local[*]", *, app_name: str = "tocsin", config: Mapping[str, str] | None = None
) -> SparkSession:
    """The running SparkSession, or else a new one with the settings that suit tocsin.

    A session that is already running is returned as it is, whatever its master: tocsin gives the same
    answers on any. Of `config`, what can still be changed is set on it, and the rest is warned about.
    A session that was stopped is replaced. In a new session `config` wins over tocsin's own settings,
    and it is stopped when the process ends, if not before.

    Under spark-submit, which has started Java and chosen the master already, both stand.
    """
    running = _running_session()
    if running is not None:
        _configure(running, config or {})
        return running
    builder = SparkSession.builder.appName(app_name)
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        settings, variables = EVERYWHERE, {}
    else:
        java = find_java()
        settings, variables = session_settings(master, java), launch_variables(master, java)
        builder = builder.master(master)
    settings = {**settings, **(config or {})}
    try:
        with _environment(variables):
            if fetches_packages(settings):
                launch_quietly({"spark.master": master, "spark.app.name": app_name, **settings})
            started = builder.config(map={**settings}).getOrCreate()
    except (PySparkException, Py4JError) as error:
        why = str(getattr(error, "java_exception", error)).partition("\n")[0]
        raise TocsinError(f"Spark did not start on {master!r}: {why}") from error
    atexit.register(_stop_at_exit, started)  # before the folders that it works in are taken away
    return started


def context_of(session: SparkSession, aim: str) -> SparkContext:
    """What jobs are asked of, to an aim; UsageError for a Spark Connect session, which has none here."""
    try:
        return session.sparkContext
    except PySparkException as error:
        raise UsageError(f"a Spark Connect session cannot {aim}: use a classic one") from error


def is_local(master: str) -> bool:
    """Whether Spark's processes are all started by this one, on this machine."""
    return re.fullmatch(r"local(\[.*\])?|local-cluster\[.*\]", master.strip()) is not None


def session_settings(master: str, java: JavaHome) -> dict[str, str]:
    """The settings of a new session on this master."""
    if not is_local(master):
        return dict(EVERYWHERE)
    settings = EVERYWHERE | {
        "spark.executorEnv.JAVA_HOME": str(java.home),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.sql.shuffle.partitions": str(max(8, os.cpu_count() or 1)),
        "spark.driver.memory": f"{_driver_gibibytes()}g",
        "spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={_log_settings().as_uri()}",
    }
    root = _code_root()
    if root is not None:
        settings["spark.executorEnv.PYTHONPATH"] = str(root)
    return settings


def launch_variables(master: str, java: JavaHome) -> dict[str, str]:
    """The environment that Spark is to be started in, beside what is there."""
    own_home = master.strip().startswith("local-cluster")
    variables = {
        "JAVA_HOME": str(java.home),
        # Said here, because Spark's scripts would ask whatever PYSPARK_DRIVER_PYTHON names for it.
        "SPARK_HOME": str(_temporary_spark_home()) if own_home else _find_spark_home(),
    }
    if is_local(master):
        variables["PYSPARK_PYTHON"] = str(worker_python())
        variables["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
        if os.environ.get("LC_ALL") in ("C", "POSIX"):
            # Where Python sees a file named é, Java would see none.
            variables["LC_ALL"] = "C.UTF-8"
    return variables


def _temporary_spark_home() -> Path:
    """Spark's home by links, gone when this process ends.

    The workers of a local-cluster write to `work/` in Spark's home and cannot be told otherwise
    (SPARK_WORKER_DIR is for a standalone worker); the true one belongs to the installed package.
    """
    home = temporary_folder("spark")
    for entry in Path(_find_spark_home()).iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    return home


def _code_root() -> Path | None:
    """The folder to import tocsin from, when it is not one that every Python looks into anyway."""
    root = Path(__file__).resolve().parents[2]
    return None if root.name in ("site-packages", "dist-packages") else root


def _log_settings() -> Path:
    return Path(__file__).resolve().with_name("log4j2.properties")


def _driver_gibibytes() -> int:
    """A quarter of the machine, from one to four: the index is outside of Java's heap, mapped."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 1
    return max(1, min(4, memory // 4 // GIBIBYTE))


def _running_session() -> SparkSession | None:
    """The session of this process if it can be used; one whose context has stopped is cleared away."""
    try:
        running = SparkSession.active()
        context = running.sparkContext
        stopped = context._jsc is None or context._jsc.sc().isStopped()
    except PySparkRuntimeError:
        return None
    except (Py4JError, OSError) as error:
        raise TocsinError(
            "the Java process of this Spark session has ended; Spark can only be used again in a new process"
        ) from error
    if stopped:
        running.stop()
        return None
    return running


def _stop_at_exit(started: SparkSession) -> None:
    """Stop it, unless its Java is gone already."""
    with contextlib.suppress(Py4JError, OSError):
        started.stop()


def _configure(running: SparkSession, config: Mapping[str, str]) -> None:
    """Set on a running session what can still be set, and warn about what cannot."""
    for name, value in config.items():
        if running.conf.isModifiable(name):
            running.conf.set(name, value)
        elif running.sparkContext.getConf().get(name) != value:
            warnings.warn(
                f"{name} cannot be set to {value!r}: a Spark session is already running",
                TocsinWarning,
                stacklevel=3,
            )


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
