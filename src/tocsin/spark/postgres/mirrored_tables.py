"""The contents of the tables, and the triggers that join them: held by a worker, and known to the disk.

    FOLDER/
      snapshot/                    the contents that the slot started from
      contents/000000000192A6B8/   the contents as of a later position: all that was committed before it
      changes/START-END.arrow      what has happened since

The contents at any position are those of the newest folder before it, and the changes from there on. So a
worker that has them goes on with the changes that it has not seen, be they another worker's; one that has
not, or has gone too far because a batch is done again, begins from the disk. When the changes have become
many, the contents are written anew; what lies before them is then taken away by the reader.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tocsin.conditions.live import Preparation
from tocsin.errors import EventError, InputError
from tocsin.rules import Trigger
from tocsin.spark.postgres.change_events import NOT_WHOLE
from tocsin.spark.postgres.change_files import (
    DELETE,
    INSERT,
    SNAPSHOT,
    TRUNCATE,
    Change,
    ChangeWriter,
    changes_files,
    contents_folders,
    read_batches,
)
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.postgres_values import row_reader, row_text
from tocsin.spark.postgres.rules_by_table import place_of
from tocsin.spark.stream.rule_version import rules_of
from tocsin.storage import sync_folder
from tocsin.text import TextBase
from tocsin.watches import Alert, Watch

BYTES_TO_SAVE = 64 << 20
"""Changes, in bytes on disk, after which the contents are written anew."""

Position = tuple[int, int]
"""Of a change: lsn and row."""

_LAST_ROW = 1 << 62


def placed(trigger: Trigger, tables: Sequence[TableName]) -> Trigger:
    """The trigger with its tables under their whole names."""
    places = [place_of(table.name, tables) for table in trigger.sources]
    named = [
        table if place is None else replace(table, name=str(tables[place]))
        for table, place in zip(trigger.sources, places, strict=True)
    ]
    return replace(trigger, tables=tuple(named))


class Contents:
    """The rows of the chosen tables as of a position, watched by triggers."""

    def __init__(self, folder: Path, tables: Sequence[TableName]) -> None:
        self._folder = folder
        self._tables = tuple(tables)
        self._triggers: dict[str, Trigger] = {}
        self._texts = TextBase()
        self._clear()
        self.position: Position | None = None

    def _clear(self) -> None:
        self._watch = self._new_watch()
        self._types: dict[str, str] = {}
        self._unread: Counter[tuple[str, str, str]] = Counter()
        self._base = 0

    # ---- Triggers

    def weigh_by(self, texts: TextBase) -> None:
        """Let free text go by these dictionaries and settings."""
        if texts.equals(self._texts):
            return
        self._texts = texts
        triggers, self._triggers = list(self._triggers.values()), {}
        before, self._watch = self._watch, self._new_watch()
        for table in before.tables:
            for row in before.rows(table):
                self._watch.insert(table, row)
        self.watch(triggers)

    def watch(self, triggers: Iterable[Trigger]) -> None:
        """Watch these triggers and no others. Rows that are there fire nothing."""
        wanted = {trigger.name: placed(trigger, self._tables) for trigger in triggers}
        for name in [name for name, trigger in self._triggers.items() if wanted.get(name) != trigger]:
            self._watch.remove(name)
            del self._triggers[name]
        added = [trigger for name, trigger in wanted.items() if name not in self._triggers]
        if added:
            self._watch.add(rules_of(added))
            self._triggers.update((trigger.name, trigger) for trigger in added)

    def _new_watch(self) -> Watch:
        return Watch(replace(Preparation.of(), base=self._texts))

    # ---- Changes

    def go_to(self, position: Position) -> None:
        """Be as of this position: with all changes before it, and none from it on."""
        if self.position is None or self.position >= position or self._is_behind(position):
            self._load(position)
        for start, end, path in changes_files(self._folder / "changes"):
            if end > (self.position or position)[0] and start <= position[0]:
                for batch in read_batches(path):
                    for change in batch.to_pylist():
                        self._apply_quietly(change, position)

    def apply(self, change: dict[str, Any]) -> list[Alert]:
        """Make a change, and tell which triggers it fires. ValueError or EventError when it cannot be read.

        A row that cannot be read joins with nothing, and is not missed when it goes. InputError when a row
        goes that was never there, or is not told: then the contents are not those of the table any more.
        """
        self.position = change["lsn"], change["row"]
        table, op, types = change["table"], change["op"], change["types"]
        if op == TRUNCATE:
            self._truncate(table)
            return []
        if not change["whole"] or (op not in (INSERT, SNAPSHOT) and change["old"] is None):
            raise InputError(
                f"a row of {table} has changed, and {NOT_WHOLE}. So its contents are not known any more:"
                " give it that, and start the stream with a new checkpoint"
            )
        self._types[table] = types
        old = None if op in (INSERT, SNAPSHOT) else self._leaving(table, types, change["old"])
        if op == DELETE:
            return [] if old is None else self._watch.delete(table, old)
        try:
            new = row_reader(types).row(change["new"])
            return self._watch.insert(table, new) if old is None else self._watch.update(table, old, new)
        except (ValueError, EventError):
            if old is not None:
                self._watch.delete(table, old)
            self._unread[table, types, change["new"]] += 1
            raise

    def _leaving(self, table: str, types: str, text: str) -> dict[str, Any] | None:
        """The row that an update or a deletion is about, which is there; None when it could not be read."""
        if self._unread[table, types, text]:
            self._unread[table, types, text] -= 1
            return None
        row = row_reader(types).row(text)
        if not self._watch.has_row(table, row):
            raise InputError(
                f"a row of {table} has changed that the stream has never seen so: {text[:200]}. After ALTER"
                " TABLE, rows can be other ones without a change that is logged. Start the stream with"
                " a new checkpoint"
            )
        return row

    def _truncate(self, table: str) -> None:
        for row in self._watch.rows(table):
            self._watch.delete(table, row)
        for key in [key for key in self._unread if key[0] == table]:
            del self._unread[key]

    def _apply_quietly(self, change: dict[str, Any], before: Position) -> None:
        """Make a change that is new and before a position; what is wrong with it was told with its batch."""
        if (self.position or before) < (change["lsn"], change["row"]) < before:
            try:
                self.apply(change)
            except (ValueError, EventError):
                return

    # ---- The disk

    def _is_behind(self, position: Position) -> bool:
        """Whether another worker has written contents since, so that changes between may be gone."""
        newest = max((base for base, _ in contents_folders(self._folder) if base <= position[0]), default=0)
        return newest > self._base and (self.position or position) < (newest, 0)

    def _load(self, position: Position) -> None:
        """Begin anew from the newest contents on the disk that are not beyond a position."""
        triggers, self._triggers = list(self._triggers.values()), {}
        self._clear()
        known = [(base, path) for base, path in contents_folders(self._folder) if base <= position[0]]
        self._base, folder = max(known, default=(0, self._folder / "snapshot"))
        self.position = (-1, -1)
        for file in sorted(folder.glob("*.arrow")):
            for batch in read_batches(file):
                for change in batch.to_pylist():
                    self._apply_quietly(change, (1 << 63, 0))
        self.position = max(self.position, (self._base - 1, _LAST_ROW))
        self.watch(triggers)

    def save_if_worth_it(self, position: int) -> None:
        """Write the contents down when the changes since the last time have become many.

        They must be as of this position, where a transaction starts.
        """
        since = [path for start, _, path in changes_files(self._folder / "changes") if start >= self._base]
        if sum(path.stat().st_size for path in since) >= BYTES_TO_SAVE:
            self.save(position)

    def save(self, position: int) -> None:
        """Write the contents down as of this position."""
        final = self._folder / "contents" / f"{position:016X}"
        draft = final.with_name(f".draft-{final.name}")
        shutil.rmtree(draft, ignore_errors=True)
        writer = ChangeWriter(draft)
        for row, (table, types, text) in enumerate(self._rows()):
            writer.add(Change(position - 1, row, None, None, table, SNAPSHOT, types, None, text, True))
        writer.finish("00000000.arrow")
        if not final.exists():
            draft.replace(final)
            sync_folder(final.parent)
        self._base = position

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Every row as table, types and JSON; those that could not be read as they came."""
        for table, types in self._types.items():
            for row in self._watch.rows(table):
                yield table, types, row_text(row)
        yield from self._unread.elements()
