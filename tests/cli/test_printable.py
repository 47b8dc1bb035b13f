"""Names, values and conditions that would take over a terminal, through every command."""

from __future__ import annotations

import csv
import io
import json

import pytest
from tests.cli.running import Command, Ran

NAME = "e\x1b[2J\x9b31m\x7f\u202e\u200b\u2028\nFORGED"
RAW = set(NAME) - set("e[2J31mFORGED\n")


def assert_shown(ran: Ran, *, is_data: bool = False) -> None:
    """Nothing that a terminal obeys, and no line that a name began."""
    for output in (ran.err,) if is_data else (ran.out, ran.err):
        assert not RAW & set(output), output
        assert "\nFORGED" not in output
    assert "\\x1b[2J" in ran.err + ("" if is_data else ran.out)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture
def rules(tocsin: Command) -> str:
    text = io.StringIO()
    field = f'"{NAME}"'
    csv.writer(text).writerows(
        [
            ("id", "when"),
            (NAME, f"{field} = {quoted(NAME)} or n > 1"),
            ("other", f"contains(s, {quoted('golf ' + NAME)}, 0.1) or {field}.x = 1"),
        ]
    )
    tocsin.file("rules.csv", text.getvalue())
    events = [{NAME: NAME, "s": f"golf {NAME}", "n": 2}, {"s": NAME}]
    tocsin.file("events.jsonl", "".join(json.dumps(event) + "\n" for event in events))
    return "rules.csv"


@pytest.mark.usefixtures("rules")
def test_check(tocsin: Command) -> None:
    bad = [(NAME, f"x = {NAME}"), (NAME, "x = 1"), (NAME, f"s like {quoted(NAME)}\\"), ("r", f'"{NAME}" ==')]
    lines = "".join(json.dumps({"id": name, "when": when}) + "\n" for name, when in bad)
    tocsin.file(f"{NAME}.jsonl", lines)
    assert_shown(tocsin("check", f"{NAME}.jsonl"))
    tocsin.file("bad.sql", f'create trigger "{NAME}" when x = ;\ncreate {NAME}')
    assert_shown(tocsin("check", "bad.sql"))
    tocsin.file("bad.dl", f".decl p(x: symbol)\np({NAME}).\n")
    assert_shown(tocsin("check", "bad.dl"))
    assert_shown(tocsin("check", f"none{NAME}.csv"))
    assert_shown(tocsin("check", "rules.csv", "--schema", f"none{NAME}.json"))


def test_build(tocsin: Command, rules: str) -> None:
    assert_shown(tocsin("build", rules, "-o", f"{NAME}.tocsin"))
    tocsin.file("twice.csv", tocsin.folder.joinpath(rules).read_bytes() * 2)
    assert_shown(tocsin("build", "twice.csv", "-o", "twice.tocsin"))
    assert_shown(tocsin("build", rules, "-o", f"nowhere{NAME}/rules.tocsin"))


def test_match(tocsin: Command, rules: str) -> None:
    tocsin.file("few.jsonl", '{"n": 5}\n')
    assert_shown(tocsin("match", rules, "--events", "few.jsonl", "--keep", NAME), is_data=True)
    tocsin.file("bad.jsonl", f'{{"n": 5}}\n{{"{NAME}\n')
    assert tocsin("match", rules, "--events", "bad.jsonl").code == 1
    assert_shown(tocsin("match", rules, "--events", f"none{NAME}.jsonl"))
    assert_shown(tocsin("match", rules, "--events", "few.jsonl", "--keep", "rule", f"--{NAME}"))


def test_explain(tocsin: Command, rules: str) -> None:
    event = (tocsin.folder / "events.jsonl").read_text().splitlines()[0]
    for rule in (NAME, "other", f"none{NAME}"):
        assert_shown(tocsin("explain", rules, "--rule", rule, "--event", event))
    assert_shown(tocsin("explain", rules, "--plan"))
    assert_shown(tocsin("explain", rules, "--plan", "--rule", f"none{NAME}"))


def test_backtest(tocsin: Command, rules: str) -> None:
    assert_shown(tocsin("backtest", rules, "--events", "events.jsonl", "--rule", "other"))
    assert_shown(tocsin("backtest", rules, "--events", "events.jsonl", "--rule", NAME))
    assert_shown(tocsin("backtest", rules, "--events", "events.jsonl", "--no-spark", "--time", NAME))


def test_score(tocsin: Command) -> None:
    assert_shown(tocsin("score", f"golf {NAME}", f'golf, "{NAME}"', "--explain"))
    assert_shown(tocsin("score", "golf", f"({NAME}"))


def test_datalog(tocsin: Command) -> None:
    text = NAME.replace("\n", "\\n")
    tocsin.file("p.dl", f'.decl p(x: symbol)\np("{text}").\n.decl q(x: symbol)\nq(x) :- p(x).\n.output q\n')
    assert_shown(tocsin("datalog", "p.dl", "--out", "out", "--why", f'q("{text}")'))
    assert_shown(tocsin("datalog", "p.dl", "--out", "out", "--why", f'q("no {text}")'))
    tocsin.file("bad.dl", f'.decl p(x: number)\np("{text}"). q{NAME}\n')
    assert_shown(tocsin("datalog", "bad.dl", "--out", "out"))


def test_usage(tocsin: Command) -> None:
    assert_shown(tocsin(f"check{NAME}"))
    assert_shown(tocsin("match", "rules.csv", "--events", "e.jsonl", f"--{NAME}"))
    assert_shown(tocsin("statistics", "--events", f"none{NAME}", "-o", "history"))
    assert_shown(tocsin("stream", f"none{NAME}", "--source", f"none{NAME}", "--sink", f"{NAME}:x"))
