"""Every example of docs/rule-language.md is true.

A block of the document is one of these:

    truth         lines of condition | event | truth
    error         a condition, and below it the error that it gives
    sql           a trigger file; csv and jsonl: a table of rules; all without mistakes
    python        run by test_documents.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tocsin
from tocsin.conditions.language import TRIGGER_WORDS, Connective, Test, parse_condition
from tocsin.conditions.meaning import Truth, condition_truth

DOCUMENT = (Path(__file__).parents[2] / "docs" / "rule-language.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
ROWS = [line for kind, body in BLOCKS if kind == "truth" for line in body.splitlines()]
ERRORS = [body for kind, body in BLOCKS if kind == "error"]
FILES = [(kind, body) for kind, body in BLOCKS if kind in ("sql", "csv", "jsonl")]


def test_every_block_is_checked() -> None:
    assert {kind for kind, _ in BLOCKS} == {"truth", "error", "sql", "csv", "jsonl", "python"}


@pytest.mark.parametrize("row", ROWS)
def test_truth(row: str) -> None:
    condition, event, truth = (part.strip() for part in re.split(r" +\| ", row))
    assert condition_truth(parse_condition(condition), json.loads(event)) is Truth[truth.upper()]


def test_the_index_gives_the_same_matches() -> None:
    parts = [[part.strip() for part in re.split(r" +\| ", row)] for row in ROWS]
    index = tocsin.build([(str(number), condition) for number, (condition, _, _) in enumerate(parts)])
    for number, (_, event, truth) in enumerate(parts):
        found = {match.rule for match in index.match(json.loads(event))}
        assert (str(number) in found) == (truth == "true"), ROWS[number]


@pytest.mark.parametrize("body", ERRORS)
def test_error(body: str) -> None:
    condition, _, expected = body.partition("\n")
    with pytest.raises(tocsin.RuleError) as caught:
        parse_condition(condition)
    assert str(caught.value) == expected.rstrip("\n")


@pytest.mark.parametrize(("kind", "body"), FILES)
def test_rule_file(kind: str, body: str, tmp_path: Path) -> None:
    file = tmp_path / f"rules.{kind}"
    file.write_text(body)
    rules = tocsin.read_rules(file)
    assert len(rules) == 2
    assert len(tocsin.build(rules)) == 2


TRUTHS = {"true": Truth.TRUE, "unknown": Truth.UNKNOWN, "false": Truth.FALSE}
FLAG = {"true": {"flag": True}, "unknown": {}, "false": {"flag": False}}


def test_truth_tables() -> None:
    """The tables of and, or and xor stand side by side: five cells for each, its heading first."""
    lines = [line.strip("|").split("|") for line in DOCUMENT.splitlines() if line.startswith("| ")]
    cells = [[cell.strip(" *`") for cell in line] for line in lines]
    head = next(place for place, line in enumerate(cells) if line[0] == "and" and len(line) == 14)
    for start, connective in ((0, "and"), (5, "or"), (10, "xor")):
        assert cells[head][start] == connective
        condition = parse_condition(f"a.flag {connective} b.flag")
        for row in cells[head + 2 : head + 5]:
            for left, truth in zip(
                cells[head][start + 1 : start + 4], row[start + 1 : start + 4], strict=True
            ):
                event = {"a": FLAG[left], "b": FLAG[row[start]]}
                assert condition_truth(condition, event) is TRUTHS[truth], (left, connective, row[start])


def test_nothing_of_the_language_is_left_out() -> None:
    words = {*TRIGGER_WORDS, *(test.value for test in Test), *(each.value for each in Connective)}
    assert {word for word in words if word not in DOCUMENT} == set()
