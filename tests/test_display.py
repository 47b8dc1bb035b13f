"""What objects show of themselves: a line, a text, and HTML that is small and harmless."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from tocsin.display import Display, Grid

HOSTILE = "<script>alert('x')</script>\u202e\x1b[31m&amp;"
LARGEST = 40_000


class _Checker(HTMLParser):
    """The text of some HTML, every tag of which is known and closed."""

    ALLOWED = frozenset({"div", "style", "b", "p", "table", "thead", "tbody", "tr", "th", "td", "bdi"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ALLOWED
        assert {name for name, _ in attrs} <= {"class", "style", "colspan"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def shown(value: Any) -> str:
    """The text of its HTML, which is as it should be."""
    html = value._repr_html_()
    assert len(html) < LARGEST
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]|https?:|url\\(", html)
    return " ".join(_Checker(html).text)


def line(value: Any) -> str:
    """Its repr, which is one bounded line."""
    assert "\n" not in repr(value)
    assert len(repr(value)) < 400
    return repr(value)


@pytest.fixture(scope="module")
def overview() -> tocsin.Overview:
    rules = [("often", "x >= 0"), ("seldom", "x = 3"), (HOSTILE, "x = 99"), ("text", "contains(s, 'golf')")]
    return tocsin.backtest(rules, [{"x": n % 10, "s": "golf"} for n in range(50)])


def test_rules_and_an_index() -> None:
    rows = [{"id": f"{HOSTILE}{n}", "when": f"x = {n}", "note": HOSTILE} for n in range(5_000)]
    rules = tocsin.Rules.of(rows)
    assert line(rules) == "<tocsin.Rules: 5,000 rules>"
    index = tocsin.build(rules)
    assert line(index) == str(index) == "<tocsin.Index of 5,000 rules>"
    for value in (rules, index):
        assert "<script>alert('x')</script>\\u202e\\x1b[31m&amp;0" in shown(value)
        assert "... 4,990 more" in shown(value)
    assert shown(index).endswith("fields that rules name x")
    assert shown(tocsin.build([])) == "tocsin.Index of 0 rules"
    assert (
        line(index.stats())
        == f"<tocsin.Statistics: 5,000 rules, {index.stats().nodes:,} nodes, engine atree>"
    )
    assert "5,000 (5,000 distinct conditions)" in shown(index.stats())


def test_rules_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,when\na,x = 1\na,x = 2\n")
    (tmp_path / "b.csv").write_text("id,when\nb,x = 1\n")
    rules = tocsin.read_rules(tmp_path, skip_bad=True)
    assert re.fullmatch(r"<tocsin.Rules: 2 rules from .* and 1 more, 1 error>", line(rules))


def test_matches_and_counts() -> None:
    index = tocsin.build([(f"r{n}", f"x >= {n}") for n in range(100)])
    matches = index.match({"x": 49})
    assert line(matches).endswith("... 50 in all]")
    assert shown(matches).startswith("50 matches rule r0 r1 ")
    assert shown(matches).endswith("... 40 more")
    assert shown(index.match({})) == "0 matches"
    scored = tocsin.build([("a", "contains(s, 'golf')"), ("b", "x = 1")]).match({"s": "golf", "x": 1})
    assert shown(scored) == "2 matches rule score a 1 b"
    counts = index.match_table(pa.table({"x": [0, 49, None]}), count=True)
    assert line(counts) == "<tocsin.Counts: 51 matches of 3 events and 100 rules>"
    assert shown(counts).endswith("events 3 1 50 rules 100 50 2")
    assert line(index.match_table(pa.table({"x": pa.array([], pa.int64())}), count=True))


def test_explanations() -> None:
    index = tocsin.build(
        [(HOSTILE, "x > 1 and not (s = 'a' or contains(t, 'golf'))"), ("wide", " or ".join(["x = 1"] * 500))]
    )
    found = index.explain(HOSTILE, {"x": 2, "s": HOSTILE, "t": "tennis"})
    assert re.fullmatch(r"<tocsin.Explanation: .* matches, score 0; \d parts>", line(found))
    assert "true   x > 1 x is 2 " in shown(found)
    assert "unknown" in shown(index.explain(HOSTILE, {}))
    assert "more" in shown(index.explain("wide", {"x": 2}))


def test_an_overview(overview: tocsin.Overview) -> None:
    assert line(overview) == "<tocsin.Overview: 4 rules, 50 events, 105 matches>"
    assert "often 50 100.00% x >= 0 text 50 100.00% contains(s, 'golf') seldom 5 10.00% x = 3" in shown(
        overview
    )
    assert re.search(r"^seldom +5  10.00% +x = 3$", str(overview), re.MULTILINE)
    assert "\x1b" not in str(overview)
    assert "never matched" in str(overview)


def test_test_runs_and_comparisons() -> None:
    events = [{"x": n, "s": f"golf {HOSTILE}" if n % 2 else "none"} for n in range(100)]
    run = tocsin.backtest([("r", "contains(s, 'golf')")], events, rule="r")
    assert line(run) == "<tocsin.TestRun: r, 50 hits in 100 events>"
    assert "best hits" in str(run)
    assert "... 40 more" in shown(run)
    never = tocsin.backtest([("r", "contains(s, 'nothing')")], events, rule="r")
    assert "words that never occur in 100 texts: nothing" in str(never)
    assert "words that never occur" in shown(never)
    plain = tocsin.backtest([("r", "x = 1")], events, rule="r")
    assert "what a threshold gives" not in shown(plain)
    compared = tocsin.backtest([("r", "x < 9")], events, compare=[("r", "x < 2"), ("s", "x = 0")])
    assert line(compared) == "<tocsin.Comparison: 2 rules, 100 events, 7 new and 1 lost hits>"
    assert "r 2 9 7 0 s 1 0 1" in shown(compared)
    assert re.search(r"^r +2 +9 +7 +0$", str(compared), re.MULTILINE)


def test_programs_watches_dictionaries_and_statistics(tmp_path: Path) -> None:
    program = tocsin.Program.parse(".decl a(x: number)\n.decl p(x: number)\np(X) :- a(X).\n")
    assert line(program) == "<tocsin.Program: 2 relations, 1 rule>"
    assert "p(X) :- a(X)." in shown(program)
    engine = program.start(facts={"a": [(1,), (2,)]})
    assert shown(engine).endswith("a(x) 2 p(x) by rules 2")
    watch = tocsin.watch([("r", "x = 1")])
    watch.insert(HOSTILE, {"x": 1})
    assert shown(watch).endswith("&amp; 1")
    words = tocsin.Dictionary.count(["golf", "golf club", *(f"word{n}" for n in range(20))])
    assert "golf 2" in shown(words)
    assert "... 12 more" in shown(words)
    history = tocsin.statistics([{"x": 1, "s": "golf"}], tmp_path / "history")
    assert shown(history).endswith("s words counted x")


def test_a_display_as_text() -> None:
    grid = Grid.of(("name", "value"), [("a\nb", 1), ("c" * 80, 2.5), (HOSTILE, None)], 5, 3)
    assert Display("title", [("", grid), ("empty", Grid(("none",), []))]).text().splitlines() == [
        "title",
        "",
        f"name{' ' * 56}  value",
        f"a b{' ' * 57}      1",
        f"{'c' * 57}...    2.5",
        "<script>alert('x')</script>\\u202e\\x1b[31m&amp;",
        "... 2 more",
    ]
