"""Changes of rows past rules, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

import tocsin
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark.postgres.change_events import ChangeMatcher
from tocsin.spark.postgres.change_files import SCHEMA, Change
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.rules_by_table import rule_tables
from tocsin.spark.stream.document_counts import DocumentCounts
from tocsin.spark.stream.match_columns import Wanted
from tocsin.spark.stream.match_task import Finder
from tocsin.spark.stream.rule_version import RuleVersion

RULES = """
create trigger golf from orders after insert or update or delete when contains(note, 'golf');
create trigger small from orders after insert when amount < 5;
"""


def test_rows_that_come_are_learnt_from_and_those_that_go_are_not(tmp_path: Path) -> None:
    tocsin.build(rules_of_triggers(RULES)).save(tmp_path / "rules.tocsin")
    rules = RuleVersion(1, str(tmp_path / "rules.tocsin"))
    types = json.dumps({"note": "text", "amount": "integer"})
    rows = [json.dumps({"note": note, "amount": 1}) for note in ("a golf trophy", "golf", "a day")]
    changes = [
        Change(1, 0, 7, 0, "public.orders", "insert", types, None, rows[0], True),
        Change(1, 1, 7, 0, "public.orders", "update", types, rows[0], rows[1], True),
        Change(1, 2, 7, 0, "public.orders", "insert", types, None, rows[2], True),
        Change(1, 3, 7, 0, "public.orders", "delete", types, rows[1], None, True),
    ]
    columns = [
        pa.array(values, field.type) for field, values in zip(SCHEMA, zip(*changes, strict=True), strict=True)
    ]
    counts = DocumentCounts(str(tmp_path), (("note",),))
    counter = counts.counter()
    finder = Finder(rules, Wanted(), pa.schema([]), counter=counter)
    tables = rule_tables(rules, (TableName("public", "orders"),))
    found = list(ChangeMatcher(finder, tables, ()).found(pa.RecordBatch.from_arrays(columns, schema=SCHEMA)))
    assert sum(batch.num_rows for batch in found) == finder.tally.matches == 5
    counter.write()
    ((documents, words),) = counts.parts()
    assert documents == [3]
    assert dict(zip(words["word"].to_pylist(), words["documents"].to_pylist(), strict=True)) == {
        "a": 2,
        "day": 1,
        "golf": 2,
        "trophy": 1,
    }
