"""tocsin backtest."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.cli.running import Command

RULES = """\
create trigger prizes when kind = 'a' and contains(body, 'golf, trophy', 1.2); -- ours
create trigger loose when kind = 'b' or contains(body, 'golf');
create trigger plain when kind = 'a';
create trigger broken when contains(body, '!a');
"""
EVENTS = [
    {"at": "2026-01-01T10:00:00Z", "kind": "a", "body": "a golf trophy"},
    {"at": "2026-01-04T10:00:00Z", "kind": "a", "body": "golf\nclub"},
    {"at": "2026-01-04T11:00:00Z", "kind": "b", "body": "[nothing]"},
]
SHOWN = """\
prizes: 2 events by score, without a threshold
  1.4142  2026-01-01  event 0: a [golf] [trophy]
  1.0000  2026-01-04  event 1: [golf] club

scores
   1.0000 to  1.0414  ######################################## 1
   1.0414 to  1.0828
   1.0828 to  1.1243
   1.1243 to  1.1657
   1.1657 to  1.2071
   1.2071 to  1.2485
   1.2485 to  1.2899
   1.2899 to  1.3314
   1.3314 to  1.3728
   1.3728 to  1.4142  ######################################## 1

threshold     alerts   a day
  0                2    0.50
  1                2    0.50
  1.2              1    0.25  now
  1.414            1    0.25
"""


@pytest.fixture
def backtest(tocsin: Command) -> list[str]:
    tocsin.file("rules.sql", RULES)
    tocsin.file("old.jsonl", "\n".join(map(json.dumps, EVENTS)))
    return ["backtest", "rules.sql", "--events", "old.jsonl"]


def test_a_ranking_and_what_each_threshold_gives(tocsin: Command, backtest: list[str]) -> None:
    assert tocsin(*backtest, "--rule", "prizes") == (0, SHOWN, "3 events in 4 days by at\n")


def test_the_first_only(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest, "--rule", "prizes", "--top", "1")
    assert ran.out.splitlines()[1:3] == [SHOWN.splitlines()[1], "  ... and 1 more"]


def test_alerts_with_every_threshold_are_told(tocsin: Command, backtest: list[str]) -> None:
    out = tocsin(*backtest, "--rule", "loose").out
    assert "  0.0000  2026-01-04  event 2: [nothing]\n" in out
    assert "1 of these events satisfies the rule without its contains" in out


def test_a_threshold_is_written_where_it_belongs(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest, "--rule", "prizes", "--threshold", "1.3")
    assert "  1.3              1    0.25  yours\n" in ran.out
    assert (tocsin.folder / "rules.sql").read_text() == RULES
    ran = tocsin(*backtest, "--rule", "prizes", "--threshold", "1.3", "--write")
    assert ran.code == 0
    assert ran.err.splitlines()[-1] == "rules.sql: the contains of prizes has the threshold 1.3 now"
    assert (tocsin.folder / "rules.sql").read_text() == RULES.replace("1.2", "1.3")
    ran = tocsin(*backtest, "--rule", "loose", "--threshold", "5", "--write")
    assert "warning: no text reaches the threshold 5" in ran.err
    assert "contains(body, 'golf', 5);" in (tocsin.folder / "rules.sql").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["--rule", "none"], 1, "there is no rule 'none'"),
        (["--rule", "plain"], 2, "has no contains"),
        (["--rule", "broken"], 1, "rules.sql:4:44: "),
        (["--rule", "prizes", "--write"], 2, "--write needs"),
        (["--rule", "prizes", "--threshold", "-1"], 2, "from 0 on"),
        (["--rule", "prizes", "--threshold", "nan"], 2, "from 0 on"),
        (["--rule", "prizes", "--top", "-1"], 2, "--top is 0 or more"),
        (["--rule", "prizes", "--time", "a..b"], 2, "a..b"),
    ],
)
def test_what_makes_no_sense(
    tocsin: Command, backtest: list[str], arguments: list[str], code: int, part: str
) -> None:
    ran = tocsin(*backtest, *arguments)
    assert ran.code == code
    assert part in ran.err
    assert ran.out == ""


def test_rules_that_are_no_text_are_not_written(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("rules.jsonl.gz", gzip.compress(b'{"id": "r", "when": "contains(body, \'golf\')"}\n'))
    ran = tocsin("backtest", "rules.jsonl.gz", *backtest[2:], "--rule", "r", "--threshold", "1", "--write")
    assert ran.code == 2
    assert "not packed ones" in ran.err


def test_without_a_time(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("old.jsonl", '{"kind": "a", "body": "golf"}\nnot json\n')
    ran = tocsin(*backtest, "--rule", "prizes")
    assert ran.err.splitlines() == [
        "1 event",
        "warning: records that are not events, and were left out: 1",
        "warning: no field tells the time of an event: name one with --time to see alerts a day",
    ]
    assert ran.out.splitlines()[-3:] == [
        "  0                1",
        "  1                1",
        "  1.2              0  now",
    ]
    ran = tocsin(*backtest, "--rule", "prizes", "--time", "kind")
    assert "warning: no event has a time in kind" in ran.err
