"""The rows of a watch as records: [change, number of the row, table, row], a row for "+" and "=" alone.

+   the row comes           a snapshot has one such record for each row, in the order of the numbers
=   it takes the place of the row of that number
-   the row of that number goes
w   in a snapshot of a watch that learns, before the rows: [w, version, field, what its dictionary counts]

A change that something was learnt from has a fifth part: the fields whose documents were counted, each as
[whether it is asked with the row before in it, its names ...].
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tocsin.errors import EventError, JournalError, TocsinError, TocsinWarning
from tocsin.storage import WATCH, Record, RecordLog
from tocsin.watches.learnt_words import Asked, LearntWords, documents_of
from tocsin.watches.row_values import Unkept, decode, encode
from tocsin.watches.table_contents import Row, kept_row

COME, CHANGE, GO, WORDS = "+", "=", "-", "w"

_MOST_ROWS = 1 << 62
"""Rows are numbered below that."""

_BAD = (TocsinError, ValueError, TypeError, LookupError, ArithmeticError)


class NumberedRow(NamedTuple):
    """A row of a table, and its number in the watch."""

    number: int
    table: str
    row: Row


Kept = tuple[str, int, str, Row]
"""A record of a snapshot."""


class KeptRows:
    """What the records of a journal add up to; JournalError for one that makes no sense."""

    def __init__(self, file: str, records: Iterable[Record]) -> None:
        self.rows: dict[int, NumberedRow] = {}
        self.next_number = 0
        self.words: LearntWords | None = None
        for record in records:
            try:
                self._take(*decode(record.payload))  # type: ignore[misc]
            except _BAD as error:
                raise JournalError(
                    f"cannot be understood: {error}", file=file, offset=record.offset
                ) from error

    def _take(
        self, change: str, number: int, table: str, row: Row | None, asked: Sequence[Sequence[Any]] = ()
    ) -> None:
        if (type(change), type(number), type(table)) != (str, int, str) or not 0 <= number < _MOST_ROWS:
            raise ValueError("it is not a change of a row of a table")
        if change == WORDS:
            self._learnt().take(number, table, kept_row(row))
            return
        if (number in self.rows) == (change == COME):
            raise ValueError(f"row {number} cannot be changed so")
        if change in (COME, CHANGE):
            before = self.rows.get(number)
            new = self.rows[number] = NumberedRow(number, table, kept_row(row))
            if asked:
                fields = [Asked(bool(with_old), tuple(map(str, path))) for with_old, *path in asked]
                self._learnt().learn(documents_of(new.row, None if before is None else before.row, fields))
        elif change == GO:
            del self.rows[number]
        else:
            raise ValueError(f"there is no change {change!r:.20}")
        self.next_number = max(self.next_number, number + 1)

    def _learnt(self) -> LearntWords:
        if self.words is None:
            self.words = LearntWords({})
        return self.words


class RowJournal:
    """The journal of a watch."""

    def __init__(self, folder: str | os.PathLike[str], sync: str) -> None:
        self._log = RecordLog(folder, WATCH, sync)
        try:
            if self._log.is_new:
                self._log.rewrite([])
            self._kept = KeptRows(str(self._log.file), self._log.read())
        except BaseException:
            self.close()
            raise
        self.next_number = self._kept.next_number
        self.words = self._kept.words
        """What was learnt before; None when nothing was."""

    def take_rows(self) -> list[NumberedRow]:
        """The rows that were there, by their numbers; to be asked for once."""
        rows, self._kept.rows = self._kept.rows, {}
        return [rows[number] for number in sorted(rows)]

    def rewrite(self, snapshot: Iterable[Kept]) -> None:
        """Have this in the place of all that it has."""
        self._log.rewrite(_record(*each) for each in snapshot)

    @contextmanager
    def journalled(
        self,
        change: str,
        number: int,
        table: str,
        row: Row | None,
        asked: Iterable[Asked],
        snapshot: Callable[[], Iterable[Kept]],
    ) -> Iterator[None]:
        """Journal a change that is sure to be made within.

        EventError when the row holds what cannot be kept, JournalError when it cannot be written: then
        nothing is to be made. `asked` is what is learnt from it, `snapshot` all that there is.
        """
        self._log.append(_record(change, number, table, row, [[each.with_old, *each.path] for each in asked]))
        try:
            yield
        except BaseException:
            self._log.abandon("has not what this watch holds: a change was interrupted; open it again")
            raise
        if self._log.is_long:
            try:
                self.rewrite(snapshot())
            except JournalError as error:
                self._log.wait_longer()
                warnings.warn(str(error), TocsinWarning, stacklevel=4)

    def close(self) -> None:
        """Let others have it."""
        self._log.close()


def _record(
    change: str, number: int, table: str, row: Row | None, asked: Sequence[Sequence[Any]] = ()
) -> bytes:
    try:
        return encode([change, number, table, row, *([asked] if asked else [])])
    except Unkept:
        for name, value in (row or {}).items():
            try:
                encode({name: value})
            except Unkept as error:
                raise EventError(f"field {name} holds {error}, which a journal cannot keep") from None
        raise
