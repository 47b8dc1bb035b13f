"""URIs of servers and tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from tocsin.errors import UsageError
from tocsin.spark.postgres.postgres_address import Address, TableName, table_names


def test_what_is_ours_is_taken_out_of_the_uri() -> None:
    address = Address.of(
        "postgresql://ann:se%20cret@db:5433/shop?sslmode=require&tables=orders,sales.items&slot=s1&rows=50"
    )
    assert address.server == "postgresql://ann:se%20cret@db:5433/shop?sslmode=require"
    assert address.tables == (TableName("public", "orders"), TableName("sales", "items"))
    assert (address.slot, address.publication, address.most_rows) == ("s1", None, 50)
    assert Address.of(address.uri) == address


def test_no_password_is_shown() -> None:
    address = Address.of("postgresql://ann:secret@db/shop?tables=t")
    assert address.shown == "postgresql://ann@db/shop"
    assert "secret" not in repr(address)
    several = Address.of("postgresql://ann:secret@one:5433,two/shop?tables=t")
    assert several.shown == "postgresql://ann@one:5433,two/shop"


def test_a_server_on_a_socket_has_no_host() -> None:
    address = Address.of("postgresql:///shop?tables=t&host=/run/postgresql&application_name=a%20b")
    assert address.server == "postgresql:///shop?host=%2Frun%2Fpostgresql&application_name=a%20b"
    assert conninfo_to_dict(address.server)["host"] == "/run/postgresql"
    assert Address.of(address.uri) == address


def test_options_win_over_the_url() -> None:
    address = Address.of_options({"url": "postgresql://db/shop?tables=a&sslmode=require", "tables": "b"})
    assert address.tables == (TableName("public", "b"),)
    assert address.server == "postgresql://db/shop?sslmode=require"


parts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@given(st.lists(st.builds(TableName, parts, parts), min_size=1, unique_by=str))
def test_any_names_can_be_quoted(tables) -> None:
    assert table_names(", ".join(table.quoted for table in tables)) == tuple(tables)
    address = Address("postgresql://db/shop", tuple(tables))
    assert Address.of(address.uri) == address


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("postgresql://db/shop", "which tables"),
        ("postgresql://db/shop?tables=a,a", "twice"),
        ('postgresql://db/shop?tables=a."b.c","a.b".c', "nobody can tell apart"),
        ("postgresql://db/shop?tables=a..b", "expected the name of a table"),
        ('postgresql://db/shop?tables="a', "expected the name of a table"),
        ("postgresql://db/shop?tables=a&slot=My-Slot", "lower-case"),
        ("postgresql://db/shop?tables=a&rows=0", "a number from 1"),
        ("mysql://db/shop?tables=a", "postgresql://"),
        ("postgresql://[::1/shop?tables=a", "Invalid IPv6 URL"),
    ],
)
def test_what_makes_no_sense_is_refused(uri, reason) -> None:
    with pytest.raises(UsageError, match=reason):
        Address.of(uri)
