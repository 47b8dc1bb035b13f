from __future__ import annotations

import json
import threading
from typing import Any

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
from tests.postgres_server import PostgresServer
from tests.spark.sinks.sample_alerts import (
    SCHEMA,
    SMALL,
    alerts_of_every_kind,
    rows_of_every_kind,
    small_alerts,
)

from tocsin.errors import InputError, TocsinError, UsageError
from tocsin.spark.sinks import deliveries
from tocsin.spark.sinks.postgres_columns import without_overflow
from tocsin.spark.sinks.postgres_sink import PostgresSink
from tocsin.spark.stream.schemes import sink_of


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "FIRST_WAIT", 0.01)


def opened(
    spark: SparkSession, uri: str, stream: str = "stream-1", schema: StructType = SMALL
) -> PostgresSink:
    sink = sink_of(uri)
    assert isinstance(sink, PostgresSink)
    sink.open(spark, stream, schema)
    return sink


def table(postgres: PostgresServer, database: str, query: str) -> list[tuple[Any, ...]]:
    with postgres.connect(database) as connection:
        return connection.execute(query).fetchall()


def test_every_type_and_every_text(spark: SparkSession, postgres: PostgresServer, database: str) -> None:
    sink = opened(spark, f"{postgres.url(database)}?table=alerts", schema=SCHEMA)
    assert sink.name.endswith("table public.alerts (new)")
    sink.write(alerts_of_every_kind(spark), 0)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in SCHEMA.names)
    with postgres.connect(database) as connection:
        connection.execute("set timezone to 'UTC'")
        found = connection.execute(f"select {names} from alerts order by alert").fetchall()
    expected = rows_of_every_kind()
    assert len(found) == len(expected)
    for values, wanted in zip(found, expected, strict=True):
        got = dict(zip(SCHEMA.names, values, strict=True))
        for name in ("alert", "version", "batch", "flag", "tiny", "small", "whole", "large", "exact", "day"):
            assert got[name] == wanted[name], name
        for name in ("rule", "key", "text", 'odd "name`, with.all'):
            assert got[name] == _held(wanted[name]), name
        assert got["score"] == wanted["score"]
        assert got["local"] == wanted["local"]
        assert got["time"] == wanted["time"]
        assert got["bytes"] == wanted["bytes"]
        if wanted["json"] is not None:
            assert got["json"] == _held(json.loads(wanted["json"]))
            assert got["single"] == pytest.approx(wanted["single"])
            assert got["list"] == [_held(wanted["text"]), None]
            assert got["map"] == {_held(wanted["text"]): wanted["tiny"] * -1}
            assert got["object"] == {"a": _held(wanted["text"]), "b": None}
            assert "INTERVAL '1 00:00:00" in got["span"]


def _held(value: Any) -> Any:
    """A value as PostgreSQL can hold it."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def test_numbers_that_are_too_large_for_jsonb(
    spark: SparkSession, postgres: PostgresServer, database: str
) -> None:
    kept = [
        '{"a": [1e999999, -1.5E+131072, 1e131000], "1e999999": "\\\\\\"1e999999", "b": 1e-999999999}',
        "0." + 20_000 * "1",
        f"1e{'9' * 5000}",
        "1e000000005",
        '"1e999999"',
    ]
    mended = [
        '{"a": [1e999, -1e999, 1e131000], "1e999999": "\\\\\\"1e999999", "b": 0.0}',
        "0.1111111111111111",
        "1e999",
        "1e000000005",
        '"1e999999"',
    ]
    assert list(map(without_overflow, kept)) == mended
    alerts = small_alerts(spark, 0, 1).withColumn("json", F.lit(kept[0])).to(SMALL)
    opened(spark, postgres.url(database)).write(alerts, 0)
    assert table(postgres, database, "select json -> 'a' -> 0 = '1e999' from alerts") == [(True,)]


def test_a_batch_is_there_once(spark: SparkSession, postgres: PostgresServer, database: str) -> None:
    uri = f"{postgres.url(database)}?table=told.alerts"
    with postgres.connect(database) as connection:
        connection.execute("create schema told")
    sink = opened(spark, uri)
    for batch in (0, 0, 2, 2, 1):
        sink.write(small_alerts(spark, batch, 50), batch)
    again = opened(spark, uri)
    assert not again.name.endswith("(new)")
    again.write(small_alerts(spark, 2, 50), 2)
    again.write(small_alerts(spark, 3, 0), 3)
    other = opened(spark, uri, stream="stream-2")
    other.write(small_alerts(spark, 0, 10), 0)
    counts = table(postgres, database, "select batch, count(*) from told.alerts group by 1 order by 1")
    assert counts == [(0, 60), (2, 50)]
    noted = table(postgres, database, "select stream, target, batch from told.tocsin_streams order by 1")
    assert noted == [("stream-1", "alerts", 3), ("stream-2", "alerts", 0)]


def test_a_failure_in_the_middle_leaves_nothing(
    spark: SparkSession, postgres: PostgresServer, database: str
) -> None:
    sink = opened(spark, postgres.url(database))
    broken = small_alerts(spark, 0, 3000).withColumn(
        "text", F.expr("if(cast(key as int) > 2500, raise_error('no more'), text)")
    )
    with pytest.raises(Exception, match="no more"):
        sink.write(broken, 0)
    with postgres.connect(database) as connection:
        connection.execute("alter table alerts add check (key <> '2999')")
    with pytest.raises(TocsinError, match='violates check constraint "alerts_key_check"'):
        sink.write(small_alerts(spark, 0, 3000), 0)
    assert table(postgres, database, "select count(*) from alerts") == [(0,)]
    with postgres.connect(database) as connection:
        connection.execute("alter table alerts drop constraint alerts_key_check")
    sink.write(small_alerts(spark, 0, 3000), 0)
    assert table(postgres, database, "select count(*), count(distinct alert) from alerts") == [(3000, 3000)]


def test_connections_that_are_lost(
    spark: SparkSession,
    postgres: PostgresServer,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server ends the connection again and again, before and after the commit."""
    sink = opened(spark, postgres.url(database))
    real = PostgresSink._write_blocks
    tries = iter(["in the copy", "after the commit", "none"])

    def write_blocks(self: PostgresSink, columns: Any, rows: Any, batch: int) -> None:
        fate = next(tries)
        if fate == "in the copy":
            real(self, columns, _ended_in_the_middle(rows, postgres, database), batch)
        real(self, columns, rows, batch)
        if fate == "after the commit":
            from tocsin.errors import ServerAway

            raise ServerAway("the answer to the commit was lost")

    monkeypatch.setattr(PostgresSink, "_write_blocks", write_blocks)
    sink.write(small_alerts(spark, 0, 25_000), 0)
    assert next(tries, None) is None
    assert table(postgres, database, "select count(*), count(distinct alert) from alerts") == [(25_000,) * 2]


def _ended_in_the_middle(rows: Any, postgres: PostgresServer, database: str) -> Any:
    for number, row in enumerate(rows):
        if number == 1:
            with postgres.connect() as connection:
                connection.execute(
                    "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                    " where datname = %s and query ilike 'copy%%'",
                    (database,),
                )
        yield row


def test_two_streams_make_the_tables_at_once(
    spark: SparkSession, postgres: PostgresServer, database: str
) -> None:
    failures: list[BaseException] = []

    def open_one(number: int) -> None:
        try:
            opened(spark, postgres.url(database), stream=f"s{number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=open_one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_table_that_is_there(spark: SparkSession, postgres: PostgresServer, database: str) -> None:
    columns = "alert text, rule text, version int, batch int, key numeric, time timestamp, score real"
    with postgres.connect(database) as connection:
        connection.execute(f"create table alerts (id bigserial primary key, {columns}, json text)")
    with pytest.raises(InputError) as caught:
        opened(spark, postgres.url(database))
    assert 'lacks columns of alerts: ALTER TABLE "public"."alerts" add column "text" text' in str(
        caught.value
    )
    with postgres.connect(database) as connection:
        connection.execute('alter table alerts add column "text" text')
    sink = opened(spark, postgres.url(database))
    sink.write(small_alerts(spark, 0, 3), 0)
    found = table(postgres, database, "select key, json, id is not null from alerts order by key")
    assert found == [(number, str(number), True) for number in range(3)]
    wrong = small_alerts(spark, 1, 3).withColumn("key", F.lit("no number"))
    with pytest.raises(TocsinError, match='invalid input syntax for type numeric: "no number"'):
        sink.write(wrong, 1)


def test_what_is_not_allowed(spark: SparkSession, postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as connection:
        connection.execute("create role guest_of_sinks login")
        connection.execute("revoke create on schema public from public")
    try:
        with pytest.raises(InputError) as caught:
            opened(spark, postgres.url(database, "guest_of_sinks"))
        assert 'can do it by: create table if not exists "public"."alerts" ("alert" text' in str(caught.value)
    finally:
        with postgres.connect(database) as connection:
            connection.execute("drop role guest_of_sinks")
    with pytest.raises(TocsinError, match="cannot be reached"):
        opened(spark, "postgresql://postgres:secret@127.0.0.1:1/nowhere")


def test_uris() -> None:
    sink = sink_of("postgresql://me:secret@db.example:5433/main?table=ops.told&sslmode=require")
    assert sink.name == "postgresql://me@db.example:5433/main, table ops.told"
    assert sink.identity() == {"kind": "postgresql", "database": "main", "table": "ops.told"}
    assert sink.exactly_once
    assert "secret" not in repr(vars(sink))
    assert sink_of("postgres://h/d").name == "postgresql://h/d, table public.alerts"
    for wrong in ("postgresql://h/d?table=a,b", "postgresql://h/d?tables=a", "postgresql://h/d?table="):
        with pytest.raises(UsageError):
            sink_of(wrong)
