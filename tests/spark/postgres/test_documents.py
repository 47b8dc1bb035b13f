"""The example of docs/postgresql.md does what it says."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import SparkSession
from tests.postgres_server import PostgresServer

import tocsin.spark as ts
from tocsin.spark.postgres.change_files import DDL

DOCUMENT = (Path(__file__).parents[3] / "docs" / "postgresql.md").read_text()


def test_the_example(spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    tables, triggers, changes = re.findall(r"^```sql\n(.*?)^```$", DOCUMENT, re.M | re.S)
    (expected,) = re.findall(r"^```text\n(.*?)^```$", DOCUMENT, re.M | re.S)
    (tmp_path / "triggers.sql").write_text(triggers)
    source = f"{postgres.url(database)}?tables=orders,customers&contents=yes"
    with postgres.connect(database) as connection:
        connection.execute(tables)
        running = ts.stream(source, tmp_path / "triggers.sql", str(tmp_path / "alerts"), session=spark)
        for statement in changes.split(";"):
            connection.execute(statement)
        running.process_all_available()
        running.stop()
    alerts = spark.read.parquet(str(tmp_path / "alerts")).collect()
    shown = [f"{alert.rule} {alert.op} {alert.table} {alert.text}" for alert in alerts]
    assert sorted(shown) == sorted(expected.splitlines())


def test_the_columns_are_listed() -> None:
    names = [column.split()[0] for column in DDL.split(", ")]
    listed = re.findall(r"^\| (`.*?) +\|", DOCUMENT.partition("## As a DataFrame")[2], re.M)
    assert [name for each in listed for name in re.findall(r"`(\w+)`", each)] == names
