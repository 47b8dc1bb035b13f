"""The data source as Spark uses it, without Spark: offsets, partitions, commits, and crashes in between.

The engine below keeps to what Spark promises of a micro-batch: the offsets of a batch are written down before
it runs, a batch that was not committed is done again with the same offsets, and nothing else is remembered.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from tests.postgres_server import PostgresServer
from tests.spark.postgres.histories import SCHEMA, Event, History, rows_of

from tocsin.errors import InputError
from tocsin.spark.postgres.change_files import lsn_number
from tocsin.spark.postgres.data_source import ChangeReader
from tocsin.spark.postgres.postgres_values import row_reader


class Engine:
    """What Spark does with a reader."""

    def __init__(self, url: str, folder: Path, **options: str) -> None:
        self._options = {"url": url, "tables": "orders,items", "folder": str(folder), **options}
        self.offsets: list[dict[str, Any]] = []
        self.committed = 0
        self.output: dict[int, list[dict[str, Any]]] = {}
        self.reader: ChangeReader | None = None
        self.rows_at_once = 10

    def start(self) -> ChangeReader:
        """Start it, or start it again."""
        self.reader = ChangeReader(self._options)
        if not self.offsets:
            self.offsets.append(self.reader.initialOffset())
        return self.reader

    def crash(self) -> None:
        """Only what is on disk is left. The connections end, as they do when a process does."""
        if self.reader is not None:
            self.reader.stop()
        self.reader = None

    def step(self, crash_after: int | None = None) -> bool:
        """One trigger, which may crash after so many of its steps; whether there was a batch."""
        reader = self.reader or self.start()
        steps = iter(range(10))

        def is_crash() -> bool:
            return next(steps) == crash_after

        if is_crash():
            return True
        if self.committed == len(self.offsets) - 1:
            start = self.offsets[-1]
            end = reader.latestOffset(start, ReadMaxRows(self.rows_at_once))
            if is_crash():
                return True
            if end == start:
                return False
            self.offsets.append(json.loads(json.dumps(end)))
            if is_crash():
                return True
            if self.committed:
                reader.commit(self.offsets[self.committed])
        start, end = self.offsets[self.committed], self.offsets[self.committed + 1]
        if is_crash():
            return True
        rows = [
            row
            for part in reader.partitions(start, end)
            for batch in reader.read(part)
            for row in batch.to_pylist()
        ]
        if is_crash():
            return True
        again = self.output.setdefault(self.committed, rows)
        assert again == rows, "a batch that is done again has other rows"
        if is_crash():
            return True
        self.committed += 1
        return True

    def drain(self) -> None:
        while self.step():
            pass

    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in sorted(self.output) for row in self.output[batch]]


def _events(rows: list[dict[str, Any]]) -> list[list[Event]]:
    """Transactions as the reader tells them."""
    found: dict[int, list[Event]] = {}
    for row in rows:
        reader = row_reader(row["types"])
        old, new = (None if row[side] is None else reader.row(row[side]) for side in ("old", "new"))
        found.setdefault(row["lsn"], []).append(Event(row["op"], row["table"].split(".")[1], old, new))
    return list(found.values())


def _sorted(transactions: list[list[Event]]) -> list[Counter[str]]:
    """Transactions in order, each with its changes in any: a statement's rows have no order."""
    return [Counter(map(repr, each)) for each in transactions]


def _slot_position(server: PostgresServer, database: str) -> int:
    with server.connect(database) as connection:
        statement = "select confirmed_flush_lsn from pg_replication_slots where database = %s"
        ((position,),) = connection.execute(statement, (database,)).fetchall()
    return lsn_number(position)


@pytest.mark.parametrize("seed", range(3))
def test_every_commit_once_and_in_order_whatever_crashes(
    postgres: PostgresServer, database: str, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
    history = History(postgres, database, seed)
    engine = Engine(postgres.url(database), tmp_path / "source", snapshot="no")
    history.play(30)
    history.finish()  # the slot would wait for transactions that are under way
    before = len(history.committed)
    engine.start()
    for _ in range(25):
        history.play(chance.choice([0, 4, 15]))
        engine.rows_at_once = chance.choice([1, 5, 1000])
        engine.step(chance.choice([None, None, 0, 1, 2, 3, 4, 5]))
        if chance.random() < 0.5:
            engine.crash()
        done = lsn_number(engine.offsets[engine.committed]["lsn"])
        assert _slot_position(postgres, database) <= done, "the log was given up before Spark was done"
    history.finish()
    engine.drain()
    engine.crash()
    history.close()
    assert _sorted(_events(engine.rows())) == _sorted(history.committed[before:])
    keys = [(row["lsn"], row["row"]) for row in engine.rows()]
    assert keys == sorted(set(keys))


def test_the_contents_come_first_and_nothing_is_missed_between(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
        history = History(postgres, database, 7)
        history.play(60)
        history.finish()
        engine = Engine(postgres.url(database), tmp_path / "source")
        engine.start()
        history.play(40)
        history.finish()
        engine.drain()
        present = Counter(
            repr(row)
            for table in ("orders", "items")
            for row in rows_of(connection, f"select * from {table}")
        )
    history.close()
    engine.crash()
    snapshot = [row for row in engine.rows() if row["op"] == "snapshot"]
    assert engine.rows()[: len(snapshot)] == snapshot
    alive: Counter[str] = Counter()
    for row in engine.rows():
        read = row_reader(row["types"]).row
        alive.update([repr(read(row["new"]))] if row["new"] else [])
        alive.subtract([repr(read(row["old"]))] if row["old"] else [])
    assert +alive == present
    assert snapshot


def test_a_batch_whose_file_is_lost_is_read_from_the_log_again(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
        engine = Engine(postgres.url(database), tmp_path / "source")
        engine.start()
        connection.execute("insert into orders (id) select generate_series(1, 20)")
        connection.execute("insert into orders (id) values (100)")
        engine.step(crash_after=5)
        engine.crash()
        (file,) = (tmp_path / "source" / "changes").iterdir()
        file.unlink()
        connection.execute("insert into orders (id) values (101)")
        engine.drain()
        engine.crash()
    assert [len(engine.output[batch]) for batch in sorted(engine.output)] == [20, 2]


def test_all_that_is_there_now_and_no_more(postgres: PostgresServer, database: str, tmp_path: Path) -> None:
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
        engine = Engine(postgres.url(database), tmp_path / "source")
        reader = engine.start()
        connection.execute("insert into orders (id) values (1)")
        reader.prepareForTriggerAvailableNow()
        connection.execute("insert into orders (id) values (2)")
        engine.drain()
        assert [row["new"].partition(",")[0] for row in engine.rows()] == ['{"id": 1']
        engine.crash()
        end = engine.start().latestOffset(engine.offsets[-1], ReadAllAvailable())
        assert end != engine.offsets[-1]
        engine.crash()


def test_an_idle_stream_does_not_hold_back_the_log_of_others(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
        engine = Engine(postgres.url(database), tmp_path / "source")
        engine.start()
        start = _slot_position(postgres, database)
        connection.execute("insert into unrelated select generate_series(1, 50000)")
        assert not engine.step()
        assert not engine.step()
        assert _slot_position(postgres, database) > start + 1_000_000
        engine.crash()
        connection.execute("insert into orders (id) values (1)")
        engine.drain()  # started again from an offset that the slot has left behind, with nothing lost
        engine.crash()
    assert len(engine.rows()) == 1


def test_a_slot_that_others_have_read_from_is_refused(
    postgres: PostgresServer, database: str, tmp_path: Path
) -> None:
    with postgres.connect(database) as connection:
        connection.execute(SCHEMA)
        engine = Engine(postgres.url(database), tmp_path / "source", slot="shared_by_mistake")
        engine.start()
        engine.crash()
        connection.execute("insert into orders (id) values (1)")
        advance = "select pg_replication_slot_advance('shared_by_mistake', pg_current_wal_lsn())"
        connection.execute(advance)
        with pytest.raises(InputError, match=r"has moved to .* without this stream"):
            engine.step()
        engine.crash()
