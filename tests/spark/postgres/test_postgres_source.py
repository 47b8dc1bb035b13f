"""Streams of alerts from PostgreSQL: what tocsin.watch tells of the committed history, row by row."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.postgres_server import PostgresServer
from tests.spark.postgres.histories import SCHEMA, TABLES, Event, History, rows_of

import tocsin
from tocsin.conditions.live import Preparation
from tocsin.errors import InputError, RuleError, ServerAway, TocsinError, TocsinWarning
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark import stream
from tocsin.spark.postgres import server
from tocsin.spark.postgres.postgres_source import PostgresSource
from tocsin.spark.stream.match_columns import Wanted
from tocsin.spark.stream.rule_version import RuleVersion

RULES = """
create trigger big from orders as o when o.amount > 50.5 do alert 'order {o.id}, {o.note}, {o.tags}';
create trigger moved from orders after update to orders when note = 'u' and amount between 20 and 70.25;
create trigger gone from "public.items" as i after delete to i when i.tags = 'b1' or i.note is null;
create trigger anywhere when at >= timestamp '2026-01-02T00:00:00Z' and not (note = 'n1');
create trigger switched_off with (enabled = false) from orders as o when o.id > 0;
"""
OLD_ROWS = """
create trigger was_large from orders as o after update of note, tags when old.amount > 30 or old.note = 'n2'
  do alert '{old.note} to {o.note}';
create trigger seen after insert or update or delete to items when old.id is null or old.amount > id;
create trigger retagged after update of tags or delete when old.note = 'n3' or amount > 60;
create trigger grew from orders as o after update when old.amount < o.amount
  do alert '{old.amount}, {amount}';
create trigger kept after update of amount or insert to items when not (old.note != note) or old.who < id;
"""
JOINS = """
create trigger pair from orders as o, items as i after insert to i
  when o.note = i.note and o.amount < i.amount do alert '{o.id} below {i.id}';
create trigger pair_gone from orders as o, items as i after delete to o when o.who = i.who and i.amount > 60;
create trigger either from orders as a, orders as b when a.amount = b.amount and a.id != b.id;
create trigger changed from orders as o, items as i after update to o when o.who = i.who and o.id < i.id;
create trigger noted from orders as o, items as i after insert to i
  when o.who = i.who and contains(i.note, 'n1, n2', 0.5) do alert '{o.id}, {i.id}: {score}';
create trigger left_behind from orders as o, items as i after update of amount, note or delete to o
  when old.who = i.who and old.amount != o.amount do alert '{old.amount} {i.id}';
"""
STOP_WORDS = ["n1"]
OLD_RULES = {"was_large", "seen", "retagged", "grew", "kept"}

Told = tuple[str, str, str, int, str | None, str | None]
"""Of an alert: rule, kind of change, table, id of the changed row, text, ids of the joined rows by alias."""


def _expected(
    rules: str, before: Sequence[Event], events: Sequence[Event], *, has_rows: bool = True
) -> Counter[Told]:
    """What a watch tells that has seen the same. Its tables have no schemas."""
    rules = rules.replace('"public.items"', "items")
    read = rules_of_triggers(rules)
    joined = {trigger.name for trigger in read.triggers.values() if trigger.refusal}
    watch = tocsin.watch(read, stop_words=STOP_WORDS)
    found: Counter[Told] = Counter()
    for number, event in enumerate([*before, *events]):
        row = event.new or event.old or {}
        if event.op == "insert":
            alerts = watch.insert(event.table, row)
        elif event.op == "delete":
            alerts = watch.delete(event.table, row)
        else:
            alerts = watch.update(event.table, event.old or {}, row)
        if number < len(before):
            continue
        for alert in alerts:
            ids = {alias: joined["id"] for alias, joined in alert.rows.items()}
            several = json.dumps(ids, sort_keys=True) if has_rows and alert.rule in joined else None
            found[alert.rule, event.op, f"public.{event.table}", row["id"], alert.text, several] += 1
    return found


def _told(session: SparkSession, alerts: Path) -> tuple[Counter[Told], list[Any]]:
    rows = session.read.parquet(str(alerts)).collect()
    found: Counter[Told] = Counter()
    for row in rows:
        known = row.asDict()
        ids = None
        if known.get("rows") is not None:
            joined = {alias: each["id"] for alias, each in json.loads(known["rows"]).items()}
            ids = json.dumps(joined, sort_keys=True)
        found[row.rule, row.op, row.table, int(row.id), row.text, ids] += 1
    return found, rows


def _contents(server: PostgresServer, database: str) -> list[Event]:
    with server.connect(database) as connection:
        return [
            Event("insert", table, None, row)
            for table in TABLES
            for row in rows_of(connection, f"select * from {table}")
        ]


def test_alerts_are_those_of_a_watch_over_the_committed_history(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    rules, alerts = tmp_path / "rules.sql", tmp_path / "alerts"
    rules.write_text(RULES + OLD_ROWS + JOINS)
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
    history = History(postgres, database, seed=5)
    history.play(60)
    history.finish()
    before = _contents(postgres, database)
    already = len(history.committed)
    source = f"{postgres.url(database)}?tables=orders,items&contents=yes&rows=40"

    def start() -> Any:
        texts = Preparation.of(stop_words=STOP_WORDS)
        return stream(source, rules, str(alerts), keep=["id"], session=spark, preparation=texts)

    running = start()
    for _ in range(2):
        history.play(40)
        running.process_all_available()
    running.stop()
    history.play(40)  # while nobody reads
    running = start()
    history.play(20)
    running.process_all_available()
    history.finish()
    running.process_all_available()
    running.stop()
    history.close()
    events = [event for transaction in history.committed[already:] for event in transaction]
    found, rows = _told(spark, alerts)
    assert found == _expected(RULES + OLD_ROWS + JOINS, before, events)
    of_joins = {"pair", "pair_gone", "changed", "noted", "left_behind"}
    assert {rule for rule, *_ in found} >= {"big", "moved", "gone", "anywhere", *OLD_RULES, *of_joins}
    assert len({row.alert for row in rows}) == len(rows)
    with postgres.connect(database) as connection:
        connection.execute("truncate orders")
        connection.execute("insert into orders values (100000, 1, 99, 'n', now(), null)")
        running = start()
        running.process_all_available()
        running.stop()
    later, _ = _told(spark, alerts)
    assert {told[0] for told in later - found} == {"big", "anywhere"}  # no partner is left to join with


def test_old_rows_without_contents(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    rules, alerts = tmp_path / "rules.sql", tmp_path / "alerts"
    rules.write_text(RULES + OLD_ROWS)
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
    history = History(postgres, database, seed=7)
    history.play(40)
    history.finish()
    before, already = _contents(postgres, database), len(history.committed)
    source = f"{postgres.url(database)}?tables=orders,items"
    running = stream(source, rules, str(alerts), keep=["id"], session=spark)
    history.play(150)
    history.finish()
    history.close()
    running.process_all_available()
    events = [event for transaction in history.committed[already:] for event in transaction]
    found, rows = _told(spark, alerts)
    assert found == _expected(RULES + OLD_ROWS, before, events, has_rows=False)
    assert {rule for rule, *_ in found} >= OLD_RULES
    assert len({row.alert for row in rows}) == len(rows)
    with postgres.connect(database) as connection:  # as a row is, the log tells still; as it was, no more
        connection.execute("alter table orders replica identity default")
        connection.execute("insert into orders values (200000, 1, 99, 'n', now(), null)")
        connection.execute("update orders set amount = 100 where id = 200000")
    running.process_all_available()
    running.stop()
    later, _ = _told(spark, alerts)
    assert {told[:2] for told in later - found} == {("big", "insert"), ("anywhere", "insert")}
    rejects = spark.read.json(str(tmp_path / "alerts.checkpoint" / "rejects")).collect()
    (reason,) = (row.reason for row in rejects)
    assert reason.startswith("the log does not carry the row as it was, which a rule asks for: ")
    assert reason.endswith("ALTER TABLE public.orders REPLICA IDENTITY FULL")


def test_a_column_that_is_called_old(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    rules, alerts = tmp_path / "rules.sql", tmp_path / "alerts"
    rules.write_text("create trigger a from t when old > 1; create trigger b from t when id = 2;")
    with postgres.connect(database) as connection:
        connection.execute("create table t (id int primary key, old int)")
        connection.execute("alter table t replica identity full")
        running = stream(f"{postgres.url(database)}?tables=t", rules, str(alerts), session=spark)
        connection.execute("insert into t values (1, 2)")
        running.process_all_available()
        assert [row.rule for row in spark.read.parquet(str(alerts)).collect()] == ["a"]
        rules.write_text(
            "create trigger a from t when id > 0; create trigger b from t after update when old.id = 1;"
        )
        connection.execute("update t set old = 3")
        running.process_all_available()
        running.stop()
    rejects = spark.read.json(str(tmp_path / "alerts.checkpoint" / "rejects")).collect()
    assert ["column called old" in row.reason for row in rejects] == [True]


def test_what_cannot_be_judged_and_what_cannot_be_done(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    rules, alerts = tmp_path / "rules.sql", tmp_path / "alerts"
    source = f"{postgres.url(database)}?tables=t"
    with postgres.connect(database) as connection:
        connection.execute("create table t (id int primary key, doc json)")
        rules.write_text("create trigger gone from t after delete to t when id > 0;")
        with pytest.raises(InputError, match="REPLICA IDENTITY FULL"):
            stream(source, rules, str(alerts), session=spark)
        connection.execute("alter table t replica identity full")
        rules.write_text("create trigger both from t as a, t as b when a.id = b.id;")
        with pytest.raises(RuleError, match="contents=yes"):
            stream(source, rules, str(tmp_path / "others"), session=spark)
        rules.write_text(
            "create trigger new from t when id > 0; create trigger gone from t after delete to t when id > 0;"
            "create trigger other from nothing when id > 0;"
        )
        with pytest.warns(TocsinWarning, match="changes are not read: nothing"):
            running = stream(source, rules, str(alerts), session=spark)
        connection.execute("insert into t values (1, null)")
        connection.execute("""insert into t values (2, '{"a": "\\ud800"}')""")
        connection.execute("alter table t replica identity default")
        connection.execute("delete from t where id = 1")
        running.process_all_available()
        found = {(row.rule, row.op) for row in spark.read.parquet(str(alerts)).collect()}
        assert found == {("new", "insert")}
        rejects = spark.read.json(str(tmp_path / "alerts.checkpoint" / "rejects")).collect()
        assert sorted(row.reason.split(":")[0] for row in rejects) == [
            "half a surrogate pair in a string",
            "the log does not carry the whole row",
        ]
        slot = json.loads((tmp_path / "alerts.checkpoint" / "source" / "slot.json").read_text())["name"]
        reader = "select active_pid from pg_replication_slots where slot_name = %s"
        ((process,),) = connection.execute(reader, (slot,)).fetchall()
        connection.execute("select pg_terminate_backend(%s, 5000)", (process,))
        connection.execute("select pg_drop_replication_slot(%s)", (slot,))
        with pytest.raises(TocsinError, match=f"the replication slot {slot} is gone"):
            running.wait(60)
        running.stop()


def test_rules_that_come_while_the_server_is_away_are_not_refused(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.connect(database) as connection:
        connection.execute("create table t (id int primary key)")
    index = tocsin.build([("r", "id > 0")])
    index.save(tmp_path / "rules.tocsin")
    source, version = (
        PostgresSource.of(f"{postgres.url(database)}?tables=t"),
        RuleVersion(1, str(tmp_path / "rules.tocsin")),
    )
    connect, tries = server.connect, iter(range(9))

    def connected(*given: Any) -> Any:
        if next(tries) % 3:
            return connect(*given)
        raise ServerAway("not yet")

    monkeypatch.setattr(server, "connect", connected)
    with pytest.raises(ServerAway):  # before there is a stream, nobody waits
        source.check(Wanted(None, None, ()), version)
    next(tries), next(tries)
    source.folder = tmp_path
    assert source.check(Wanted(None, None, ("id",)), version)


_PROGRAM = """
import sys
import tocsin.spark as ts
from tocsin.conditions.live import Preparation
from tocsin.spark.stream.stream import stream

session = ts.session("local[2]", config={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})
texts = Preparation.of(stop_words=["n1"])
stream(sys.argv[1], sys.argv[2], sys.argv[3], keep=["id"], session=session, preparation=texts).wait()
"""


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost_and_nothing_twice(
    spark: SparkSession, postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    rules, alerts = tmp_path / "rules.sql", tmp_path / "alerts"
    rules.write_text(RULES + OLD_ROWS + JOINS)
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
    history = History(postgres, database, seed=11)
    history.play(40)
    history.finish()
    before, already = _contents(postgres, database), len(history.committed)
    source = f"{postgres.url(database)}?tables=orders,items&contents=yes&rows=5"
    chance = random.Random(3)
    slots = "select count(*) from pg_replication_slots where database = %s"
    for _ in range(4):
        command = [sys.executable, "-c", _PROGRAM, source, str(rules), str(alerts)]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            with postgres.connect(database) as connection:
                while connection.execute(slots, (database,)).fetchone() == (0,):
                    time.sleep(0.2)
            end = time.monotonic() + chance.uniform(5, 25)
            while time.monotonic() < end:
                history.play(3)
                time.sleep(0.1)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    history.finish()
    history.close()
    texts = Preparation.of(stop_words=STOP_WORDS)
    stream(source, rules, str(alerts), keep=["id"], session=spark, once=True, preparation=texts).wait()
    events = [event for transaction in history.committed[already:] for event in transaction]
    found, rows = _told(spark, alerts)
    assert found == _expected(RULES + OLD_ROWS + JOINS, before, events)
    assert len({row.alert for row in rows}) == len(rows)
