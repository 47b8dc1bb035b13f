"""The messages of pgoutput, PostgreSQL's own output plugin for logical decoding (protocol version 1).

    transaction   B  { [Y...] [R] (I | U | D) | T | O | M }  C

    B  begin       position of the commit, its time, transaction number
    C  commit      flags, position of the commit, position behind it, time
    R  relation    number, schema, name, replica identity, columns: before the first change of a table in a
                   session, and again when the table has changed
    Y  type        number, schema, name: before an R that names a type that is not built in
    I  insert      relation, N new row
    U  update      relation, [K old key | O old row], N new row
    D  delete      relation, K old key | O old row
    T  truncate    relations

A whole old row (O) comes with REPLICA IDENTITY FULL only. All numbers are big-endian. Nothing here talks to
a server: bytes in, messages out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from tocsin.errors import InputError

MICROSECONDS_TO_2000 = 946_684_800_000_000
"""From 1970, where everybody counts from, to 2000, where PostgreSQL does."""

FULL = "f"
"""REPLICA IDENTITY FULL."""


class Unchanged(Enum):
    """In the place of a large value that an update did not touch, and that was therefore not logged."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED

Value = str | Unchanged | None
"""A value as PostgreSQL writes it; None is null."""

Row = tuple[Value, ...]


class Begin(NamedTuple):
    """A transaction starts. `time` is that of its commit, in microseconds since 1970 UTC."""

    commit: int
    time: int
    transaction: int


class Commit(NamedTuple):
    """A transaction is whole; the log goes on at `end`."""

    commit: int
    end: int
    time: int


class Column(NamedTuple):
    """A column of a table. `modifier` is PostgreSQL's typmod."""

    name: str
    type: int
    is_key: bool
    modifier: int


class Relation(NamedTuple):
    """A table as it is for the changes that follow."""

    number: int
    schema: str
    name: str
    identity: str
    columns: tuple[Column, ...]


class Type(NamedTuple):
    """The name of a type that is not built in; of a domain, the name of what it is made of."""

    number: int
    schema: str
    name: str


class Insert(NamedTuple):
    """A new row."""

    relation: int
    new: Row


class Update(NamedTuple):
    """A row in the place of another. `old` is its key when `whole` is false, None when none is told."""

    relation: int
    old: Row | None
    whole: bool
    new: Row


class Delete(NamedTuple):
    """A row is gone. `old` is only its key when `whole` is false."""

    relation: int
    old: Row
    whole: bool


class Truncate(NamedTuple):
    """Tables are emptied; which rows they had is not told."""

    relations: tuple[int, ...]


Message = Begin | Commit | Relation | Type | Insert | Update | Delete | Truncate


def decoded(data: bytes) -> Message | None:
    """The message of these bytes; None for one that says nothing about rows.

    InputError when they are no message of this protocol.
    """
    reader = _Reader(data)
    kind = reader.letter() if data else ""
    if kind not in _READERS:
        raise InputError(f"PostgreSQL sent a message of an unknown kind {kind!r}")
    read = _READERS[kind]
    try:
        return None if read is None else read(reader)
    except (struct.error, ValueError) as error:
        raise InputError(f"PostgreSQL sent a {kind!r} message that cannot be read: {error}") from error


class _Reader:
    """A place in the bytes of a message."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def letter(self) -> str:
        return chr(self.number("B"))

    def number(self, size: str) -> int:
        """A number of a size that struct knows by this letter."""
        number: int = struct.unpack_from(f">{size}", self._data, self._at)[0]
        self._at += struct.calcsize(f">{size}")
        return number

    def text(self) -> str:
        """Up to the next zero byte."""
        end = self._data.index(b"\0", self._at)
        text = self._data[self._at : end].decode()
        self._at = end + 1
        return text

    def row(self) -> Row:
        return tuple([self._value() for _ in range(self.number("H"))])

    def _value(self) -> Value:
        kind = self.letter()
        if kind == "n":
            return None
        if kind == "u":
            return UNCHANGED
        if kind != "t":
            raise ValueError(f"a value of kind {kind!r}")
        length = self.number("I")
        end = self._at + length
        if end > len(self._data):
            raise ValueError("a value is cut off")
        text = self._data[self._at : end].decode()
        self._at = end
        return text


def _begin(reader: _Reader) -> Begin:
    commit, time = reader.number("Q"), reader.number("q")
    return Begin(commit, time + MICROSECONDS_TO_2000, reader.number("I"))


def _commit(reader: _Reader) -> Commit:
    reader.number("B")
    commit, end = reader.number("Q"), reader.number("Q")
    return Commit(commit, end, reader.number("q") + MICROSECONDS_TO_2000)


def _relation(reader: _Reader) -> Relation:
    number, schema, name = reader.number("I"), reader.text(), reader.text()
    identity = reader.letter()
    columns = tuple([_column(reader) for _ in range(reader.number("H"))])
    return Relation(number, schema or "pg_catalog", name, identity, columns)


def _column(reader: _Reader) -> Column:
    is_key = bool(reader.number("B") & 1)
    return Column(reader.text(), reader.number("I"), is_key, reader.number("i"))


def _type(reader: _Reader) -> Type:
    return Type(reader.number("I"), reader.text() or "pg_catalog", reader.text())


def _insert(reader: _Reader) -> Insert:
    relation = reader.number("I")
    _expect(reader.letter(), "N")
    return Insert(relation, reader.row())


def _update(reader: _Reader) -> Update:
    relation = reader.number("I")
    kind = _expect(reader.letter(), "KON")
    if kind == "N":
        return Update(relation, None, False, reader.row())
    old = reader.row()
    _expect(reader.letter(), "N")
    return Update(relation, old, kind == "O", reader.row())


def _delete(reader: _Reader) -> Delete:
    relation = reader.number("I")
    kind = _expect(reader.letter(), "KO")
    return Delete(relation, reader.row(), kind == "O")


def _truncate(reader: _Reader) -> Truncate:
    count = reader.number("I")
    reader.number("B")
    return Truncate(tuple([reader.number("I") for _ in range(count)]))


def _expect(letter: str, letters: str) -> str:
    if letter not in letters:
        raise ValueError(f"{letter!r} where one of {letters!r} should be")
    return letter


_READERS: Final[dict[str, Callable[[_Reader], Message] | None]] = {
    "B": _begin,
    "C": _commit,
    "R": _relation,
    "Y": _type,
    "I": _insert,
    "U": _update,
    "D": _delete,
    "T": _truncate,
    "O": None,  # where a change came from before it was replicated to the server
    "M": None,  # a message that an application wrote into the log
    # That a savepoint was rolled back to, of which nothing was told: PostgreSQL 18 says so by mistake, as it
    # should only to those who ask for transactions before they are committed.
    "A": None,
}
