"""Which rules see which changes."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.sharded_rules import in_parts

import tocsin
from tocsin import Index
from tocsin.conditions.live import Snapshot
from tocsin.errors import InputError, RuleError
from tocsin.rules import After
from tocsin.rules.after_clause import KINDS
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.rules_by_table import RuleTables, place_of

TABLES = (TableName("public", "orders"), TableName("sales", "orders"), TableName("sales", "items"))


def _version(rules: Any) -> Snapshot:
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
    with pytest.raises(RuleError, match=r"2: after: expected 'insert', .*, found 'lunch' \(rule b\)"):
        _version(pa.table(columns))


@pytest.mark.parametrize("seed", range(20))
def test_kinds_of_change_fields_and_old_rows(seed: int) -> None:
    rng = random.Random(seed)
    rules: list[dict[str, object]] = []
    afters: list[After] = []
    for number in range(30):
        kinds = tuple(rng.sample(KINDS, rng.randint(1, 3)))
        fields = (("a",), ("b", "c"))[: rng.randint(0, 2)] if "update" in kinds else ()
        afters.append(After(kinds, None, fields))
        when = rng.choice(
            ["old.a = 1", 'x = 1 and old . "b c" > 2', "x = 1", '"old".a = 1', "threshold.a = 1"]
        )
        table = rng.choice([None, "items", "sales.orders"])
        on = rng.choice([None, True, False])
        rules.append(
            {"id": f"r{number}", "when": when, "after": str(afters[-1]), "table": table, "enabled": on}
        )
    tables = RuleTables(_version(rules), TABLES)
    changes = [(str(rng.choice(TABLES)), rng.choice(KINDS)) for _ in range(40)]
    differing = [set(rng.sample([("a",), ("b", "c")], rng.randint(0, 2))) for _ in changes]
    row, rule = np.tile(np.arange(40), 30), np.repeat(np.arange(30, dtype=np.int32), 40)
    codes = tables.codes(*zip(*changes, strict=True))
    fires = tables.fires(*codes, row, rule, lambda at, fields: bool(differing[at] & set(fields)))
    for at, number, found in zip(row.tolist(), rule.tolist(), fires.tolist(), strict=True):
        (table, kind), after = changes[at], afters[number]
        its = rules[number]["table"]
        fits = kind in after.kinds and (its is None or table == ("sales.items" if its == "items" else its))
        assert found == (
            fits and (kind != "update" or not after.fields or bool(differing[at] & set(after.fields)))
        )
    for table, kind in changes:
        seeing = [
            number
            for number, each in enumerate(rules)
            if kind in afters[number].kinds
            and each["table"] in (None, table, table.removeprefix("sales.") if "items" in table else None)
        ]
        named = [number for number in seeing if re.search(r"\bold ?\.", str(rules[number]["when"]))]
        asking = [number for number in named if {"update", "delete"} & set(afters[number].kinds)]
        assert tables.sees(table, kind) == any(rules[number]["enabled"] is not False for number in seeing)
        assert tables.asks_old(table, kind) == bool(asking)
        assert tables.needs_old(table, kind) == bool(
            asking or any(afters[number].fields for number in seeing)
        )
