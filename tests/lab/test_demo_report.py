"""What the demonstration shows fits the terminal, and a difference is shouted."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tocsin import Rule, TocsinError, build
from tocsin_lab import demo, demo_report, demo_story
from tocsin_lab.exchange import campaigns, visits
from tocsin_lab.loop_comparison import loop_time
from tocsin_lab.sample_check import Verdict

LONG = f"user.country in ('DE', 'FR') and site.domain like '%[bold]%' and ({' or '.join(['n = 1'] * 60)})"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_everything_fits_the_width(width: int):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    row = {"rule": "c000001", "matches": 123_456, "name": "Alder Bikes: come back", "when": LONG}
    demo_report.most_matched(console, [row], 200_000)
    told = build({"c000001": LONG}).explain("c000001", {"user": {"country": "DE"}, "n": 1})
    demo_report.explanation(console, "A match", 7, told, Rule("c000001", LONG, {"name": "Alder Bikes"}))
    demo_report.throughput(console, 100_000, 200_000, 7_000_000, 12.5, 2)
    demo_report.in_a_word(console, 100_000, 200_000, 2.34, 12.5, 2, Path("build/demo/backtest.html"))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "2.3 hours" in shown
    assert max(map(len, shown.splitlines())) <= width
    assert "61.7%" in shown
    assert "1,600,000,000" in shown
    assert "does not match visit 7" in shown
    if width == 200:
        assert "'%[bold]%'" in shown  # a rule's text is never taken for markup


def test_the_verdict():
    assert "8,000 checks, no difference" in demo_report.verdict_line(Verdict(8_000, 31, ()), 2)
    bad = Verdict(8_000, 31, tuple((visit, "c1") for visit in range(9)))
    assert "9 DIFFERENCES" in demo_report.verdict_line(bad, 2)


def test_the_commands_to_try_are_not_broken_into_lines():
    console = Console(file=io.StringIO(), width=40, force_terminal=False)
    demo_report.what_next(console, Path("build/demo"), "c000001")
    assert isinstance(console.file, io.StringIO)
    commands = [line.split() for line in console.file.getvalue().splitlines() if "tocsin" in line]
    assert [command[1] for command in commands] == ["explain", "match"]
    assert "@build/demo/visit.json" in commands[0]


def test_it_says_what_is_coming_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def run(*given: object) -> None:
        assert "90 campaigns, each a rule, and 8 visits" in capsys.readouterr().out
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_story, "run", run)
    assert demo.main(["--campaigns", "90", "--visits", "8"]) == 130


@pytest.mark.parametrize("terminal", [False, True])
def test_a_step_is_shown_before_its_work(terminal: bool):
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal)
    assert isinstance(console.file, io.StringIO)
    with demo_story.Story(console).step("Look up") as details:
        assert terminal or "1. Look up" in console.file.getvalue()
        details.append("done")
    assert "1. Look up" in console.file.getvalue()
    assert console.file.getvalue().endswith("   done\n")


def test_the_loop_is_measured_on_what_was_found():
    rules, some = campaigns(200), dict(enumerate(visits(5).to_pylist()))
    conditions = dict(zip(rules["id"].to_pylist(), rules["when"].to_pylist(), strict=True))
    index = build(rules)
    found = {number: {match.rule for match in index.match(visit)} for number, visit in some.items()}
    looped = loop_time(conditions, some, found)
    assert (looped.campaigns, looped.visits) == (200, 5)
    assert looped.hours(7_200) == pytest.approx(2 * looped.pair)
    found[3] ^= {rules["id"][0].as_py()}
    with pytest.raises(TocsinError, match="other campaigns for visit 3"):
        loop_time(conditions, some, found)
