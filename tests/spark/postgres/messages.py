"""Messages of pgoutput written by hand, as PostgreSQL's documentation lays them out."""

from __future__ import annotations

import struct

from tocsin.spark.postgres.pgoutput import (
    MICROSECONDS_TO_2000,
    UNCHANGED,
    Begin,
    Commit,
    Delete,
    Insert,
    Message,
    Relation,
    Row,
    Truncate,
    Type,
)


def encoded(message: Message) -> bytes:
    """The bytes of a message."""
    if isinstance(message, Begin):
        since_2000 = message.time - MICROSECONDS_TO_2000
        return b"B" + struct.pack(">QqI", message.commit, since_2000, message.transaction)
    if isinstance(message, Commit):
        since_2000 = message.time - MICROSECONDS_TO_2000
        return b"C\0" + struct.pack(">QQq", message.commit, message.end, since_2000)
    if isinstance(message, Relation):
        columns = b"".join(
            bytes([column.is_key]) + text(column.name) + struct.pack(">Ii", column.type, column.modifier)
            for column in message.columns
        )
        head = struct.pack(">I", message.number) + text(message.schema) + text(message.name)
        return b"R" + head + message.identity.encode() + struct.pack(">H", len(message.columns)) + columns
    if isinstance(message, Type):
        return b"Y" + struct.pack(">I", message.number) + text(message.schema) + text(message.name)
    if isinstance(message, Insert):
        return b"I" + struct.pack(">I", message.relation) + b"N" + row(message.new)
    if isinstance(message, Delete):
        kind = b"O" if message.whole else b"K"
        return b"D" + struct.pack(">I", message.relation) + kind + row(message.old)
    if isinstance(message, Truncate):
        numbers = b"".join(struct.pack(">I", each) for each in message.relations)
        return b"T" + struct.pack(">IB", len(message.relations), 0) + numbers
    old = b"" if message.old is None else (b"O" if message.whole else b"K") + row(message.old)
    return b"U" + struct.pack(">I", message.relation) + old + b"N" + row(message.new)


def row(values: Row) -> bytes:
    """A row: how many values, and each by its kind."""
    written = struct.pack(">H", len(values))
    for value in values:
        if value is None:
            written += b"n"
        elif value is UNCHANGED:
            written += b"u"
        else:
            assert isinstance(value, str)
            written += b"t" + struct.pack(">I", len(value.encode())) + value.encode()
    return written


def text(value: str) -> bytes:
    """A text ends in a zero byte."""
    return value.encode() + b"\0"
