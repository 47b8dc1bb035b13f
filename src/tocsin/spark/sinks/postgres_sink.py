"""Alerts into a table of PostgreSQL, exactly once.

The alerts of a batch and the note that it is written go in by one transaction:

    alerts            alert rule version batch key time score text   carried... kept...
    tocsin_streams    stream, target, batch: the last batch of this stream that is in the table

Batches come one after the other, so a batch that is not after the noted one was written before. Both tables
are made when they are missing. A table that is there must have the columns, and may have others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from tocsin.errors import InputError, ServerAway, TocsinError, UsageError
from tocsin.spark.postgres.postgres_address import OWN, Address, TableName, joined_uri, quoted, split_uri
from tocsin.spark.postgres.server import away_is_said, connect, query
from tocsin.spark.sinks.deliveries import driver_rows, try_again
from tocsin.spark.sinks.postgres_columns import csv_blocks, type_of
from tocsin.spark.sinks.sink import Sink

if TYPE_CHECKING:
    import psycopg

DEFAULT_TABLE = "alerts"
NOTES = "tocsin_streams"

_COLUMNS = """
    select attname, format_type(atttypid, null) from pg_attribute
    where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped
"""


_NOTE_COLUMNS = """
    stream text, target text, batch bigint not null, written timestamptz not null default now(),
    primary key (stream, target)
"""


class PostgresSink(Sink):
    """A table, which the driver writes to."""

    exactly_once = True

    def __init__(self, address: Address) -> None:
        self._address = address
        self._table: TableName = address.tables[0]
        self._notes = TableName(self._table.schema, NOTES)
        self._stream = ""
        self._types: dict[str, str] = {}
        self._is_new = False

    @staticmethod
    def of(uri: str) -> PostgresSink:
        """`postgresql://user@host/db?table=schema.alerts`; other parameters are the client's."""
        parts = split_uri(uri)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        for name in OWN:
            if name in given:
                raise UsageError(f"{name}= is for a source of changes: a sink's table is named by ?table=")
        given["tables"] = given.pop("table", DEFAULT_TABLE)
        address = Address.of(joined_uri(parts, given.items()))
        if len(address.tables) > 1:
            raise UsageError(f"table={given['tables']}: alerts go into one table")
        return PostgresSink(address)

    @property
    def name(self) -> str:
        """The server, its database and the table."""
        return f"{self._address.shown}, table {self._table}{' (new)' if self._is_new else ''}"

    def identity(self) -> dict[str, Any]:
        """Database and table; the server may move, and its users be others."""
        database = urlsplit(self._address.server).path.strip("/")
        return {"kind": "postgresql", "database": database, "table": str(self._table)}

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:  # noqa: ARG002
        """Make the tables that are missing; InputError when that is not allowed, or columns are missing."""
        self._stream = stream
        with self._words(), connect(self._address) as connection:
            self._types = self._columns(connection)
            if not self._types:
                columns = ", ".join(map(_column_statement, schema))
                self._create(connection, f"create table if not exists {self._table.quoted} ({columns})")
                self._types = self._columns(connection)
                self._is_new = True
            missing = [field for field in schema if field.name not in self._types]
            if missing:
                added = ", ".join(f"add column {_column_statement(field)}" for field in missing)
                raise InputError(
                    f"{self._address.shown}: the table {self._table} lacks columns of alerts:"
                    f" ALTER TABLE {self._table.quoted} {added}"
                )
            self._create(connection, f"create table if not exists {self._notes.quoted} ({_NOTE_COLUMNS})")

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write a batch, unless it is there. A server that is away is tried again for a minute."""
        if try_again(lambda: self._has(batch), ServerAway):
            return
        with driver_rows(csv_blocks(alerts, self._types)) as rows:
            try_again(lambda: self._write_blocks(alerts.columns, rows(), batch), ServerAway)

    def _has(self, batch: int) -> bool:
        with self._words(), connect(self._address) as connection:
            noted = f"select batch from {self._notes.quoted} where stream = %s and target = %s"
            return any(last >= batch for (last,) in query(connection, noted, self._stream, self._table.name))

    def _write_blocks(self, columns: Sequence[str], rows: Iterable[Any], batch: int) -> None:
        """One transaction; when its end was not heard of before, it is seen from the note."""
        names = ", ".join(map(quoted, columns))
        note = f"""
            insert into {self._notes.quoted} as known (stream, target, batch) values (%s, %s, %s)
            on conflict (stream, target) do update set batch = excluded.batch, written = now()
            where known.batch < excluded.batch
        """
        with self._words(), connect(self._address) as connection, connection.transaction():
            cursor = connection.execute(note, (self._stream, self._table.name, batch))
            if not cursor.rowcount:
                return
            with cursor.copy(f"copy {self._table.quoted} ({names}) from stdin (format csv)") as copy:
                for row in rows:
                    copy.write(row.block)

    def _columns(self, connection: psycopg.Connection[Any]) -> dict[str, str]:
        """The types of the table's columns by name; none when there is no such table."""
        return dict(query(connection, _COLUMNS, self._table.quoted))

    def _create(self, connection: psycopg.Connection[Any], statement: str) -> None:
        """Make a table; another stream may be doing the same at this moment."""
        from psycopg import errors

        try:
            connection.execute(statement)
        except (errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject):
            connection.execute(statement)
        except errors.InsufficientPrivilege as error:
            raise InputError(
                f"{self._address.shown}: a table is missing and may not be made ({message_of(error)});"
                f" somebody who may can do it by: {' '.join(statement.split())}"
            ) from error

    @contextmanager
    def _words(self) -> Iterator[None]:
        """Errors of the server, said as ours."""
        import psycopg

        with away_is_said(self._address):
            try:
                yield
            except psycopg.OperationalError:
                raise
            except psycopg.Error as error:
                where = f"{self._address.shown}: the table {self._table}"
                raise TocsinError(f"{where} cannot be written to: {message_of(error)}") from error


def message_of(error: psycopg.Error) -> str:
    """What the server says, on one line: what is wrong, and where in the data."""
    said = [error.diag.message_primary, error.diag.message_detail, error.diag.context]
    return "; ".join(part.splitlines()[0] for part in said if part) or str(error)


def _column_statement(field: StructField) -> str:
    return f"{quoted(field.name)} {type_of(field)}"
