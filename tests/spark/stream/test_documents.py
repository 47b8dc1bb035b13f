"""What docs/streaming.md and docs/tutorial.md show of streams is what happens."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tocsin.cli import main

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "streaming.md"
_SHOWN = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    command, reject = _SHOWN.findall(DOCUMENT.read_text())[:2]
    line, *alerts = command.splitlines()
    words = shlex.split(line.removeprefix("$ tocsin "))
    assert main([*words, "--checkpoint", "kept"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == alerts
    assert "batch 0: 3 events, 3 matches, 1 reject, rules version 1" in said.err
    (file,) = Path("kept", "rejects").rglob("*.jsonl")
    assert json.loads(file.read_text()) == json.loads(reject)


def test_the_tutorial(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    (shown,) = _SHOWN.findall((ROOT / "docs" / "tutorial.md").read_text())
    line, *alerts = shown.splitlines()
    assert main(shlex.split(line.removeprefix("$ tocsin "))) == 0
    assert capsys.readouterr().out.splitlines() == alerts


def test_mistakes_of_usage(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rules = str(ROOT / "examples" / "stream" / "rules.sql")
    assert main(["stream", rules, "--source", "nowhere", "--sink", "console:", "--once"]) == 1
    assert capsys.readouterr().err.endswith("tocsin: nowhere: there is no such folder\n")
    assert main(["stream", rules, "--source", str(tmp_path), "--sink", "ftp://x", "--once"]) == 2
    assert "there is no sink 'ftp'" in capsys.readouterr().err
    assert main(["stream", rules, "--source", "x", "--sink", "y", "--once", "--every", "1 second"]) == 2
