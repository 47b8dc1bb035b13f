"""Changes as rows of a table, and the files that they are kept in until Spark is done with them.

    lsn           position of the transaction's commit in the log; of a snapshot, one before all of them
    row           number of the change in its transaction, from 0
    transaction   its number in PostgreSQL
    time          when it was committed
    table         schema and name, with a dot between
    op            insert, update, delete, truncate; snapshot for a row that was there at the start
    types         the types of the columns, a JSON object
    old           of an update or a delete: the row as it was, a JSON object; only its key, or null,
                  without REPLICA IDENTITY FULL
    new           of an insert, an update or a snapshot: the row as it is, a JSON object
    whole         whether all of the row that the change is about is known: the new one, or the deleted one

(lsn, row) is the order of the commits, and within a transaction that of its statements. A file holds the
changes from one position up to another, in Arrow's file format:

    changes/0000000001924ED8-0000000001925238.arrow
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from tocsin.storage import sync_folder

INSERT, UPDATE, DELETE, TRUNCATE, SNAPSHOT = "insert", "update", "delete", "truncate", "snapshot"

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("lsn", "row", "transaction"), pa.int64()),
        "time": pa.timestamp("us", "UTC"),
        **dict.fromkeys(("table", "op", "types", "old", "new"), pa.string()),
        "whole": pa.bool_(),
    }
)
DDL = (
    "lsn bigint, row bigint, transaction bigint, time timestamp, table string, op string, types string,"
    " old string, new string, whole boolean"
)
"""The same columns as Spark names their types."""

BATCH_ROWS = 10_000
BATCH_BYTES = 8 << 20
"""Rows, or bytes of their texts, after which a batch of a file is written."""

_NAME = re.compile(r"([0-9A-F]{16})-([0-9A-F]{16})\.arrow")
_CONTENTS = re.compile(r"[0-9A-F]{16}")


class Change(NamedTuple):
    """One row of the table above."""

    lsn: int
    row: int
    transaction: int | None
    time: int | None
    table: str
    op: str
    types: str | None
    old: str | None
    new: str | None
    whole: bool


class ChangeWriter:
    """Writes a file of changes; it has its name only when it is whole, and then for good."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._draft = folder / f".draft-{os.getpid()}-{id(self):x}"
        self._stream = self._draft.open("wb")
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        self._writer = pa.ipc.new_file(self._stream, SCHEMA, options=options)
        self._waiting: list[Change] = []
        self._bytes = 0
        self.rows = 0

    def add(self, change: Change) -> None:
        """Add a change."""
        self._waiting.append(change)
        self._bytes += len(change.old or "") + len(change.new or "")
        self.rows += 1
        if len(self._waiting) >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self._write_waiting()

    def finish(self, name: str) -> Path:
        """Everything to the disk, under this name."""
        self._write_waiting()
        self._writer.close()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        path = self._draft.replace(self._draft.with_name(name))
        sync_folder(path.parent)
        return path

    def give_up(self) -> None:
        """Leave nothing behind."""
        self._stream.close()
        self._draft.unlink(missing_ok=True)

    def _write_waiting(self) -> None:
        if self._waiting:
            columns = zip(SCHEMA, zip(*self._waiting, strict=True), strict=True)
            arrays = [pa.array(values, field.type) for field, values in columns]
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))
        self._waiting = []
        self._bytes = 0


def remove_drafts(folder: Path) -> None:
    """Take away what a process that was killed has left behind; nobody may be writing."""
    for draft in folder.glob(".draft-*"):
        draft.unlink(missing_ok=True)


def changes_name(start: int, end: int) -> str:
    """The name of the file with the changes from `start` up to, and not with, `end`."""
    return f"{start:016X}-{end:016X}.arrow"


def changes_files(folder: Path) -> list[tuple[int, int, Path]]:
    """The files of a folder by what they hold: start, end, path."""
    if not folder.is_dir():
        return []
    found = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(name[1], 16), int(name[2], 16), path) for name, path in found if name)


def contents_folders(folder: Path) -> list[tuple[int, Path]]:
    """The positions of which the contents of tables are on the disk (mirrored_tables.py), and where."""
    contents = folder / "contents"
    if not contents.is_dir():
        return []
    return [(int(path.name, 16), path) for path in contents.iterdir() if _CONTENTS.fullmatch(path.name)]


def forget(folder: Path, position: int) -> None:
    """Take away what no batch from this position on can need to know the contents of tables."""
    known = sorted(base for base, _ in contents_folders(folder) if base <= position)
    if not known:
        return
    for start, end, path in changes_files(folder / "changes"):
        if start < known[-1] and end <= known[-1]:
            path.unlink(missing_ok=True)
    for base, path in contents_folders(folder):
        if base < known[-1]:
            shutil.rmtree(path, ignore_errors=True)


def count_batches(path: Path) -> int:
    """How many batches a file has."""
    with pa.memory_map(str(path)) as source:
        batches: int = pa.ipc.open_file(source).num_record_batches
        return batches


def read_batches(path: Path, first: int = 0, last: int | None = None) -> Iterator[Any]:
    """The batches of a file from `first` up to, and not with, `last`."""
    with pa.OSFile(str(path)) as source:
        opened = pa.ipc.open_file(source)
        for place in range(first, opened.num_record_batches if last is None else last):
            yield opened.get_batch(place)


def lsn_text(lsn: int) -> str:
    """A position as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_number(text: str) -> int:
    """The position that PostgreSQL writes so."""
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)
