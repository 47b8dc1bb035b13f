"""tocsin check: every error of every file, at its place."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import EVENTS, RULES, Command

TRIGGERS = """create trigger old when age > 65;

create trigger broken
  when age >> 3
    and state = ;

create trigger vague from visits as v when v.age < 'x';
"""


def places(out: str) -> list[str]:
    """The lines that name a place, without those that show the text there."""
    return [line for line in out.splitlines() if not line.startswith("    ")]


def test_nothing_wrong(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    assert tocsin("check", "rules.csv") == (0, "", "3 rules OK\n")


def test_every_mistake_of_every_file_with_a_caret(tocsin: Command) -> None:
    tocsin.file("a.sql", TRIGGERS)
    tocsin.file("b.csv", RULES + 'worse,(age > 3\nadults,age > 1\n,age = 1\n"more",age = 2 state = 3\n')
    ran = tocsin("check", "a.sql", "b.csv")
    assert ran.code == 1
    found = places(ran.out)
    assert [line.split(": ")[0] for line in found] == [
        "a.sql:4:13",
        "a.sql:5:17",
        "b.csv:5:1",
        "b.csv:6",
        "b.csv:7",
        "b.csv:8:9",
    ]
    assert "    (age > 3\n    ^\n" in ran.out
    assert "already taken at b.csv:2" in found[3]
    assert ran.err == "6 errors; 5 rules OK\n"


def test_alerts_in_tables_of_rules(tocsin: Command, tmp_path: Path) -> None:
    rules = {"id": ["one", "two"], "when": ["x", "x"]}
    joined = {"table": ["s, t", None], "alias": ["a, b", None]}
    pq.write_table(pa.table({**rules, **joined, "alert": ["{c.n}", "{c.n}"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({**rules, "alert": [None, 404]}), tmp_path / "b.parquet")
    ran = tocsin("check", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"))
    assert ran.code == 1
    first, second = places(ran.out)
    assert first.startswith(f"{tmp_path}/a.parquet:1: ")
    assert "alert: " in first
    assert second == f"{tmp_path}/b.parquet:2: alert: expected a text, found 404 (rule two)"
    refused = tocsin("build", str(tmp_path / "b.parquet"), "-o", "rules.tocsin")
    assert refused.code == 1
    assert "b.parquet:2" in refused.err


def test_throttles(tocsin: Command) -> None:
    tocsin.file("a.sql", "create trigger a\n  with (throttle = '10 minuets', dedup = 'x y')\n  when x;\n")
    tocsin.file("b.csv", "id,when,throttle,dedup\none,x,1 hour,ip\ntwo,x,,ip\nthree,x,600,\n")
    ran = tocsin("check", "a.sql", "b.csv")
    assert ran.code == 1
    assert [line.split(": ")[0] for line in places(ran.out)] == [
        "a.sql:2:20",
        "a.sql:2:45",
        "b.csv:3",
        "b.csv:4",
    ]
    assert "      with (throttle = '10 minuets', dedup = 'x y')\n                       ^\n" in ran.out
    assert ran.err == "4 errors; 1 rule OK\n"
    refused = tocsin("build", "b.csv", "-o", "rules.tocsin")
    assert (refused.code, refused.err.count("b.csv:")) == (1, 2)


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tocsin: Command) -> None:
    tocsin.file("bad.csv", "id,when\nx,age >\n")
    ran = tocsin("check", "missing.csv", "bad.csv", "odd.txt")
    assert ran.code == 1
    assert "missing.csv: there is no such file" in ran.out
    assert "bad.csv:2:6: " in ran.out
    assert "odd.txt" in ran.out


def test_a_file_of_a_folder_that_cannot_be_read_does_not_hide_the_others(tocsin: Command) -> None:
    tocsin.file("rules/a.csv", "id;when\nx;age > 3\n")
    tocsin.file("rules/b.csv", "id,when\nx,age >\nwest,true\n")
    tocsin.file("rules/c.sql.gz", b"nonsense")
    tocsin.file("rules/d.csv", RULES)
    ran = tocsin("check", "rules")
    assert ran.code == 1
    assert [line.split(": ")[0] for line in places(ran.out)] == [
        "rules/a.csv",
        "rules/c.sql.gz",
        "rules/b.csv:2:6",
        "rules/d.csv:3",
    ]
    assert ran.err == "4 errors; 3 rules OK\n"


def test_a_folder_without_rules(tocsin: Command) -> None:
    (tocsin.folder / "empty").mkdir()
    ran = tocsin("check", "empty")
    assert ran.code == 1
    assert "no rule files" in ran.out


def test_ids_are_unique_over_all_files(tocsin: Command) -> None:
    tocsin.file("a.csv", RULES)
    tocsin.file("b.csv", "id,when\nwest,age = 1\n")
    ran = tocsin("check", "a.csv", "b.csv")
    assert ran.code == 1
    assert "b.csv:2: the id 'west' is already taken at a.csv:3" in ran.out


@pytest.fixture
def schema(tocsin: Command) -> Path:
    return tocsin.file("schema.json", '{"age": "integer", "state": "string", "user": {"name": "string"}}')


def test_against_a_schema(tocsin: Command, schema: Path) -> None:
    tocsin.file("a.sql", TRIGGERS.replace(">> 3", "> 3").replace("state = ", "stat = 'CA'"))
    tocsin.file("b.csv", RULES + "name,user.nam = 'x' or age = 1 or not user.nam != 'x'\n")
    ran = tocsin("check", "a.sql", "b.csv", "--schema", schema)
    assert ran.code == 1
    found = places(ran.out)
    assert [line.split(": ")[0] for line in found] == ["a.sql:5:9", "a.sql:7:44", "b.csv:5:1", "b.csv:5:34"]
    assert "there is no field stat: did you mean state?" in found[0]
    assert "never true" in found[1]
    assert "did you mean user.name?" in found[2]


def test_rows_before_a_change_have_the_schema_of_the_table(tocsin: Command, schema: Path) -> None:
    tocsin.file(
        "a.sql",
        "create trigger good with (enabled = false) from t after update when old.age > 3 and age < 3;"
        "create trigger wrong from t after update when old.agee > 3;",
    )
    ran = tocsin("check", "a.sql", "--schema", schema)
    assert (ran.code, ran.err) == (1, "1 error; 1 rule OK, 1 of them disabled\n")
    assert "agee" in ran.out


def test_a_schema_from_events(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    pq.write_table(pa.table({"age": [1], "State": ["CA"]}), tocsin.folder / "events.parquet")
    ran = tocsin("check", "rules.csv", "--schema", "events.parquet")
    assert ran.code == 1
    assert ran.out.count("did you mean State?") == 2


def test_a_schema_from_events_named_json(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.json", EVENTS.replace("state", "State"))
    ran = tocsin("check", "rules.csv", "--schema", "events.json")
    assert ran.out.count("did you mean State?") == 2


def test_a_schema_that_is_none(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    tocsin.file("schema.json", "[1")
    ran = tocsin("check", "rules.csv", "--schema", "schema.json")
    assert ran.code == 1
    assert ran.out == ""
    assert "schema.json" in ran.err


def test_many_rules_with_one_bad_predicate_each_are_checked_quickly(tocsin: Command, schema: Path) -> None:
    rows = "".join(f"r{number},age > {number % 50} and agee = 1\n" for number in range(3_000))
    tocsin.file("rules.csv", "id,when\n" + rows)
    ran = tocsin("check", "rules.csv", "--schema", schema)
    assert len(places(ran.out)) == 3_000
    assert ran.err == "3,000 errors; 0 rules OK\n"


def test_what_a_table_has_in_its_column_after(tocsin: Command) -> None:
    rows = (
        "id,when,after",
        "a,n = 1,insert or update of n",
        "b,n = 1,sometimes",
        "c,n = 1,",
        "d,n = 1,update to n",
        "e,n = 1,insert or",
    )
    tocsin.file("rules.csv", "\n".join(rows))
    ran = tocsin("check", "rules.csv")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "rules.csv:3: after: expected 'insert', 'update' or 'delete', found 'sometimes' (rule b)",
        "rules.csv:5: after: expected 'or', or nothing more after 'update', found 'to' (rule d)",
        "rules.csv:6: after: expected 'insert', 'update' or 'delete' after 'or', found the end (rule e)",
    ]
    assert "3 errors; 2 rules OK" in ran.err
    tocsin.file("rules.jsonl", '{"id": "a", "when": "n = 1"}\n{"id": "b", "when": "n = 1", "after": 3}')
    assert "rules.jsonl:2: after: expected 'insert'" in tocsin("check", "rules.jsonl").out
    assert tocsin("build", "rules.csv", "--out", "rules.tocsin").code == 1
