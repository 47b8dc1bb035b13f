"""What the server says of the chosen tables, and whether it can be read: found out before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError
from tocsin.spark.postgres.pgoutput import FULL
from tocsin.spark.postgres.postgres_address import Address, TableName, quoted
from tocsin.spark.postgres.postgres_values import known_type
from tocsin.spark.postgres.server import query

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

_TABLES = """
    select n.nspname, c.relname, c.oid, c.relkind::text, c.relpersistence::text,
           has_table_privilege(c.oid, 'select')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = %s and c.relname = %s
"""
STORED, VIRTUAL = "s", "v"
"""Kinds of generated columns."""

_NAMES = """
    select n.nspname || '.' || c.relname
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')
"""
_COLUMNS = """
    select attname, atttypid, attgenerated::text
    from pg_attribute
    where attrelid = %s and attnum > 0 and not attisdropped
    order by attnum
"""
_FILES = """
    select c.oid, c.relfilenode
    from (select %s::oid as oid union select relid from pg_partition_tree(%s::oid::regclass)) as part
    join pg_class c on c.oid = part.oid
    order by 1
"""
_TYPE = """
    select n.nspname, t.typname, t.typbasetype
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where t.oid = %s
"""
_IDENTITIES = """
    select n.nspname, c.relname, c.relreplident::text,
           c.relkind = 'p' or c.relreplident = 'f' or pg_get_replica_identity_index(c.oid) is not null
    from (select %s::oid as oid union select relid from pg_partition_tree(%s::oid::regclass)) as part
    join pg_class c on c.oid = part.oid join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' or c.oid = %s
    order by 1, 2
"""
"""Of a table and its partitions: what the log carries of old rows, and whether that is enough for the server
to let rows be changed when they are published. Of a partitioned table the partitions say what is logged, and
the table itself what that is taken for."""

_PUBLISHED = "select schemaname, tablename from pg_publication_tables where pubname = %s"
_CUT = """
    select n.nspname, c.relname
    from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
    join pg_class c on c.oid = r.prrelid join pg_namespace n on n.oid = c.relnamespace
    where p.pubname = %s and (r.prqual is not null or r.prattrs is not null)
"""
_LACKING = """
    select n.nspname, c.relname
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_publication p on p.pubname = %s and p.pubgencols <> 's'
    where a.attgenerated = 's' and not a.attisdropped
"""
_CUTS_TABLES = 150_000
"""The first PostgreSQL whose publications can leave out rows and columns."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is there.

    columns       names of the columns that the log carries: of generated ones at most those that are stored
    types         the names of their types
    partitioned   whether its rows are in other tables
    files         the files that its rows are in, as numbers: others, once it is truncated or rewritten
    """

    name: TableName
    number: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    partitioned: bool
    files: tuple[tuple[int, int], ...]


def find_tables(connection: Connection, names: Iterable[TableName]) -> list[Table]:
    """The tables of these names; InputError when one is not there or cannot be read."""
    return [_table(connection, name) for name in names]


def _table(connection: Connection, name: TableName) -> Table:
    found = query(connection, _TABLES, *name)
    if not found:
        near = get_close_matches(str(name), [each for (each,) in query(connection, _NAMES)], n=1)
        hint = f": did you mean {near[0]}?" if near else ""
        raise InputError(f"there is no table {name} in the database {connection.info.dbname}{hint}")
    _, _, number, kind, persistence, readable = found[0]
    if kind not in ("r", "p"):
        raise InputError(f"{name} is not a table, and only tables have changes that can be read")
    if persistence != "p":
        raise InputError(f"the changes of {name} are not logged: it is an unlogged or temporary table")
    if not readable:
        user = connection.info.user
        raise InputError(
            f"the user {user} may not read {name}:"
            f" its owner can allow it by GRANT SELECT ON {name.quoted} TO {quoted(user)}"
        )
    columns = [
        (column, type_name(connection, type_number))
        for column, type_number, generated in query(connection, _COLUMNS, number)
        if not generated or (generated == STORED and publishes_stored(connection))
    ]
    names, types = tuple(each for each, _ in columns), tuple(each for _, each in columns)
    files = tuple(query(connection, _FILES, number, number))
    return Table(name, number, names, types, kind == "p", files)


def publishes_stored(connection: Connection) -> bool:
    """Whether publications can have stored generated columns: from PostgreSQL 18 on."""
    return connection.info.server_version >= 180_000


def type_name(connection: Connection, number: int) -> str:
    """The name of a type; of a domain, that of what it is made of in the end."""
    while True:
        known = built_in_type(number)
        if known is not None:
            return known
        ((schema, name, made_of),) = query(connection, _TYPE, number)
        if not made_of:
            return known_type(schema, name)
        number = made_of


def built_in_type(number: int) -> str | None:
    """The name of a type that every server has; an array's starts with _, as PostgreSQL names it."""
    from psycopg.postgres import types

    info = types.get(number)
    if info is None:
        return None
    return f"_{info.name}" if number == info.array_oid else info.name


def check_server(connection: Connection, address: Address) -> None:
    """InputError when the server's settings do not allow for reading changes."""
    ((level, encoding),) = query(
        connection, "select current_setting('wal_level'), current_setting('server_encoding')"
    )
    if level != "logical":
        raise InputError(
            f"{address.shown} does not log what changes of tables are read from: its wal_level is {level}."
            " A superuser can change it by ALTER SYSTEM SET wal_level = 'logical' and a restart of the server"
        )
    if encoding == "SQL_ASCII":
        raise InputError(
            f"the database of {address.shown} has the encoding SQL_ASCII, so nobody knows what its texts say"
        )


def check_whole_rows(connection: Connection, names: Iterable[TableName], why: str) -> None:
    """InputError that says what to do when the log does not carry the old rows of one of these tables."""
    lacking = [
        TableName(schema, part)
        for name in names
        for _, _, number, *_ in query(connection, _TABLES, *name)
        for schema, part, identity, _ in _identities(connection, number)
        if identity != FULL
    ]
    if lacking:
        statements = " ".join(f"ALTER TABLE {name.quoted} REPLICA IDENTITY FULL;" for name in lacking)
        raise InputError(
            f"{why}, but the log does not carry whole old rows of {', '.join(map(str, lacking))}."
            f" Their owner can change that: {statements}"
        )


def publication_number(connection: Connection, name: str) -> int | None:
    """The server's number of a publication, which another of the same name has not; None without any."""
    found = query(connection, "select oid from pg_publication where pubname = %s", name)
    return found[0][0] if found else None


def provide_publication(connection: Connection, name: str, tables: Sequence[Table]) -> None:
    """See to it that a publication has the tables: one that is missing is made.

    InputError when it cannot be made, or leaves out a table or some of its changes.
    """
    import psycopg

    if publication_number(connection, name) is not None:
        check_publication(connection, name, [table.name for table in tables])
        return
    _check_updatable(connection, tables)
    listed = ", ".join(table.name.quoted for table in tables)
    stored = ", publish_generated_columns = stored" if publishes_stored(connection) else ""
    options = f"publish_via_partition_root = true{stored}"
    statement = f"CREATE PUBLICATION {quoted(name)} FOR TABLE {listed} WITH ({options})"
    try:
        query(connection, statement)
    except psycopg.errors.InsufficientPrivilege as error:
        raise InputError(
            f"the user {connection.info.user} may not make the publication that is needed."
            f" Let the owner of the tables do it: {statement}; and add publication={name} to the URI"
        ) from error


def check_publication(connection: Connection, name: str, tables: Iterable[TableName]) -> None:
    """InputError when a publication is not there, or leaves out a table or some of its changes."""
    flags = "select pubinsert, pubupdate, pubdelete, pubtruncate from pg_publication where pubname = %s"
    found = query(connection, flags, name)
    if not found:
        raise InputError(f"there is no publication {name}")
    if not all(found[0]):
        raise InputError(
            f"the publication {name} does not publish all changes:"
            f" ALTER PUBLICATION {quoted(name)} SET (publish = 'insert, update, delete, truncate')"
        )
    listed = _names(connection, _PUBLISHED, name)
    cut = _names(connection, _CUT, name) if connection.info.server_version >= _CUTS_TABLES else set()
    lacking = _names(connection, _LACKING, name) if publishes_stored(connection) else set()
    for table in tables:
        if table not in listed:
            raise InputError(
                f"the publication {name} does not have the table {table}:"
                f" ALTER PUBLICATION {quoted(name)} ADD TABLE {table.quoted}"
                " (of a partitioned table, also SET (publish_via_partition_root = true))"
            )
        if table in cut:
            raise InputError(
                f"the publication {name} has only some rows or columns of {table}: one that has them all is"
                " needed, without WHERE and without a list of columns"
            )
        if table in lacking:
            raise InputError(
                f"the publication {name} does not have the generated columns of {table}:"
                f" ALTER PUBLICATION {quoted(name)} SET (publish_generated_columns = stored)"
            )


def _check_updatable(connection: Connection, tables: Sequence[Table]) -> None:
    """Refuse what would make the server refuse updates and deletes of a table, once it is published."""
    for table in tables:
        identities = _identities(connection, table.number)
        unknown = [TableName(schema, part) for schema, part, _, is_enough in identities if not is_enough]
        if unknown:
            statements = " ".join(f"ALTER TABLE {name.quoted} REPLICA IDENTITY FULL;" for name in unknown)
            raise InputError(
                f"{', '.join(map(str, unknown))} cannot be published without a primary key: the server would"
                f" refuse every update and delete of a row. Their owner can change that: {statements}"
            )
        if not any(identity == FULL for _, _, identity, _ in identities):
            continue
        for column, _, generated in query(connection, _COLUMNS, table.number):
            if generated == VIRTUAL:
                raise InputError(
                    f"{table.name} has the virtual generated column {column}, which cannot be published: with"
                    " REPLICA IDENTITY FULL the server would refuse every update and delete of the table"
                )


def _identities(connection: Connection, number: int) -> list[tuple[str, str, str, bool]]:
    return query(connection, _IDENTITIES, number, number, number)


def _names(connection: Connection, statement: str, publication: str) -> set[TableName]:
    return {TableName(*row) for row in query(connection, statement, publication)}
