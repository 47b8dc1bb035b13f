"""The slot of a stream, and the snapshot of the tables that its changes start from.

A slot marks a place in the server's log: what comes behind it is kept until it has been read. When it is
made, the server exports a snapshot of that very moment, and the contents of the tables are copied as they
were then: nothing is missed, and nothing is told twice. What was done is written down in the stream's folder:

    FOLDER/
      starting.json           names of the slot and perhaps the publication, before they are made: what to
                              drop when that does not come to its end
      snapshot/00000000.arrow the contents of the tables, see change_files.py
      slot.json               a Slot: written when all is there
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, TocsinWarning, UsageError
from tocsin.spark.postgres import catalog
from tocsin.spark.postgres.change_files import SNAPSHOT, Change, ChangeWriter, lsn_number
from tocsin.spark.postgres.postgres_address import Address, TableName, quoted
from tocsin.spark.postgres.postgres_values import RowWriter
from tocsin.spark.postgres.replication import SECONDS_FOR_SLOT, slot_is_gone, slot_is_lost
from tocsin.spark.postgres.server import away_is_said, connect, connect_for_replication, is_too_late, query
from tocsin.spark.stream.checkpoint import read_json, write_json

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

FORMAT = 1
TRIES = 5
"""How often contents are copied anew when they are truncated or altered meanwhile."""

PART_ROWS = 100_000
"""Rows of the snapshot in one file."""

SECONDS_TO_SAY_SO = 5.0
WAITING = (
    "the server makes the replication slot when all transactions have ended that are under way now:"
    " select pid, xact_start, query from pg_stat_activity where backend_xid is not null"
)
"""What is said after so many seconds: nothing is wrong, but only somebody else can make it go on."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a stream starts from.

    name          the slot's
    publication   which changes it is sent
    made_it       whether the publication was made for this slot
    tables        the chosen tables
    start         the position of the snapshot
    parts         files of the snapshot
    system        the server's own number, which a copy of it has too
    number        the publication's, which one that is made anew has not
    """

    name: str
    publication: str
    made_it: bool
    tables: tuple[TableName, ...]
    start: int
    parts: int
    system: str
    number: int | None = None


def take_up(address: Address, folder: Path, *, copy: bool = True) -> Slot:
    """The slot that a folder is about, made when there is none yet; with a copy of the tables, if wanted.

    InputError that says what to do when the server does not allow for it, or when the slot is gone. A start
    that fails half-way leaves a slot behind only if the server cannot be reached any more; the next start
    from this folder clears it away.
    """
    with away_is_said(address):
        known = known_slot(folder)
        if known is not None:
            _check_same_tables(address, known)
            check_slot(address, known)
            return known
        try:
            return _made(address, folder, copy)
        except BaseException:
            with contextlib.suppress(Exception), connect(address) as connection:
                _drop_unfinished(connection, folder)
            raise


def _made(address: Address, folder: Path, copy: bool) -> Slot:
    for _ in range(TRIES):
        slot = _made_undisturbed(address, folder, copy)
        if slot is not None:
            return slot
    raise InputError(
        f"while the contents of {', '.join(map(str, address.tables))} are to be copied, they are truncated or"
        " altered again and again: start the stream when that is done"
    )


def _made_undisturbed(address: Address, folder: Path, copy: bool) -> Slot | None:
    """A new slot; None when the contents could not be copied as they were when it was made."""
    with connect(address) as connection:
        catalog.check_server(connection, address)
        tables = catalog.find_tables(connection, address.tables)
        _drop_unfinished(connection, folder)
        name = address.slot or f"tocsin_{secrets.token_hex(6)}"
        if _slots(connection, name):
            raise InputError(
                f"there is a replication slot {name} already: it belongs to another stream, or to one whose"
                f" checkpoint is lost. If nobody needs it: SELECT pg_drop_replication_slot('{name}')"
            )
        publication = address.publication or name
        made_it = catalog.publication_number(connection, publication) is None
        unfinished = {"slot": name, "publication": publication if made_it else None}
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "starting.json", unfinished)
        catalog.provide_publication(connection, publication, tables)
        number = catalog.publication_number(connection, publication)
        with _new_slot(address, name) as (start, system, snapshot):
            parts: int | None = 0
            if copy:
                contents = _Parts(folder / "snapshot", start)
                parts = _copy_contents(address, connection, snapshot, contents)
    if parts is None:
        return None
    slot = Slot(name, publication, made_it, address.tables, start, parts, system, number)
    write_json(folder / "slot.json", {"format": FORMAT, **asdict(slot)})
    (folder / "starting.json").unlink()
    return slot


def known_slot(folder: Path) -> Slot | None:
    """The slot that a folder is about, if it has been taken up."""
    members = read_json(folder / "slot.json")
    if members is None:
        return None
    if members.pop("format") != FORMAT:
        raise InputError("the checkpoint was written by another release of tocsin")
    return Slot(**{**members, "tables": tuple(TableName(*each) for each in members["tables"])})


def check_slot(address: Address, slot: Slot) -> None:
    """InputError when a slot is not what it was any more."""
    with connect(address) as connection:
        found = _slots(connection, slot.name)
        if not found:
            raise slot_is_gone(slot.name)
        _, plugin, database, status = found[0]
        if status == "lost":
            raise slot_is_lost(slot.name, "it was invalidated")
        if plugin != "pgoutput" or database != connection.info.dbname:
            raise InputError(
                f"the replication slot {slot.name} is of the plugin {plugin} and the database {database}:"
                " it is not the one that the checkpoint was made with"
            )
        catalog.find_tables(connection, slot.tables)
        check_published(connection, slot)
    with connect_for_replication(address) as replication:
        system = _system(replication)
        if system != slot.system:
            raise InputError(
                f"{address.shown} is another server than the one that the checkpoint was made with"
            )


def check_published(connection: Connection, slot: Slot) -> None:
    """InputError when the server does not send all changes of the tables any more."""
    try:
        catalog.check_publication(connection, slot.publication, slot.tables)
        if slot.number not in (None, catalog.publication_number(connection, slot.publication)):
            raise InputError(f"the publication {slot.publication} is another one than it was")
    except InputError as error:
        raise InputError(
            f"changes are missed since somebody has dropped or renamed a table, or changed what is published:"
            f" {error}. When that is put right, start the stream with a new checkpoint"
        ) from error


def drop_slot(address: Address, slot: Slot) -> None:
    """Drop a slot, and the publication that was made for it."""
    with connect(address) as connection:
        _drop(connection, slot.name)
        if slot.made_it:
            query(connection, f"DROP PUBLICATION IF EXISTS {quoted(slot.publication)}")


def _check_same_tables(address: Address, slot: Slot) -> None:
    if set(address.tables) != set(slot.tables):
        raise UsageError(
            f"the checkpoint is of the tables {', '.join(map(str, slot.tables))}:"
            " for other tables start with a new checkpoint"
        )
    if address.slot not in (None, slot.name):
        raise UsageError(f"the checkpoint is of the replication slot {slot.name}, not of {address.slot}")
    if address.publication not in (None, slot.publication):
        raise UsageError(
            f"the checkpoint is of the publication {slot.publication}, not of {address.publication}"
        )


def _slots(connection: Connection, name: str) -> list[tuple[Any, ...]]:
    statement = "select active, plugin, database, wal_status from pg_replication_slots where slot_name = %s"
    return query(connection, statement, name)


def _drop(connection: Connection, name: str) -> None:
    """Drop a slot, if it is there. Who has used it last may still be about to leave."""
    import psycopg

    deadline = time.monotonic() + SECONDS_FOR_SLOT
    while _slots(connection, name):
        try:
            query(connection, "select pg_drop_replication_slot(%s)", name)
        except psycopg.errors.ObjectInUse:
            if is_too_late(deadline):
                raise


def _drop_unfinished(connection: Connection, folder: Path) -> None:
    """Clear away what an earlier start left behind that did not come to its end."""
    starting = folder / "starting.json"
    unfinished = read_json(starting)
    if unfinished is not None:
        _drop(connection, unfinished["slot"])
        if unfinished["publication"] is not None:
            query(connection, f"DROP PUBLICATION IF EXISTS {quoted(unfinished['publication'])}")
        starting.unlink()
    shutil.rmtree(folder / "snapshot", ignore_errors=True)


@contextlib.contextmanager
def _new_slot(address: Address, name: str) -> Iterator[tuple[int, str, str]]:
    """Make a slot: its start, the server's number, and a snapshot that can be used for as long as this."""
    with connect_for_replication(address) as replication:
        system = _system(replication)
        command = f"CREATE_REPLICATION_SLOT {quoted(name)} LOGICAL pgoutput EXPORT_SNAPSHOT"
        ((_, start, snapshot, _),) = _created(replication, command)
        yield lsn_number(start), system, snapshot


def _created(replication: Connection, command: str) -> list[tuple[Any, ...]]:
    import psycopg

    waiting = threading.Timer(SECONDS_TO_SAY_SO, warnings.warn, [WAITING, TocsinWarning])
    waiting.daemon = True
    waiting.start()
    try:
        return query(replication, command)
    except psycopg.errors.ConfigurationLimitExceeded as error:
        raise InputError(
            "the server has no room for one more replication slot: raise max_replication_slots, or drop"
            " a slot that nobody reads (select slot_name from pg_replication_slots where not active)"
        ) from error
    finally:
        waiting.cancel()


def _system(replication: Connection) -> str:
    return str(query(replication, "IDENTIFY_SYSTEM")[0][0])


def _copy_contents(address: Address, connection: Connection, snapshot: str, parts: _Parts) -> int | None:
    """Copy the rows of the tables as the snapshot sees them; how many files they fill.

    None when a table was truncated or altered since the snapshot: the rows that it had then are gone, from
    every snapshot. So the tables are looked at as they were and as they are, once they are locked.
    """
    query(connection, "begin isolation level repeatable read read only")
    query(connection, f"set transaction snapshot '{snapshot}'")
    query(connection, "set local row_security = off")  # an error, where rows would be left out
    listed = ", ".join(name.quoted for name in address.tables)
    query(connection, f"lock table {listed} in access share mode")
    tables = catalog.find_tables(connection, address.tables)
    with connect(address) as beside:
        if catalog.find_tables(beside, address.tables) != tables:
            return None
    for table in tables:
        rows = table.name.quoted if table.partitioned else f"only {table.name.quoted}"
        writer = RowWriter(table.columns, table.types)
        columns = ", ".join(quoted(column) for column in table.columns)
        with connection.cursor().copy(f"copy (select {columns} from {rows}) to stdout") as copied:
            for row in copied.rows():
                parts.add(str(table.name), writer.types, writer.text(row))
    query(connection, "commit")
    return parts.finish()


class _Parts:
    """The files of a snapshot, each of a bounded number of rows."""

    def __init__(self, folder: Path, start: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._start = start
        self._row = 0
        self._parts = 0
        self._writer: ChangeWriter | None = None

    def add(self, table: str, types: str, text: str) -> None:
        if self._writer is None:
            self._writer = ChangeWriter(self._folder)
        before_all = self._start - 1
        self._writer.add(Change(before_all, self._row, None, None, table, SNAPSHOT, types, None, text, True))
        self._row += 1
        if self._writer.rows >= PART_ROWS:
            self.finish()

    def finish(self) -> int:
        if self._writer is not None:
            self._writer.finish(part_name(self._parts))
            self._parts += 1
            self._writer = None
        return self._parts


def part_name(number: int) -> str:
    """The name of a file of the snapshot."""
    return f"{number:08d}.arrow"
