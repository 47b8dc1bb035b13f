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
   1.0828 to  1.1242
   1.1242 to  1.1656
   1.1656 to  1.2071
   1.2071 to  1.2485
   1.2485 to  1.2899
   1.2899 to  1.3313
   1.3313 to  1.3727
   1.3727 to  1.4142  ######################################## 1

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


def test_how_many_events_tell_the_row_before_a_change(tocsin: Command) -> None:
    tocsin.file("r.sql", "create trigger r after update when old.n < n; create trigger s when n = 1;")
    events = ['{"n": 1, "old": {"n": 0}}', '{"n": 2}', '{"n": 3, "old": null}']
    tocsin.file("some.jsonl", "\n".join(events))
    tocsin.file("none.jsonl", "\n".join(events[1:]))
    ran = tocsin("backtest", "r.sql", "--rule", "r", "--events", "some.jsonl")
    assert ran.out == 'r: 1 event, 33.3% of all\n  event 0: {"n": 1, "old": {"n": 0}}\n'
    assert "the row before the change, old, is missing in 2 events, as of inserts" in ran.err
    ran = tocsin("backtest", "r.sql", "--rule", "r", "--events", "none.jsonl")
    assert "warning: no event has an object old, the row before the change" in ran.err
    assert "old.n < n never holds in 2 events: none has an object old" in ran.out
    assert "old" not in tocsin("backtest", "r.sql", "--rule", "s", "--events", "none.jsonl").err


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
        (["--rule", "plain", "--threshold", "1"], 2, "it has no contains"),
        (["--rule", "plain", "--pick", "1"], 2, "it has no contains"),
        (["--rule", "prizes", "--pick", "2"], 2, "event 2 does not satisfy the rule 'prizes'"),
        (["--rule", "prizes", "--pick", "1", "--threshold", "1"], 2, "--pick and --threshold each"),
        (["--pick", "1"], 2, "--pick is about one rule"),
        (["--rule", "prizes", "--out", "x"], 2, "--out is of the overview"),
        (["--compare", "rules.sql", "--pick", "1"], 2, "--pick does not go with --compare"),
        (["--compare", "rules.sql", "--html", "x.html"], 2, "--html does not go with --compare"),
        (["--rule", "none", "--compare", "rules.sql"], 1, "there is no rule 'none'"),
        (
            ["--rule", "prizes", "--events", "t=old.jsonl"],
            2,
            "--events names files, or the",
        ),
        (["--rule", "prizes", "--html", "rules.sql"], 2, "one of the files to be read"),
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
    assert ran.out.splitlines()[-7:] == [
        "  0                1",
        "  1                1",
        "  1.2              0  now",
        "",
        "why it never matched with its threshold",
        "  words that never occur in 1 text: trophy",
        "  the best score its contains reached is 1.0000, in event 0",
    ]
    ran = tocsin(*backtest, "--rule", "prizes", "--time", "kind")
    assert "warning: no event has a time in kind" in ran.err


def test_an_event_is_picked_and_its_score_written(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest, "--rule", "prizes", "--pick", "0")
    assert ran.code == 0
    assert ran.err.endswith("rules.sql: the contains of prizes has the threshold 1.414213562373095 now\n")
    assert "  1.414213562373095        1    0.25  yours\n" in ran.out
    assert "'golf, trophy', 1.414213562373095);" in (tocsin.folder / "rules.sql").read_text()
    assert "  1.414213562373095        1    0.25  now\n" in tocsin(*backtest, "--rule", "prizes").out


def test_a_printed_score_is_a_threshold_that_takes_in_its_event(tocsin: Command, backtest: list[str]) -> None:
    out = tocsin(*backtest, "--rule", "prizes").out
    score = out.splitlines()[1].split()[0]
    ran = tocsin(*backtest, "--rule", "prizes", "--threshold", score)
    assert f"  {score}           1    0.25  yours\n" in ran.out


def test_a_rule_without_contains_shows_its_hits(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest, "--rule", "plain", "--top", "1")
    assert ran.out.splitlines() == [
        "plain: 2 events, 66.7% of all, 0.50 a day",
        '  2026-01-01  event 0: {"at": "2026-01-01T10:00:00Z", "kind": "a", "body": "a golf trophy"}',
        "  ... and 1 more",
    ]


def test_why_a_rule_never_matched(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("rules.sql", "create trigger r when kind = 'c' and contains(body, 'golf & gulf');")
    assert tocsin(*backtest, "--rule", "r").out == (
        "r: 0 events by score, without a threshold\n\nwhy it never matched\n"
        "  kind = 'c' never holds: there are only 'a', 'b'\n"
        "  words that never occur in 3 texts: gulf\n"
        "  the best score reached is 0: the query of its contains holds for no text\n"
        "  event 0 comes nearest, with 1 of 2 words and phrases\n"
    )


def test_the_page_of_one_rule(tocsin: Command, backtest: list[str]) -> None:
    ran = tocsin(*backtest, "--rule", "prizes", "--html", "prizes.html")
    assert ran.err.endswith("prizes.html written\n")
    page = (tocsin.folder / "prizes.html").read_text()
    assert "<td class='number' data-value='1.414213562373095'>1.4142</td>" in page
    assert "a <mark>golf</mark> <mark>trophy</mark>" in page


TRIGGER = """\
create trigger r from video as v, comment as c after insert to c
  when c.vid = v.vid and contains(c.body, 'golf, trophy', 0.5);
"""


@pytest.fixture
def tables(tocsin: Command) -> list[str]:
    tocsin.file("join.sql", TRIGGER)
    tocsin.file("video.csv", "vid\n1\n2\n")
    tocsin.file("old.jsonl", '{"vid": 2, "body": "golf trophy"}\n{"vid": 2, "body": "golf"}\n')
    return ["backtest", "join.sql", "--events", "video=video.csv", "--events", "comment=old.jsonl"]


def test_a_trigger_over_several_tables(tocsin: Command, tables: list[str]) -> None:
    ran = tocsin(*tables, "--rule", "r", "--pick", "0", "--time", "body")
    assert ran.out.splitlines()[:3] == [
        "r: 2 combinations of rows by score, without a threshold",
        "  1.4142  v 1, c 0: [golf] [trophy]",
        "  1.0000  v 1, c 1: [golf]",
    ]
    assert ran.err.startswith("2 rows of v, 2 rows of c\n")
    assert "'golf, trophy', 1.414213562373095);" in (tocsin.folder / "join.sql").read_text()
    tocsin.file("before.sql", TRIGGER)
    ran = tocsin(*tables, "--rule", "r", "--compare", "before.sql")
    assert ran.out.startswith("0 new hits and 1 lost of 1 rule; 1 rule with either\n")
    ran = tocsin(*tables)
    assert (ran.code, ran.out) == (2, "")
    assert "--events TABLE=FILE is for one rule" in ran.err
    ran = tocsin("backtest", "join.sql", "--events", "old.jsonl", "--rule", "r")
    assert (ran.code, ran.out) == (2, "")
    assert "give the rows of each (video, comment)" in ran.err


COMPARED = """\
3 new hits and 2 lost of 5 rules; 3 rules with either

rule     other     hits      new     lost   difference in rate
plain        -        2        2        0   +66.67% of events
        new on event 0, 1
gone         2        -        0        2   -66.67% of events
        lost on event 0, 1
... and 1 more rule
"""


def test_beside_other_rules(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("before.sql", RULES.replace("1.2", "1.5").replace("plain", "gone"))
    tocsin.file("rules.sql", RULES.replace("create trigger broken when contains(body, '!a');", ""))
    tocsin.file("before.sql", (tocsin.folder / "before.sql").read_text().replace("!a", "zebra"))
    ran = tocsin(*backtest, "--compare", "before.sql", "--top", "2")
    assert ran == (
        0,
        COMPARED,
        "3 events\n",
    )
    assert tocsin("build", "rules.sql", "-o", "rules.tocsin").code == 0
    same = tocsin("backtest", "rules.tocsin", *backtest[2:], "--compare", "rules.sql")
    assert same.out == "0 new hits and 0 lost of 3 rules; 0 rules with either\n"


def test_a_disabled_rule_is_tried_and_said_to_be_disabled(tocsin: Command, backtest: list[str]) -> None:
    tocsin.file("rules.sql", RULES.replace("plain when", "plain with (enabled = false) when"))
    ran = tocsin(*backtest, "--rule", "plain")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "plain: 2 events, 66.7% of all, 0.50 a day")
    assert "warning: plain is disabled (enabled = false)" in ran.err
