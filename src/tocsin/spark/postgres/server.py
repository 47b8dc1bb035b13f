"""Connections to a server, and what went wrong with them in words that help.

Importing this module loads no client of PostgreSQL.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from tocsin.errors import InputError, ServerAway, UsageError, need_extra
from tocsin.spark.postgres.postgres_address import Address

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

OLDEST = 130_000
"""PostgreSQL 13, the first whose publications take a partitioned table for one table."""

SESSION = {
    # How values are written as text. Every session says so for itself, so that what the server or
    # the user has set makes no difference.
    "client_encoding": "UTF8",
    "datestyle": "ISO",
    "intervalstyle": "iso_8601",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "xmloption": "content",
}
SECONDS_TO_CONNECT = 10
_LOST = ("08", "57")
"""Classes of errors that end a connection: it is lost, or the server or somebody ends it."""


def connect(address: Address) -> psycopg.Connection[Any]:
    """A connection on which each statement is a transaction; ServerAway when there is none to be had."""
    return _connected(address, {})


def connect_for_replication(address: Address) -> psycopg.Connection[Any]:
    """A connection that takes the commands of replication; InputError when the user has no right to it."""
    try:
        return _connected(address, {"replication": "database"})
    except ServerAway as error:
        _check_right_to_replicate(address)
        if "max_wal_senders" in str(error):
            raise InputError(
                f"{address.shown} has no room for one more reader of its log:"
                " raise max_wal_senders, or end another reader"
            ) from error
        raise


def query(connection: psycopg.Connection[Any], statement: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows that a statement gives."""
    cursor = connection.execute(statement, values or None)
    return cursor.fetchall() if cursor.description is not None else []


@contextlib.contextmanager
def away_is_said(address: Address) -> Iterator[None]:
    """What goes wrong with a server becomes ServerAway, or InputError when trying again would not help."""
    need_extra("PostgreSQL as a source or a sink", "postgres", "psycopg")
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        may_pass = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        is_lost = may_pass and (error.sqlstate is None or error.sqlstate[:2] in _LOST)
        said = f"{address.shown} {'cannot be reached' if is_lost else 'has refused'}: {_last_line(error)}"
        if may_pass:
            raise ServerAway(said) from error
        raise InputError(said) from error


def patiently(action: Callable[[], T], seconds: float, between: Callable[[], object] = lambda: None) -> T:
    """What an action gives, which is tried again for so long when the server is away; `between` before that.

    It is counted from the first time: an action may take as long as it likes before.
    """
    deadline: float | None = None
    while True:
        try:
            return action()
        except ServerAway:
            between()
            deadline = deadline or time.monotonic() + seconds
            if is_too_late(deadline):
                raise


def is_too_late(deadline: float) -> bool:
    """Wait a moment before the next try; whether it is too late for one."""
    if time.monotonic() >= deadline:
        return True
    time.sleep(0.5)
    return False


def _connected(address: Address, more: dict[str, str]) -> psycopg.Connection[Any]:
    need_extra("PostgreSQL as a source or a sink", "postgres", "psycopg")
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    settings = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
    try:
        given = conninfo_to_dict(address.server)
    except psycopg.ProgrammingError as error:
        why = _last_line(error).replace(urlsplit(address.server).password or "\0", "...")
        raise UsageError(f"{address.shown} is not an address of a server: {why}") from None
    more = {
        "connect_timeout": str(given.get("connect_timeout") or SECONDS_TO_CONNECT),
        "options": f"{given.get('options') or ''} {settings}".strip(),
        **more,
    }
    with away_is_said(address):
        connection = psycopg.connect(make_conninfo(address.server, **more), autocommit=True)
    if connection.info.server_version < OLDEST:
        connection.close()
        version = connection.info.server_version // 10_000
        raise InputError(f"{address.shown} is PostgreSQL {version}: changes are read from version 13 on")
    return connection


def _check_right_to_replicate(address: Address) -> None:
    right = "select rolsuper or rolreplication, current_user from pg_roles where rolname = current_user"
    with connect(address) as connection:
        for allowed, user in query(connection, right):
            if not allowed:
                raise InputError(
                    f"the user {user} may not read changes of {address.shown}:"
                    f' a superuser can allow it by ALTER ROLE "{user}" REPLICATION'
                )


def _last_line(error: psycopg.Error) -> str:
    """What the server says, or else the last that the client does."""
    if error.diag.message_primary:
        return error.diag.message_primary
    lines = [line for each in str(error).splitlines() if (line := each.strip()) and line[-1] != "?"]
    return lines[-1] if lines else type(error).__name__
