"""tocsin backtest without --rule: all rules."""

from __future__ import annotations

import datetime as dt
import json

import pyarrow.parquet as pq
import pytest
from tests.cli.running import Command

import tocsin as library

RULES = """\
create trigger prizes when kind = 'a' and contains(body, 'golf, trophy');
create trigger every when kind is not null;
create trigger wrong when kind = 'A' and country = 'x';
create trigger "odd\x1b[31m id" when kind = 'a' and body = 'b' and body is not null;
"""
EVENTS = [
    {"at": "2026-01-01T10:00:00Z", "kind": "a", "body": "a golf trophy"},
    {"at": "2026-01-04T10:00:00Z", "kind": "a", "body": "golf club"},
    {"at": "2026-01-04T11:00:00Z", "kind": "b", "body": "b"},
]
SHOWN = """\
3 of 3 events (100.0%) satisfy a rule; 2 of 4 rules matched, 1 of them every event

the noisiest rules
 rule    hits   share  over time                  scores
 every      3  100.0%  ▄                       █
 prizes     2   66.7%  █                       █  1 .. 1 .. 1.41

rules that never matched: 2, of which 1 could not
 rule            why
 wrong           kind = 'A' never holds: there is 'a'; no event has the field country
 odd\\x1b[31m id  each part could hold, but in no event all that it takes did
"""


@pytest.fixture
def backtest(tocsin: Command) -> list[str]:
    tocsin.file("rules.sql", RULES)
    tocsin.file("old.jsonl", "\n".join(map(json.dumps, EVENTS)))
    return ["backtest", "rules.sql", "--events", "old.jsonl", "--no-spark"]


def test_what_is_shown(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest)
    assert ran.code == 0
    assert ran.out == SHOWN
    assert ran.err.startswith("3 events, 4 rules, 5 matches in ")


def test_tables_and_a_page(tocsin: Command, backtest: list[str]) -> None:
    options = [
        "--out",
        "report",
        "--html",
        "report.html",
        "--bucket",
        "1 day",
        "--samples",
        "1",
        "--keep",
        "body",
    ]
    ran = tocsin(*backtest, *options, "--top", "1")
    assert ran.code == 0, ran.err
    assert "report written\n" in ran.err
    rows = pq.read_table(tocsin.folder / "report" / "rules").to_pylist()
    assert {row["rule"]: row["hits"] for row in rows if row["hits"]} == {"prizes": 2, "every": 3}
    assert len(pq.read_table(tocsin.folder / "report" / "times")) == 2
    samples = pq.read_table(tocsin.folder / "report" / "samples").to_pylist()
    assert [set(json.loads(row["json"])) for row in samples] == [{"body"}, {"body"}]
    assert "</html>" in (tocsin.folder / "report.html").read_text()
    again = tocsin(*backtest, "--out", "report")
    assert again.code == 1
    assert "a new folder" in again.err


def test_a_saved_index_and_records_that_are_no_events(tocsin: Command, backtest: list[str]) -> None:
    library.build([("r", "kind = 'a'")]).save(tocsin.folder / "rules.tocsin")
    tocsin.file("old.jsonl", '{"kind": "a"}\nno event\n')
    ran = tocsin("backtest", "rules.tocsin", *backtest[2:])
    assert ran.code == 0
    assert "1 of 1 event (100.0%) satisfy a rule" in ran.out
    assert "warning: records that are not events, and were left out: 1\n" in ran.err
    assert "warning: no field tells the time of an event" in ran.err
    assert tocsin("backtest", "rules.tocsin", *backtest[2:], "--stop-words", "x").code == 2
    assert (
        "no event has a time in kind"
        in tocsin("backtest", "rules.tocsin", *backtest[2:], "--time", "kind").err
    )


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["--threshold", "1"], 2, "name it with --rule"),
        (["--write"], 2, "name it with --rule"),
        (["--rule", "prizes"], 2, "--no-spark is of the overview"),
        (["--samples", "-1"], 2, "samples is from 0"),
        (["--bucket", "soon"], 2, "is not a length of a bucket"),
        (["--top", "-1"], 2, "--top is 0 or more"),
        (["--top", "2001"], 2, "top is from 0 to 2,000"),
        (["--html", "old.jsonl"], 2, "old.jsonl"),
        (["--html", "report", "--out", "report"], 2, "takes that place"),
        (["--time", "a..b"], 2, "a..b"),
    ],
)
def test_what_makes_no_sense(
    tocsin: Command, backtest: list[str], arguments: list[str], code: int, part: str
) -> None:
    ran = tocsin(*backtest, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert part in ran.err


def test_tables_do_not_go_among_the_events(tocsin: Command, backtest: list[str]) -> None:
    (tocsin.folder / "history").mkdir()
    (tocsin.folder / "old.jsonl").rename(tocsin.folder / "history" / "old.jsonl")
    ran = tocsin(*backtest[:3], "history", "--no-spark", "--out", "history/report")
    assert ran.code == 2
    assert "where events are read from" in ran.err


@pytest.mark.parametrize("days", [30, 45, 59])
def test_a_level_rule_looks_level(tocsin: Command, backtest: list[str], days: int) -> None:
    first = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    events = [{"at": (first + dt.timedelta(day)).isoformat(), "kind": "b"} for day in range(days)]
    tocsin.file("old.jsonl", "\n".join(map(json.dumps, events)))
    ran = tocsin(*backtest, "--bucket", "1 day", "--top", "1")
    drawn = next(line for line in ran.out.splitlines() if line.startswith(" every")).split()[-1]
    assert len(drawn) == {30: 30, 45: 23, 59: 30}[days]
    assert set(drawn[:-1]) == {"█"}


def test_bad_rules_are_named(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("rules.sql", RULES + "create trigger broken when contains(body, '!a');\n")
    ran = tocsin(*backtest)
    assert ran.code == 1
    assert "rules.sql:5:44: " in ran.err
