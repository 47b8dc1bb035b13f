"""Real transactions on several connections at once, and what of them was committed, in that order.

One thread drives all connections, so it knows the order of the commits. Each connection keeps to rows of its
own, or they would wait for each other for ever.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import psycopg
from psycopg.rows import dict_row
from tests.postgres_server import PostgresServer

TABLES = ("orders", "items")
SCHEMA = """
create table orders (
    id int primary key, who int, amount numeric(12, 2), note text, at timestamptz, tags text[]
);
create table items (like orders including all);
create table unrelated (n int);
alter table orders replica identity full;
alter table items replica identity full;
"""

Row = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """A change of one row: what it was and what it is."""

    op: str
    table: str
    old: Row | None
    new: Row | None


@dataclass
class _Session:
    """One connection, and what it has done since its transaction began."""

    number: int
    connection: psycopg.Connection[Any]
    events: list[Event] = field(default_factory=list)
    savepoints: list[int] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE


class History:
    """What several connections do to the tables of a database."""

    def __init__(self, server: PostgresServer, database: str, seed: int, sessions: int = 3) -> None:
        self._random = random.Random(seed)
        self._sessions = [_Session(number, server.connect(database)) for number in range(sessions)]
        self._next = 0
        self.committed: list[list[Event]] = []

    def events(self) -> list[Event]:
        """Every change that was committed, in the order of the commits."""
        return [event for transaction in self.committed for event in transaction]

    def play(self, steps: int) -> None:
        """Some random steps of random connections."""
        for _ in range(steps):
            self._step(self._random.choice(self._sessions))

    def finish(self) -> None:
        """End all transactions, in any order."""
        for session in self._random.sample(self._sessions, len(self._sessions)):
            if session.is_open:
                self._commit(session)

    def close(self) -> None:
        for session in self._sessions:
            session.connection.close()

    def _step(self, session: _Session) -> None:
        step = self._random.choices(
            ["insert", "update", "delete", "savepoint", "back", "commit", "rollback", "unrelated"],
            [6, 5, 3, 1, 1, 4, 1, 1],
        )[0]
        if not session.is_open:
            session.connection.execute("begin")
            session.events, session.savepoints = [], []
        if step == "savepoint":
            session.connection.execute(f"savepoint s{len(session.savepoints)}")
            session.savepoints.append(len(session.events))
        elif step == "back":
            if session.savepoints:
                del session.events[session.savepoints[-1] :]
                session.connection.execute(f"rollback to savepoint s{len(session.savepoints) - 1}")
        elif step == "commit":
            self._commit(session)
        elif step == "rollback":
            session.connection.execute("rollback")
        elif step == "unrelated":
            session.connection.execute("insert into unrelated values (1)")
        else:
            table = self._random.choice(TABLES)
            {"insert": self._insert, "update": self._update, "delete": self._delete}[step](session, table)

    def _commit(self, session: _Session) -> None:
        session.connection.execute("commit")
        if session.events:
            self.committed.append(session.events)
        session.events = []

    def _insert(self, session: _Session, table: str) -> None:
        count = self._random.choice([1, 1, 2, 7])
        statement = f"""
            insert into {table}
            select g, %s, (g * 7 %% 90) * 1.25, case when g %% 5 = 0 then null else 'n' || g %% 4 end,
                   timestamptz '2026-01-01' + g * interval '1 hour', array['a', 'b' || g %% 3]
            from generate_series(%s::int, %s::int) g returning *
        """
        first = self._next
        self._next += count
        for row in self._rows(session, statement, (session.number, first, first + count - 1)):
            session.events.append(Event("insert", table, None, row))

    def _update(self, session: _Session, table: str) -> None:
        old = self._chosen(session, table)
        if not old:
            return
        statement = f"update {table} set amount = amount + 13, note = 'u' where id = any(%s) returning *"
        new = {row["id"]: row for row in self._rows(session, statement, (list(old),))}
        session.events += [Event("update", table, old[each], new[each]) for each in old]

    def _delete(self, session: _Session, table: str) -> None:
        old = self._chosen(session, table)
        session.connection.execute(f"delete from {table} where id = any(%s)", (list(old),))
        session.events += [Event("delete", table, row, None) for row in old.values()]

    def _chosen(self, session: _Session, table: str) -> dict[int, Row]:
        """Some rows of this connection's own, by id."""
        statement = f"select * from {table} where who = %s order by random() limit %s"
        session.connection.execute("select setseed(%s)", (self._random.random(),))
        rows = self._rows(session, statement, (session.number, self._random.choice([1, 1, 2, 5])))
        return {row["id"]: row for row in rows}

    @staticmethod
    def _rows(session: _Session, statement: str, values: Sequence[object]) -> list[Row]:
        return rows_of(session.connection, statement, values)


def rows_of(connection: psycopg.Connection[Any], statement: str, values: Sequence[object] = ()) -> list[Row]:
    """What a statement gives, with times in UTC."""
    found = connection.cursor(row_factory=dict_row).execute(statement, values or None).fetchall()
    return [{**row, "at": row["at"] and row["at"].astimezone(UTC)} for row in found]
