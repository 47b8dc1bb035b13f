"""Slots, snapshots, and everything that a server can refuse: each is said with what to do about it."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres_server import PostgresServer, running_server

from tocsin.errors import InputError, ServerAway, TocsinWarning, UsageError
from tocsin.spark.postgres import feed, replication, slot
from tocsin.spark.postgres.catalog import check_whole_rows, find_tables, provide_publication
from tocsin.spark.postgres.change_files import ChangeWriter, lsn_text, read_batches
from tocsin.spark.postgres.feed import Feed
from tocsin.spark.postgres.pgoutput import decoded
from tocsin.spark.postgres.postgres_address import Address, TableName
from tocsin.spark.postgres.postgres_values import row_reader
from tocsin.spark.postgres.server import connect
from tocsin.spark.postgres.slot import drop_slot, known_slot, take_up


def _address(server: PostgresServer, database: str, query: str, user: str = "postgres") -> Address:
    return Address.of(f"{server.url(database, user)}?{query}")


def _rows(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.iterdir())
    return [row for file in files for batch in read_batches(file) for row in batch.to_pylist()]


def _slots(connection: psycopg.Connection[Any], database: str) -> list[str]:
    found = connection.execute("select slot_name from pg_replication_slots where database = %s", (database,))
    return [name for (name,) in found.fetchall()]


def test_the_snapshot_is_of_the_moment_that_the_slot_starts_at(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot, "PART_ROWS", 4)
    with postgres.connect(database) as connection:
        connection.execute(
            'create schema "Odd "".,"; create table "Odd "".,"."T,1" ("A b" int primary key, n numeric)'
        )
        connection.execute("""create table parts (k int primary key, v text) partition by range (k);
            create table parts_low partition of parts for values from (0) to (10)""")
        connection.execute('insert into "Odd "".,"."T,1" select g, g + 0.50 from generate_series(1, 9) g')
        connection.execute("insert into parts values (3, 'x')")
        address = _address(postgres, database, 'tables=parts,"Odd "".,"."T,1"')
        taken = take_up(address, tmp_path)
        connection.execute("insert into parts values (4, 'y')")
        contents = _rows(tmp_path / "snapshot")
        assert taken.parts == 3
        assert [row["row"] for row in contents] == list(range(10))
        assert {row["lsn"] for row in contents} == {taken.start - 1}
        read = [row_reader(row["types"]).row(row["new"]) for row in contents]
        assert read == [{"k": 3, "v": "x"}, *({"A b": g, "n": Decimal(f"{g}.50")} for g in range(1, 10))]
        reader = Feed(address, taken, tmp_path)
        reader.collect(taken.start)
        reader.close()
        (change,) = _rows(tmp_path / "changes")
        assert (change["table"], change["new"]) == ("public.parts", '{"k": 4, "v": "y"}')
        assert take_up(address, tmp_path) == taken


def test_columns_that_come_and_go(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    address = _address(postgres, database, "tables=t")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key, b text)")
        taken = take_up(address, tmp_path)
        connection.execute("insert into t values (1, 'x')")
        connection.execute("alter table t add c date default '2026-01-01', drop b")
        connection.execute("insert into t values (2)")
        connection.execute("alter table t rename a to d")
        connection.execute("alter table t alter d type text")
        connection.execute("insert into t values ('3')")
    reader = Feed(address, taken, tmp_path)
    reader.collect(taken.start)
    reader.close()
    assert [row["new"] for row in _rows(tmp_path / "changes")] == [
        '{"a": 1, "b": "x"}',
        '{"a": 2, "c": "2026-01-01"}',
        '{"d": "3", "c": "2026-01-01"}',
    ]


def test_a_start_that_fails_leaves_nothing_behind(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = _address(postgres, database, "tables=t")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key); insert into t values (1)")
        with monkeypatch.context() as patched:
            patched.setattr(slot, "_copy_contents", fail)
            with pytest.raises(OSError, match="the disk is full"):
                take_up(address, tmp_path)
        assert _slots(connection, database) == []
        assert connection.execute("select count(*) from pg_publication").fetchone() == (0,)
        assert known_slot(tmp_path) is None

        # As a kill leaves it: a slot, and the note that it was being made.
        connection.execute("select pg_create_logical_replication_slot('half_made', 'pgoutput')")
        (tmp_path / "starting.json").write_text(json.dumps({"slot": "half_made", "publication": None}))
        taken = take_up(address, tmp_path)
        assert _slots(connection, database) == [taken.name]
        drop_slot(address, taken)
        assert _slots(connection, database) == []
        assert connection.execute("select count(*) from pg_publication").fetchone() == (0,)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("tables=order", "there is no table public.order in the database .*: did you mean public.orders"),
        ("tables=a_view", "public.a_view is not a table"),
        ("tables=fleeting", "the changes of public.fleeting are not logged"),
        ("tables=orders&publication=half", 'ALTER PUBLICATION "half" ADD TABLE "public"."orders"'),
        ("tables=other&publication=inserts", "does not publish all changes"),
        ("tables=orders&slot=taken", "there is a replication slot taken already"),
    ],
)
def test_what_the_server_does_not_have(
    postgres: PostgresServer, database: str, tmp_path: Path, query: str, reason: str
) -> None:
    with postgres.connect(database) as connection:
        connection.execute(
            "create table orders (id int primary key); create table other (id int);"
            "create view a_view as select 1;"
            "create unlogged table fleeting (id int); create publication half for table other;"
            "create publication inserts for table other with (publish = 'insert')"
        )
        connection.execute("select pg_create_logical_replication_slot('taken', 'pgoutput')")
        with pytest.raises(InputError, match=reason):
            take_up(_address(postgres, database, query), tmp_path)
        assert _slots(connection, database) == ["taken"]


def test_rights_that_are_missing(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    with postgres.connect(database) as connection:
        connection.execute("create table orders (id int primary key); create role reader login")
        try:
            address = _address(postgres, database, "tables=orders", "reader")
            with pytest.raises(InputError, match=r'GRANT SELECT ON "public"."orders" TO "reader"'):
                take_up(address, tmp_path)
            connection.execute("grant select on orders to reader")
            with pytest.raises(InputError, match=r"CREATE PUBLICATION .* and add publication="):
                take_up(address, tmp_path)
            connection.execute("create publication everything for table orders")
            address = _address(postgres, database, "tables=orders&publication=everything", "reader")
            with pytest.raises(InputError, match=r'ALTER ROLE "reader" REPLICATION'):
                take_up(address, tmp_path)
            connection.execute("alter role reader replication")
            taken = take_up(address, tmp_path)
            assert not taken.made_it
        finally:
            connection.execute("drop owned by reader; drop role reader")


def test_whole_old_rows(postgres: PostgresServer, database: str) -> None:
    with postgres.connect(database) as connection:
        connection.execute("""create table a (id int primary key); create table b (id int);
            alter table b replica identity full; create table c (k int) partition by list (k);
            create table c1 partition of c for values in (1);
            create table c2 partition of c for values in (2);
            alter table c1 replica identity full""")
        check_whole_rows(connection, [TableName("public", "b")], "rules see updates")
        with pytest.raises(InputError, match=r'ALTER TABLE "public"."a" REPLICA IDENTITY FULL;$'):
            check_whole_rows(connection, [TableName("public", "a"), TableName("public", "b")], "x")
        for lacking in ("c", "c2"):  # of a partitioned table the log says itself what its old rows are
            with pytest.raises(InputError, match=rf'ALTER TABLE "public"."{lacking}" REPLICA IDENTITY FULL;'):
                check_whole_rows(connection, [TableName("public", "c")], "x")
            connection.execute(f"alter table {lacking} replica identity full")
        check_whole_rows(connection, [TableName("public", "c")], "x")


def test_nobody_is_kept_from_changing_rows(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    address = _address(postgres, database, "tables=t")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int); insert into t values (1)")
        with pytest.raises(InputError, match=r'primary key.*ALTER TABLE "public"."t" REPLICA IDENTITY FULL'):
            take_up(address, tmp_path)
        connection.execute("update t set a = 2")
        connection.execute("alter table t replica identity full")
        take_up(address, tmp_path)
        connection.execute("update t set a = 3")


def test_contents_that_some_may_not_see_are_not_copied(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as connection:
        connection.execute("""create table t (a int primary key); insert into t values (1);
            alter table t enable row level security; create publication everything for table t;
            create role reader login replication; grant select on t to reader""")
        try:
            address = _address(postgres, database, "tables=t&publication=everything", "reader")
            with pytest.raises(InputError, match="row-level security"):
                take_up(address, tmp_path)
            assert _slots(connection, database) == []
        finally:
            connection.execute("drop owned by reader; drop role reader")


def test_contents_that_are_truncated_meanwhile_are_copied_anew(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A truncated table is empty in every snapshot, but the log of the slot begins before."""
    made, create = [], slot._created
    address = _address(postgres, database, "tables=t")

    def created(*given: Any) -> list[tuple[Any, ...]]:
        made.append(create(*given))
        if len(made) <= disturbed:
            connection.execute("update t set a = -a; truncate t")
            connection.execute("insert into t values (1), (2)")
        return made[-1]

    monkeypatch.setattr(slot, "_created", created)
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key); insert into t values (7)")
        disturbed = slot.TRIES
        with pytest.raises(InputError, match="truncated or altered again and again"):
            take_up(address, tmp_path)
        assert _slots(connection, database) == []
        disturbed = len(made) + 1
        taken = take_up(address, tmp_path)
        assert _slots(connection, database) == [taken.name]
        reader = Feed(address, taken, tmp_path)
        assert reader.collect(taken.start) == taken.start
        reader.close()
    assert [row["new"] for row in _rows(tmp_path / "snapshot")] == ['{"a": 1}', '{"a": 2}']


def test_a_slot_waits_for_others_and_says_so(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot, "SECONDS_TO_SAY_SO", 0.05)
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key)")
        connection.execute("begin; insert into t values (1)")
        ending = threading.Timer(0.5, connection.execute, ["commit"])
        ending.start()
        with pytest.warns(TocsinWarning, match="when all transactions have ended"):
            take_up(_address(postgres, database, "tables=t"), tmp_path)
        ending.join()
    assert [row["new"] for row in _rows(tmp_path / "snapshot")] == ['{"a": 1}']


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("alter publication p drop table t", "changes are missed since .* does not have the table public.t"),
        ("alter table t rename to u", "renamed"),
        ("drop table t; create table t (a int primary key)", "changes are missed since"),
        ("alter publication p set (publish = 'insert')", "does not publish all changes"),
        ("drop publication p", "there is no publication p"),
        (
            "drop publication p; insert into t values (3); create publication p for table t",
            "the publication p is another one than it was",
        ),
    ],
)
def test_what_is_not_published_any_more_is_noticed(
    postgres: PostgresServer,
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    statements: str,
    reason: str,
) -> None:
    monkeypatch.setattr(feed, "SECONDS_BETWEEN_LOOKS", 0.0)
    address = _address(postgres, database, "tables=t&publication=p")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key); create publication p for table t")
        taken = take_up(address, tmp_path)
        reader = Feed(address, taken, tmp_path)
        connection.execute("insert into t values (1)")
        position = reader.collect(taken.start)
        connection.execute("insert into t values (2)")
        for statement in statements.split(";"):
            connection.execute(statement)
        with pytest.raises(InputError, match=reason):
            reader.collect(position)
        reader.close()


def test_publications_that_leave_something_out(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    if postgres.version < 15:
        pytest.skip("publications of some rows or columns are new in PostgreSQL 15")
    with postgres.connect(database) as connection:
        connection.execute("""create table t (a int primary key, b int);
            create publication rows for table t where (a > 0); create publication columns for table t (a)""")
        for name in ("rows", "columns"):
            address = _address(postgres, database, f"tables=t&publication={name}")
            with pytest.raises(InputError, match=r"only some rows or columns of public\.t"):
                take_up(address, tmp_path)


def test_generated_columns_must_be_published(postgres: PostgresServer, database: str) -> None:
    if postgres.version < 18:
        pytest.skip("generated columns are published from PostgreSQL 18 on")
    with postgres.connect(database) as connection:
        connection.execute("""create table t (a int primary key, b int generated always as (a * 2) stored);
            create publication p for table t""")
        tables = find_tables(connection, [TableName("public", "t")])
        with pytest.raises(InputError, match=r"SET \(publish_generated_columns = stored\)"):
            provide_publication(connection, "p", tables)
        connection.execute("alter publication p set (publish_generated_columns = stored)")
        provide_publication(connection, "p", tables)
        provide_publication(connection, "q", tables)


def test_virtual_columns_would_make_the_table_read_only(postgres: PostgresServer, database: str) -> None:
    if postgres.version < 18:
        pytest.skip("virtual generated columns are new in PostgreSQL 18")
    with postgres.connect(database) as connection:
        connection.execute("""create table t (a int, b int generated always as (a * 2) virtual);
            alter table t replica identity full""")
        with pytest.raises(InputError, match="virtual generated column b"):
            provide_publication(connection, "p", find_tables(connection, [TableName("public", "t")]))


def test_a_slot_that_is_gone_or_of_another_stream(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replication, "SECONDS_FOR_SLOT", 0)
    address = _address(postgres, database, "tables=t")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key); create table u (a int)")
        taken = take_up(address, tmp_path)
        with pytest.raises(UsageError, match=r"the checkpoint is of the tables public.t"):
            take_up(_address(postgres, database, "tables=t,u"), tmp_path)
        for other in ("slot", "publication"):
            with pytest.raises(UsageError, match=f"of the .*{other} .* not of elsewhere"):
                take_up(_address(postgres, database, f"tables=t&{other}=elsewhere"), tmp_path)
        first, second = Feed(address, taken, tmp_path), Feed(address, taken, tmp_path)
        first.collect(taken.start)
        with pytest.raises(InputError, match="is in use by another stream or program"):
            second.collect(taken.start)
        first.close()
        noted = (tmp_path / "slot.json").read_text()
        (tmp_path / "slot.json").write_text(noted.replace(taken.system, "1234567890123456789"))
        with pytest.raises(InputError, match="is another server"):
            take_up(address, tmp_path)
        (tmp_path / "slot.json").write_text(noted)
        drop_slot(address, taken)
        with pytest.raises(InputError, match=r"is gone: .* Start the stream with a new checkpoint"):
            take_up(address, tmp_path)
        with pytest.raises(InputError, match="is gone"):
            second.collect(taken.start)
        second.close()


def test_what_a_killed_process_left_behind_is_taken_away(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    address = _address(postgres, database, "tables=t")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key)")
        taken = take_up(address, tmp_path)
        connection.execute("insert into t values (1)")
    writer = ChangeWriter(tmp_path / "changes")
    reader = Feed(address, taken, tmp_path)
    end = reader.collect(taken.start)
    reader.close()
    assert list((tmp_path / "changes").iterdir()) == [reader.path(taken.start, end)]
    writer.give_up()


def test_connections_that_end_are_made_again(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = _address(postgres, database, "tables=t")
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key)")
        taken = take_up(address, tmp_path)
        reader = Feed(address, taken, tmp_path)
        position = reader.collect(taken.start)
        for number in range(3):
            ended = "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            connection.execute(f"{ended} where datname = current_database() and pid <> pg_backend_pid()")
            connection.execute("insert into t values (%s)", (number,))
            reader.done(position, keep_files=False)
            position = reader.collect(position)
            assert [row["new"] for row in _rows(tmp_path / "changes")] == [f'{{"a": {number}}}']
    reader.close()
    monkeypatch.setattr(feed, "PATIENCE", 0)
    nowhere = Address.of("postgresql://postgres@127.0.0.1:1/x?tables=t&connect_timeout=2")
    with pytest.raises(ServerAway, match=r"postgres@127.0.0.1:1/x cannot be reached: .*refused"):
        Feed(nowhere, taken, tmp_path).collect(position)
    with pytest.raises(UsageError, match="not an address of a server"):
        connect(Address.of("postgresql://127.0.0.1/x?tables=t&no_such_setting=1"))


@pytest.mark.slow
def test_a_large_transaction_that_takes_long_to_read(
    postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server hangs up when it hears nothing for a while, also while it is the one who talks.

    It hangs up on a machine that is too busy to give a sign within half a second, too: no test for every day.
    """
    address = _address(postgres, database, "tables=t&options=-c%20wal_sender_timeout%3D500ms")
    monkeypatch.setattr(replication, "SECONDS_BETWEEN_SIGNS", 0.1)
    monkeypatch.setattr(feed, "PATIENCE", 0)
    read = []

    def slowly(data: bytes) -> object:
        read.append(len(data))
        if len(read) % 4_000 == 0:
            time.sleep(0.3)
        return decoded(data)

    monkeypatch.setattr(feed, "decoded", slowly)
    with postgres.connect(database) as connection:
        connection.execute("create table t (a int primary key)")
        taken = take_up(address, tmp_path)
        connection.execute("insert into t select generate_series(1, 24000)")
    reader = Feed(address, taken, tmp_path)
    end = reader.collect(taken.start, most=10)
    reader.close()
    batches = [batch.num_rows for batch in read_batches(reader.path(taken.start, end))]
    assert batches == [10_000, 10_000, 4_000]


@pytest.mark.slow
def test_servers_that_cannot_be_read(tmp_path: Path) -> None:
    """A server without the log that is needed, and one that throws its log away."""
    without_log = {"wal_level": "replica"}
    with running_server(settings=without_log) as server, server.connect() as connection:
        connection.execute("create table t (a int primary key)")
        with pytest.raises(InputError, match="its wal_level is replica"):
            take_up(_address(server, "postgres", "tables=t"), tmp_path / "a")
    settings = {"max_slot_wal_keep_size": "1MB", "min_wal_size": "32MB", "max_wal_size": "32MB"}
    with running_server(settings=settings) as server, server.connect() as connection:
        connection.execute("create table t (a int primary key); create table noise (t text)")
        address = _address(server, "postgres", "tables=t")
        taken = take_up(address, tmp_path / "b")
        for _ in range(8):
            connection.execute("insert into noise select repeat('x', 1000) from generate_series(1, 20000)")
            connection.execute("select pg_switch_wal()")
            connection.execute("checkpoint")
        with pytest.raises(InputError, match=r"has lost changes .* raise max_slot_wal_keep_size"):
            take_up(address, tmp_path / "b")
        with pytest.raises(InputError, match="has lost changes"):
            Feed(address, taken, tmp_path / "b").collect(taken.start)


def test_positions_are_written_as_postgres_does() -> None:
    assert lsn_text(0x1_0000_00AB) == "1/AB"
