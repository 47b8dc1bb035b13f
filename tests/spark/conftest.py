"""One Spark session for all tests that need one, and the marks that sort them out.

`make spark` runs two processes side by side: all tests of the one session go to one of them, those that
start Spark in processes of their own to the other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.postgres_server import NoServer, PostgresServer, running_server
from xdist.scheduler import LoadScopeScheduling

from tocsin.spark import session

QUICK_START = {
    # For a JVM that lives for a minute: no time spent on optimising what will not run long enough to
    # gain from it (C1 only), and a collector without threads of its own.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
}

IN_PROCESSES_OF_THEIR_OWN = (
    "test_distribution.py",
    "test_killed.py",
    "test_killed_postgres.py",
    "test_session_lives.py",
)
"""Files whose tests start Spark for themselves, and leave the session of the others alone."""


class OneSession(LoadScopeScheduling):  # type: ignore[misc]
    """All tests of the one session go to one process, each of the other files to whichever is free."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith(IN_PROCESSES_OF_THEIR_OWN) else "one session"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSession | None:
    return OneSession(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session("local[2]", app_name="tocsin tests", config=QUICK_START)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One PostgreSQL server for all tests that need one."""
    with contextlib.ExitStack() as ending:
        try:
            server = ending.enter_context(running_server())
        except NoServer as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """An empty database of that server."""
    with postgres.new_database() as name:
        yield name
