"""Which rules see which changes."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.sharded_rules import in_parts

import tocsin
from tocsin import Index
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.errors import InputError
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.rules_by_table import RuleTables, place_of

TABLES = (TableName("public", "orders"), TableName("sales", "orders"), TableName("sales", "items"))


def _version(rules: object) -> Snapshot:
    index = tocsin.build(rules)
    assert isinstance(index, Index)
    return index.version


def test_tables_are_named_with_or_without_their_schema() -> None:
    names = ["orders", "sales.orders", "items", "public.items", "nothing"]
    assert [place_of(name, TABLES) for name in names] == [0, 1, 2, None, None]
    with pytest.raises(InputError, match="name it with its schema"):
        place_of("orders", [TableName("a", "orders"), TableName("b", "orders")])


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_rules_see_the_changes_that_they_name(parts: int) -> None:
    rules = rules_of_triggers("""
        create trigger inserted from orders when id > 0;
        create trigger updated from orders as o after update to o when o.id > 0;
        create trigger deleted after delete to items when id > 0;
        create trigger qualified from "sales.orders" as o when id > 0;
        create trigger elsewhere from nothing when id > 0;
        create trigger anywhere when id > 0;
    """)
    version = in_parts(random.Random(parts), rules, parts).version if parts else _version(rules)
    tables = RuleTables(version, TABLES)
    assert tables.unknown == ("nothing",)
    assert tables.need_whole_rows() == [TABLES[0], TABLES[2]]
    seen = {}
    for table in map(str, TABLES):
        for op in ("insert", "update", "delete"):
            place, kind = tables.codes([table], [op])
            every = np.arange(len(rules), dtype=np.int32)
            fires = tables.fires(place, kind, np.zeros(len(rules), np.int64), every, lambda *_: False)
            seen[table, op] = set(version.names.column(every[fires]).to_pylist())
            assert tables.sees(table, op) == bool(seen[table, op])
    assert seen == {
        ("public.orders", "insert"): {"inserted", "anywhere"},
        ("public.orders", "update"): {"updated"},
        ("public.orders", "delete"): set(),
        ("sales.orders", "insert"): {"qualified", "anywhere"},
        ("sales.orders", "update"): set(),
        ("sales.orders", "delete"): set(),
        ("sales.items", "insert"): {"anywhere"},
        ("sales.items", "update"): set(),
        ("sales.items", "delete"): {"deleted"},
    }


def test_a_table_of_rules_says_it_in_columns() -> None:
    columns = {
        "id": ["a", "b"],
        "when": ["x > 0", "x > 0"],
        "table": ["items", None],
        "after": ["delete", None],
    }
    tables = RuleTables(_version(pa.table(columns)), TABLES)
    assert tables.table.tolist() == [2, -1]
    assert tables.ops.tolist() == [4, 1]
    columns["after"] = ["delete", "lunch"]
    with pytest.raises(InputError, match="after 'lunch'"):
        RuleTables(_version(pa.table(columns)), TABLES)
