"""examples/newsroom does what its README shows, and its rules mean what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.running import Command
from tests.docs.console import check_console, console_blocks

import tocsin
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches, score

EXAMPLE = Path(__file__).parents[2] / "examples" / "newsroom"
NEWS = [json.loads(line) for line in (EXAMPLE / "news.jsonl").read_text().splitlines()]


def test_the_readme_shows_what_the_commands_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "examples" / "newsroom")
    blocks = console_blocks(EXAMPLE / "README.md")
    assert len(blocks) >= 4
    for body in blocks:
        check_console("examples/newsroom/README.md", body, Command(tmp_path, capsys))
    before, after = (
        (folder / "alerts.sql").read_text() for folder in (EXAMPLE, tmp_path / "examples/newsroom")
    )
    assert after == before.replace("trophy', 1.3)", "trophy', 1.5)")


@pytest.mark.parametrize("engine", ["atree", "scan"])
def test_matches_and_scores_are_those_of_the_meaning(engine: str) -> None:
    rules = tocsin.read_rules(EXAMPLE / "alerts.sql")
    expected = [
        (event, rule.id, score(condition, piece))
        for event, piece in enumerate(NEWS)
        for rule in rules
        if matches(condition := parse_condition(rule.when, "n"), piece)
    ]
    found = tocsin.build(rules, engine=engine).match_table(pa.Table.from_pylist(NEWS))
    assert isinstance(found, pa.Table)
    assert list(zip(*found.to_pydict().values(), strict=True)) == expected
    assert {rule for _, rule, _ in expected} == set(rules.ids.to_pylist())
