"""Messages to changes: what a change tells of its rows, with and without REPLICA IDENTITY FULL."""

from __future__ import annotations

import json

import pytest

from tocsin.errors import InputError
from tocsin.spark.postgres.change_files import Change
from tocsin.spark.postgres.pgoutput import (
    UNCHANGED,
    Begin,
    Column,
    Commit,
    Delete,
    Insert,
    Message,
    Relation,
    Truncate,
    Type,
    Update,
)
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.transactions import Transactions

INT4, TEXT, MOOD = 23, 25, 16_400
COLUMNS = (Column("id", INT4, True, -1), Column("t", TEXT, False, -1), Column("m", MOOD, False, -1))
ORDERS = Relation(7, "public", "orders", "f", COLUMNS)
BEGIN, COMMIT = Begin(100, 5, 9), Commit(100, 120, 5)


def _changes(*messages: Message, are_all: bool = False) -> list[Change]:
    transactions = Transactions([TableName("public", "orders")], are_all=are_all)
    return [change for message in messages for change in transactions.changes(message)]


def test_changes_are_numbered_in_their_transaction() -> None:
    found = _changes(
        BEGIN,
        Type(MOOD, "public", "mood"),
        ORDERS,
        Insert(7, ("1", "a", "ok")),
        Update(7, ("1", "a", "ok"), True, ("1", "b", None)),
        Delete(7, ("1", "b", None), True),
        Truncate((7,)),
        COMMIT,
        Begin(200, 6, 10),
        Insert(7, ("2", "c", None)),
    )
    assert [(change.lsn, change.row, change.transaction, change.op) for change in found] == [
        (100, 0, 9, "insert"),
        (100, 1, 9, "update"),
        (100, 2, 9, "delete"),
        (100, 3, 9, "truncate"),
        (200, 0, 10, "insert"),
    ]
    assert {change.table for change in found} == {"public.orders"}
    assert json.loads(found[0].types or "") == {"id": "int4", "t": "text", "m": "mood"}
    assert found[1].old == '{"id": 1, "t": "a", "m": "ok"}'
    assert found[1].new == '{"id": 1, "t": "b", "m": null}'
    assert all(change.whole for change in found)


def test_a_large_value_that_was_not_touched_is_that_of_the_old_row() -> None:
    (change,) = _changes(BEGIN, ORDERS, Update(7, ("1", "large", None), True, ("2", UNCHANGED, None)))
    assert change.new == '{"id": 2, "t": "large", "m": null}'
    assert change.whole


def test_without_whole_old_rows_only_the_key_is_known() -> None:
    by_key = ORDERS._replace(identity="d")
    update, quiet, delete = _changes(
        BEGIN,
        by_key,
        Update(7, ("1", None, None), False, ("2", UNCHANGED, None)),
        Update(7, None, False, ("2", "b", None)),
        Delete(7, ("2", None, None), False),
    )
    assert (update.old, update.new, update.whole) == ('{"id": 1}', '{"id": 2, "m": null}', False)
    assert (quiet.old, quiet.new, quiet.whole) == (None, '{"id": 2, "t": "b", "m": null}', True)
    assert (delete.old, delete.new, delete.whole) == ('{"id": 2}', None, False)


def test_a_table_is_read_by_the_columns_that_it_has_at_the_time() -> None:
    wider = ORDERS._replace(columns=(*COLUMNS[:1], Column("n", INT4, False, -1)))
    first, second = _changes(BEGIN, ORDERS, Insert(7, ("1", "a", None)), wider, Insert(7, ("2", "3")))
    assert (first.new, second.new) == ('{"id": 1, "t": "a", "m": null}', '{"id": 2, "n": 3}')


def test_other_tables_of_the_publication_are_left_out() -> None:
    other = ORDERS._replace(number=8, name="others")
    assert _changes(BEGIN, other, Insert(8, ("1", "a", None)), Truncate((8,)), COMMIT) == []


def test_a_table_that_was_renamed_is_not_left_out() -> None:
    renamed = ORDERS._replace(name="others")
    insert = Insert(7, ("1", "a", None))
    with pytest.raises(InputError, match=r"public\.orders has been renamed to public\.others"):
        _changes(BEGIN, ORDERS, insert, renamed, insert)
    with pytest.raises(InputError, match=r"a table of the stream has been renamed to public\.others"):
        _changes(BEGIN, renamed, insert, are_all=True)


def test_an_old_row_of_a_partition_may_be_less_than_its_table_says() -> None:
    whole, partial = (ORDERS._replace(number=8, name="part", identity=each) for each in "fd")
    columns = tuple(column._replace(is_key=True) for column in COLUMNS)  # as all are of an identity FULL
    orders = ORDERS._replace(columns=columns)
    delete, update = Delete(7, ("1", None, None), True), Update(7, ("1", None, None), True, ("2", "b", None))
    (sure,) = _changes(BEGIN, orders, whole, delete, are_all=True)
    assert (sure.old, sure.whole) == ('{"id": 1, "t": null, "m": null}', True)
    deleted, moved = _changes(BEGIN, orders, partial, delete, update, are_all=True)
    assert (deleted.old, deleted.whole) == ('{"id": 1}', False)
    assert (moved.old, moved.new, moved.whole) == ('{"id": 1}', '{"id": 2, "t": "b", "m": null}', True)
    later = _changes(BEGIN, orders, partial, Truncate((7,)), orders, delete)[-1]
    assert later.whole


@pytest.mark.parametrize("messages", [(BEGIN, Insert(7, ())), (ORDERS, Insert(7, ("1", "a", None)))])
def test_what_no_server_sends_is_refused(messages) -> None:
    with pytest.raises(InputError, match="PostgreSQL sent"):
        _changes(*messages)
