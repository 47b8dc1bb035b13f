"""Messages of the log to changes: whole transactions, in the order of their commits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tocsin.errors import InputError
from tocsin.spark.postgres.catalog import built_in_type
from tocsin.spark.postgres.change_files import DELETE, INSERT, TRUNCATE, UPDATE, Change
from tocsin.spark.postgres.pgoutput import (
    FULL,
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
    Update,
)
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.postgres_values import RowWriter, known_type


class _Table(NamedTuple):
    """A table as the log describes it, until it describes it anew."""

    name: str
    relation: Relation
    writer: RowWriter


class _Other(NamedTuple):
    """A table that is not among the chosen ones; `was` is the name of one that it had before."""

    name: str
    was: str | None


class Transactions:
    """What the messages of one connection say about the chosen tables.

    The server describes a table before its first change and after every change of its columns; so a row is
    always read by the columns that it was written with. When the publication has the chosen tables alone
    (`are_all`), another name can only be the new name of one of them.
    """

    def __init__(self, tables: Collection[TableName], *, are_all: bool = False) -> None:
        self._chosen = frozenset(tables)
        self._are_all = are_all
        self._types: dict[int, str] = {}
        self._tables: dict[int, _Table | _Other] = {}
        self._partial: set[int] = set()
        self._told: list[Relation] = []
        self._begun: Begin | None = None
        self._row = 0

    @property
    def is_open(self) -> bool:
        """Whether the rest of a transaction is still to come."""
        return self._begun is not None

    def changes(self, message: Message) -> Iterator[Change]:
        """The changes that a message stands for."""
        told = self._told
        if not isinstance(message, Relation | Type):
            self._told = []
        if isinstance(message, Begin):
            self._begun, self._row = message, 0
        elif isinstance(message, Commit):
            self._begun = None
        elif isinstance(message, Type):
            self._types[message.number] = known_type(message.schema, message.name)
        elif isinstance(message, Relation):
            self._tables[message.number] = self._described(message)
            told.append(message)
        elif isinstance(message, Truncate):
            for number in message.relations:
                table = self._table(number)
                if table is not None:
                    yield self._change(table, TRUNCATE, None, None, True)
        else:
            table = self._table(message.relation)
            if table is not None:
                self._look_at_partition(message.relation, told)
                yield self._of_row(table, message)

    def _look_at_partition(self, number: int, told: Sequence[Relation]) -> None:
        """Note a partition whose old rows are not whole, though those of its table are said to be.

        Before the first change of a partition the partitioned table is described, and then the partition. The
        change is told as the table's, and so nobody can tell of an old row what the log carries of it.
        """
        if told and told[-1].number != number and told[-1].identity != FULL:
            self._partial.add(number)

    def _described(self, relation: Relation) -> _Table | _Other:
        name = TableName(relation.schema, relation.name)
        if name not in self._chosen:
            known = self._tables.get(relation.number)
            return _Other(str(name), known.name if isinstance(known, _Table) else known and known.was)
        names = [column.name for column in relation.columns]
        types = [self._type(column.type) for column in relation.columns]
        return _Table(str(name), relation, RowWriter(names, types))

    def _type(self, number: int) -> str:
        return self._types.get(number) or built_in_type(number) or "text"

    def _table(self, number: int) -> _Table | None:
        table = self._tables.get(number)
        if table is None or self._begun is None:
            raise InputError("PostgreSQL sent a change of a table that it has not described")
        if isinstance(table, _Table):
            return table
        if table.was is not None or self._are_all:
            raise InputError(
                f"{table.was or 'a table of the stream'} has been renamed to {table.name}:"
                " start a stream of that, with a new checkpoint"
            )
        return None

    def _of_row(self, table: _Table, message: Insert | Update | Delete) -> Change:
        write = table.writer.text
        if not isinstance(message, Insert) and message.relation in self._partial:
            message = message._replace(whole=False)
        if isinstance(message, Insert):
            return self._change(table, INSERT, None, write(message.new), True)
        if isinstance(message, Delete):
            old = message.old if message.whole else _key(table.relation, message.old)
            return self._change(table, DELETE, write(old), None, message.whole)
        new = message.new if message.old is None else _filled(message.new, message.old, message.whole)
        whole = UNCHANGED not in new
        if message.old is None:
            return self._change(table, UPDATE, None, write(new), whole)
        old = message.old if message.whole else _key(table.relation, message.old)
        return self._change(table, UPDATE, write(old), write(new), whole)

    def _change(self, table: _Table, op: str, old: str | None, new: str | None, whole: bool) -> Change:
        begun = self._begun
        if begun is None:
            raise InputError("PostgreSQL sent a change outside of a transaction")
        row, self._row = self._row, self._row + 1
        types = table.writer.types
        return Change(
            begun.commit, row, begun.transaction, begun.time, table.name, op, types, old, new, whole
        )


def _key(relation: Relation, old: Row) -> Row:
    """Of an old row of which only the key is told, the key: the others are not null but unknown."""
    return tuple(
        value if column.is_key and value is not None else UNCHANGED
        for column, value in zip(relation.columns, old, strict=True)
    )


def _filled(new: Row, old: Row, whole: bool) -> Row:
    """The new row, with large values that were not touched taken from the old one."""
    if not whole:
        return new
    return tuple(was if now is UNCHANGED else now for now, was in zip(new, old, strict=True))
