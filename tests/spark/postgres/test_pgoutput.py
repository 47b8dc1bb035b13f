"""Messages of pgoutput: what was written by hand is read back, and nothing else is taken for a message."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.postgres.messages import encoded

from tocsin.errors import InputError
from tocsin.spark.postgres.pgoutput import (
    UNCHANGED,
    Begin,
    Column,
    Commit,
    Delete,
    Insert,
    Relation,
    Truncate,
    Type,
    Update,
    decoded,
)

positions = st.integers(0, 2**64 - 1)
times = st.integers(-(2**60), 2**60)
numbers = st.integers(0, 2**32 - 1)
names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
values = st.one_of(st.none(), st.just(UNCHANGED), st.text(st.characters(exclude_categories=["Cs"])))
rows = st.lists(values, max_size=6).map(tuple)
columns = st.builds(Column, names, numbers, st.booleans(), st.integers(-1, 2**31 - 1))
messages = st.one_of(
    st.builds(Begin, positions, times, numbers),
    st.builds(Commit, positions, positions, times),
    st.builds(
        Relation, numbers, names, names, st.sampled_from("dnfi"), st.lists(columns, max_size=5).map(tuple)
    ),
    st.builds(Type, numbers, names, names),
    st.builds(Insert, numbers, rows),
    st.builds(Update, numbers, rows, st.booleans(), rows),
    st.builds(Update, numbers, st.none(), st.just(False), rows),
    st.builds(Delete, numbers, rows, st.booleans()),
    st.builds(Truncate, st.lists(numbers, max_size=4).map(tuple)),
)


@given(messages)
def test_what_is_written_is_read(message) -> None:
    assert decoded(encoded(message)) == message


@given(messages, st.data())
def test_a_message_that_is_cut_off_is_refused(message, data) -> None:
    whole = encoded(message)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(InputError, match="PostgreSQL sent"):
        decoded(whole[:cut])


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(data) -> None:
    with contextlib.suppress(InputError):
        decoded(data)


def test_messages_that_say_nothing_about_rows() -> None:
    assert decoded(b"O" + bytes(8) + b"elsewhere\0") is None
    assert decoded(b"M" + bytes(20)) is None
    assert decoded(b"A" + bytes(8)) is None


def test_an_update_must_have_a_new_row() -> None:
    with pytest.raises(InputError, match="'X' where one of 'N' should be"):
        decoded(b"U\0\0\0\1O\0\0X\0\0")
