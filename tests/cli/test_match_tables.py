"""tocsin match --events TABLE=FILE: alerts of triggers over tables, in every format, and bad input."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import Command

TRIGGERS = """\
create trigger joined from orders as o, people as p after insert to o
  when o.person = p.id and p.vip and o.amount > 10 do alert '{p.name}: {o.amount}';
create trigger poor from people when name is null;
create trigger everything when id = 2;
"""
PEOPLE = "id,name,vip\n1,Ada,true\n2,,false\n3,Bob,true\n"
ORDERS = """\
{"person": 1, "amount": 50}
{"person": 1.0, "amount": 5}
{"person": [3, 2], "amount": 11.5}
{"person": 2, "amount": 90}
"""
EXPECTED = [
    (1, "people", "poor"),
    (1, "people", "everything"),
    (3, "orders", "joined"),
    (5, "orders", "joined"),
]


@pytest.fixture(autouse=True)
def _files(tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    tocsin.file("triggers.sql", TRIGGERS)
    tocsin.file("people.csv", PEOPLE)
    tocsin.file("orders.jsonl", ORDERS)
    monkeypatch.chdir(tocsin.folder)


def match(tocsin: Command, *arguments: str, people: str = "people.csv", orders: str = "orders.jsonl") -> Any:
    tables = ["--events", f"people={people}", "--events", f"orders={orders}"]
    return tocsin("match", "triggers.sql", *tables, *arguments)


def keys(rows: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    return [(int(row["event"]), row["table"], row["rule"]) for row in rows]


def test_alerts_on_standard_output(tocsin: Command) -> None:
    ran = match(tocsin)
    assert ran.code == 0
    assert keys(ran.rows) == EXPECTED
    assert ran.rows[2] == {
        "event": 3,
        "table": "orders",
        "rule": "joined",
        "score": None,
        "text": "Ada: 50",
        "rows": {"o": {"person": 1, "amount": 50}, "p": {"id": 1, "name": "Ada", "vip": True}},
    }
    assert "7 rows, 4 alerts, 0 rejects in " in ran.err
    assert "leave out --spark" in match(tocsin, "--spark").err


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_output_files(tocsin: Command, suffix: str) -> None:
    ran = match(tocsin, "--out", f"out{suffix}", "--no-spark")
    assert (ran.code, ran.out) == (0, "")
    rows = _read(tocsin.folder / f"out{suffix}")
    assert keys(rows) == EXPECTED
    assert list(rows[0]) == ["event", "table", "rule", "score", "text", "rows"]
    assert [row["text"] or None for row in rows] == [None, None, "Ada: 50", "Bob: 11.5"]
    held = rows[3]["rows"]
    assert (json.loads(held) if isinstance(held, str) else held)["o"] == {"person": [3, 2], "amount": 11.5}
    assert tocsin.files() == sorted(["triggers.sql", "people.csv", "orders.jsonl", f"out{suffix}"])


def _read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            return list(csv.DictReader(stream))
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_format_of_events_gives_the_same_alerts(tocsin: Command) -> None:
    tocsin.file("people.csv.gz", gzip.compress(PEOPLE.encode()))
    people = pa.table({"id": [1, 2, 3], "name": ["Ada", None, "Bob"], "vip": [True, False, True]})
    pq.write_table(people, tocsin.folder / "people.parquet")
    tocsin.file("orders/a.jsonl", "".join(ORDERS.splitlines(keepends=True)[:1]))
    tocsin.file("orders/b.jsonl", "".join(ORDERS.splitlines(keepends=True)[1:]))
    expected = match(tocsin).out
    for other in ("people.csv.gz", "people.parquet"):
        assert match(tocsin, people=other, orders="orders").out == expected


def test_the_order_of_tables_is_that_of_the_options(tocsin: Command) -> None:
    tables = ["--events", "orders=orders.jsonl", "--events", "people=people.csv"]
    ran = tocsin("match", "triggers.sql", *tables, "--no-spark")
    assert keys(ran.rows) == [(5, "people", "poor"), (5, "people", "everything")]


def test_bad_records_stop_it_or_are_left_out(tocsin: Command) -> None:
    tocsin.file("orders.jsonl", '{"person": 1, "amount": 50}\nnonsense\n{"person": 3, "amount": 20}\n')
    ran = match(tocsin, "--out", "out.jsonl")
    assert ran.code == 1
    assert "orders.jsonl:2: event 4: not valid JSON" in ran.err
    assert not (tocsin.folder / "out.jsonl").exists()
    ran = match(tocsin, "--out", "out.jsonl", "--skip-bad")
    assert ran.code == 0
    assert keys(_read(tocsin.folder / "out.jsonl"))[2:] == [(3, "orders", "joined"), (5, "orders", "joined")]
    (reject,) = _read(tocsin.folder / "out.rejects.jsonl")
    assert (reject["file"], reject["event"], reject["text"]) == ("orders.jsonl", 4, "nonsense")
    assert "1 record is not a valid row and was left out" in ran.err


def test_bad_rules_stop_it_or_are_left_out(tocsin: Command) -> None:
    tocsin.file("triggers.sql", TRIGGERS + "create trigger bad from orders as o, people as p when o.x = q.y;")
    tocsin.file("more.csv", "id,when\nworse,a =\n")
    tables = ["--events", "people=people.csv", "--events", "orders=orders.jsonl"]
    ran = tocsin("match", "triggers.sql", "more.csv", *tables)
    assert ran.code == 1
    assert "there is no alias 'q'" in ran.err
    assert "(rule worse)" in ran.err
    ran = tocsin("match", "triggers.sql", "more.csv", *tables, "--skip-bad", "--rejects", "bad.jsonl")
    assert (ran.code, keys(ran.rows)) == (0, EXPECTED)
    assert [reject["rule"] for reject in _read(tocsin.folder / "bad.jsonl")] == ["bad", "worse"]


def test_tables_that_do_not_fit_are_warned_of(tocsin: Command) -> None:
    ran = tocsin("match", "triggers.sql", "--events", "person=people.csv", "--no-spark")
    assert "triggers watch tables that get no rows: orders, people" in ran.err
    assert "no trigger watches" not in ran.err  # a rule without a table watches any
    tocsin.file("triggers.sql", "create trigger poor from people when name is null;")
    ran = tocsin("match", "triggers.sql", "--events", "person=people.csv", "--no-spark")
    assert "no trigger watches person" in ran.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--events", "people=people.csv", "--keep", "id"], "an alert has all its rows"),
        (["--events", "people=people.csv", "--engine", "scan"], "--engine is for events of one kind"),
        (
            ["--events", "people=people.csv", "--events", "orders.jsonl"],
            "each table as TABLE=FILE",
        ),
    ],
)
def test_bad_usage(tocsin: Command, arguments: list[str], reason: str) -> None:
    ran = tocsin("match", "triggers.sql", *arguments)
    assert ran.code == 2
    assert reason in ran.err.replace("\n", " ")


def test_a_saved_index_has_no_tables(tocsin: Command) -> None:
    tocsin.file("one.csv", "id,when\nr,a = 1\n")
    assert tocsin("build", "one.csv", "-o", "one.tocsin").code == 0
    ran = tocsin("match", "one.tocsin", "--events", "people=people.csv")
    assert (ran.code, "one.tocsin is a saved index" in ran.err) == (2, True)


def test_a_file_with_an_equals_sign_is_a_file(tocsin: Command) -> None:
    tocsin.file("day=7.jsonl", '{"id": 2}\n')
    tocsin.file("one.csv", "id,when\nr,id = 2\n")
    ran = tocsin("match", "one.csv", "--events", "day=7.jsonl", "--no-spark")
    assert ran.rows == [{"event": 0, "rule": "r", "score": None}]


def test_events_of_one_kind_are_not_for_several_tables(tocsin: Command) -> None:
    ran = tocsin("match", "triggers.sql", "--events", "orders.jsonl", "--no-spark")
    assert ran.code == 1
    assert "(rule joined)" in ran.err
    assert "--events TABLE=FILE" in ran.err


def test_check_and_explain(tocsin: Command) -> None:
    ran = tocsin("check", "triggers.sql")
    assert (ran.code, ran.out) == (0, "")
    assert "3 rules OK" in ran.err
    ran = tocsin("check", "triggers.sql", "--schema", "people.csv")
    assert (ran.code, ran.out) == (0, "")
    ran = tocsin("explain", "triggers.sql", "--rule", "joined", "--event", "{}")
    assert (ran.code, "over several tables" in ran.err) == (1, True)
    tocsin.file(
        "odd.sql",
        "create trigger odd from s, t after insert to s\nwhen s.k = t.k and contains(s.x, 'a', 5);",
    )
    ran = tocsin("check", "odd.sql")
    assert "odd.sql:2:20: no text reaches the threshold 5" in ran.err
