"""tocsin explain."""

from __future__ import annotations

import pytest
from tests.cli.running import RULES, Command


@pytest.fixture(params=["rules.csv", "rules.tocsin"])
def rules(tocsin: Command, request: pytest.FixtureRequest) -> str:
    tocsin.file("rules.csv", RULES)
    assert tocsin("build", "rules.csv", "-o", "rules.tocsin").code == 0
    return str(request.param)


def test_a_match_and_a_miss(tocsin: Command, rules: str) -> None:
    ran = tocsin("explain", rules, "--rule", "young west", "--event", '{"age": 12, "state": "CA"}')
    assert ran.code == 0
    assert ran.out.startswith("young west matches\n")
    assert "age is 12" in ran.out
    ran = tocsin("explain", rules, "--rule", "young west", "--event", '{"age": 12}')
    assert ran.code == 0
    assert ran.out.startswith("young west does not match\n")
    assert "state is missing" in ran.out


def test_an_event_from_a_file_over_several_lines(tocsin: Command, rules: str) -> None:
    tocsin.file("event.json", b'\xef\xbb\xbf{\n  "age": 31\n}\n')
    ran = tocsin("explain", rules, "--rule", "adults", "--event", "@event.json")
    assert ran.out.startswith("adults matches\n")


def test_an_unknown_rule_suggests_the_nearest(tocsin: Command, rules: str) -> None:
    ran = tocsin("explain", rules, "--rule", "adult", "--event", "{}")
    assert ran == (1, "", "tocsin: there is no rule 'adult': did you mean 'adults'?\n")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ('{"age": 3', "at character 10"),
        ("[1]", "not an object but a list"),
        ("", "empty"),
        ("null", "not an object"),
        ('{"a": 1} x', "at character 10"),
        ("[" * 100_000, "nested"),
    ],
)
def test_what_is_no_event(tocsin: Command, event: str, reason: str) -> None:
    tocsin.file("rules.csv", RULES)
    ran = tocsin("explain", "rules.csv", "--rule", "adults", "--event", event)
    assert ran.code == 1
    assert reason in ran.err


def test_a_trigger_with_an_alias(tocsin: Command) -> None:
    tocsin.file("rules.sql", "create trigger old from visits as v when v.age > 65;")
    ran = tocsin("explain", "rules.sql", "--rule", "old", "--event", '{"age": 70}')
    assert ran.out.startswith("old matches\n")


def test_the_mistakes_of_other_rules_do_not_matter_but_its_own_do(tocsin: Command) -> None:
    tocsin.file("rules.sql", "create trigger a when x = 1; create trigger b when x == 1;")
    assert tocsin("explain", "rules.sql", "--rule", "a", "--event", "{}").code == 0
    ran = tocsin("explain", "rules.sql", "--rule", "b", "--event", "{}")
    assert ran.code == 1
    assert "rules.sql:1:" in ran.err


def test_the_nearest_of_very_many(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\n" + "".join(f"rule{number},true\n" for number in range(30_000)))
    ran = tocsin("explain", "rules.csv", "--rule", "rule29999x", "--event", "{}")
    assert ran.err == "tocsin: there is no rule 'rule29999x': did you mean 'rule29999'?\n"


TRIGGER = """\
create trigger r from video as v, comment as c after insert to c
  when c.vid = v.vid and v.kind = 'sports' and not (c.n > v.n) and contains(c.body, 'golf', 0.5)
   and (c.late = true or v.n != c.n);
"""


def test_a_trigger_over_several_tables(tocsin: Command) -> None:
    tocsin.file("join.sql", TRIGGER)
    event = '{"v": {"vid": 1, "kind": "sports", "n": 1}, "c": {"vid": 1, "n": 2, "body": "a golf club"}}'
    ran = tocsin("explain", "join.sql", "--rule", "r", "--event", event)
    assert ran == (
        0,
        """\
r does not match
  false    and
  true       c.vid = v.vid                   c.vid is 1, v.vid is 1
  true       v.kind = 'sports'               v.kind is 'sports'
  false      not c.n > v.n                   c.n is 2, v.n is 1
  true       contains(c.body, 'golf', 0.5)   c.body is 'a golf club'
               score 1.0000 = 1.0000 / 1.0000, at least 0.5
                 found    golf   weight 1.0000 (golf 1/1 x 1)   once: a [golf] club
  true       or
  unknown      c.late = true                 c.late is missing
  true         v.n != c.n                    v.n is 1, c.n is 2
""",
        "",
    )
    matched = event.replace('"n": 2', '"n": 0')
    ran = tocsin("explain", "join.sql", "--rule", "r", "--event", matched)
    assert ran.out.startswith("r matches, score 1\n")
    for odd, reason in (
        (
            '{"v": {}}',
            """there is no row of 'c': a trigger over several tables takes {"v": {...}, "c": {...}}""",
        ),
        ('{"v": 1, "c": {}}', "there is no row of 'v'"),
    ):
        ran = tocsin("explain", "join.sql", "--rule", "r", "--event", odd)
        assert (ran.code, ran.out) == (1, "")
        assert reason in ran.err


def test_the_plan_of_a_trigger_over_several_tables(tocsin: Command) -> None:
    tocsin.file("join.sql", TRIGGER + "create trigger plain when age > 3;\n")
    tocsin.file("video.csv", "vid,kind\n1,sports\n2,news\n3,news\n4,news\n")
    tocsin.file("comment.jsonl", '{"vid": 1, "body": "golf"}\n{"vid": 1, "body": "tennis"}\n')
    ran = tocsin("explain", "join.sql", "--plan")
    assert (
        ran.out
        == """\
r
  c: rows of comment, fired by insert
    way in     contains(body, 'golf', 0.5)   estimated 0.5 %
  v: rows of video
    way in     kind = 'sports'   estimated 25 %
  joined by    c.vid = v.vid
  asked then   not c.n > v.n
  asked then   c.late = true or v.n != c.n
plain
  way in     age > 3   estimated 16.7 %
organised: unique nodes: too few ANDs to gain by more (auto)
"""
    )
    events = ["--analyze", "--events", "video=video.csv", "--events", "comment=comment.jsonl"]
    ran = tocsin("explain", "join.sql", "--plan", "--rule", "r", *events)
    assert "contains(body, 'golf', 0.5)   estimated 0.5 %       true 50 %\n" in ran.out
    assert "kind = 'sports'   estimated 25 %        true 25 %\n" in ran.out
    for arguments, reason in (
        (events, "name one with --rule"),
        (["--rule", "r", "--analyze", "--events", "comment.jsonl"], "give --events TABLE=FILE for each"),
        (["--rule", "r", *events[:3]], "over the table comment, which has no rows here"),
        (["--rule", "x"], "there is no rule 'x'"),
    ):
        ran = tocsin("explain", "join.sql", "--plan", *arguments)
        assert ran.code != 0
        assert reason in ran.err


def test_the_row_before_a_change(tocsin: Command) -> None:
    """As in the rows of an alert, or in the event table's row; with one table it is in the row."""
    moved = "create trigger m from t as o, c as c after update to o when old.c = c.id and o.n > 1;"
    tocsin.file("old.sql", moved + " create trigger w after update when old.n < n and old.s = 'a';")
    for event in (
        '{"o": {"n": 2}, "old": {"c": 1}, "c": {"id": 1}}',
        '{"o": {"n": 2, "old": {"c": 1}}, "c": {"id": 1}}',
    ):
        ran = tocsin("explain", "old.sql", "--rule", "m", "--event", event)
        assert ran.out.splitlines()[0] == "m matches"
        assert "old.c = c.id   old.c is 1, c.id is 1" in ran.out
        assert "o.old" not in ran.out
    ran = tocsin("explain", "old.sql", "--rule", "m", "--event", '{"o": {}, "old": 3, "c": {}}')
    assert (ran.code, ran.out) == (1, "")
    assert "'old' must be the row before the change, not int" in ran.err
    ran = tocsin("explain", "old.sql", "--rule", "w", "--event", '{"n": 2, "old": {"n": 1, "s": "b"}}')
    assert ran.out.splitlines() == [
        "w does not match",
        "  false    and",
        "  true       old.n < n     old.n is 1, n is 2",
        "  false      old.s = 'a'   old.s is 'b'",
    ]


def test_the_plan_of_a_trigger_that_compares_a_row_with_the_one_before(tocsin: Command) -> None:
    tocsin.file(
        "old.sql",
        "create trigger w after update when old.n < n and s = 'a';"
        " create trigger o from t as o after update of n to o when old.n < o.n; create trigger p when n = 1;",
    )
    assert tocsin("explain", "old.sql", "--plan").out.splitlines()[:8] == [
        "w",
        "  row: rows of any table, fired by update",
        "    way in     s = 'a'   estimated 25 %",
        "  asked then   old.n < n",
        "o",
        "  o: rows of t, fired by update of n",
        "    every row",
        "  asked then   old.n < o.n",
    ]
    tocsin.file("moved.sql", "create trigger m from t as o, c as c after update to o when old.c = c.id;")
    assert tocsin("explain", "moved.sql", "--plan").out.splitlines()[-1] == "  joined by    old.c = c.id"


def test_the_plan_of_what_is_disabled(tocsin: Command) -> None:
    triggers = (
        "create trigger m with (enabled = false) from t as o after update to o when old.n < o.n;",
        "create trigger p with (enabled = false) when n = 1;",
        "create trigger q with (enabled = true) when n = 1;",
    )
    tocsin.file("off.sql", " ".join(triggers))
    lines = tocsin("explain", "off.sql", "--plan").out.splitlines()
    off = "disabled (enabled = false), never found"
    assert [line for line in lines if line[:1] in "mpq"] == [f"m: {off}", f"p: {off}", "q"]
