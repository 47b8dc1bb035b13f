"""The demonstration, small: it ends well, leaves its files, and fails when the check does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import tocsin
from tocsin_lab import demo, demo_story
from tocsin_lab.sample_check import Verdict


def test_the_demonstration(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert demo.main(["--campaigns", "1500", "--visits", "400", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "checks, no difference" in shown
    assert "Most matched campaigns" in shown
    assert "a Python loop over compiled conditions would take" in " ".join(shown.replace("│", " ").split())
    assert "<h2>The noisiest rules</h2>" in (tmp_path / "backtest.html").read_text()
    event = json.loads((tmp_path / "visit.json").read_text())
    index = tocsin.open(tmp_path / "campaigns.tocsin")
    assert len(index) == 1500
    row = spark.read.parquet(str(tmp_path / "matches")).where(f"visit = {event['visit']}").collect()
    assert sorted(match["rule"] for match in row) == [match.rule for match in index.match(event)]


def test_a_difference_is_a_failure(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(demo_story, "verify", lambda *given: Verdict(1, 0, ((3, "c000001"),)))
    assert demo.main(["--campaigns", "50", "--visits", "20", "--folder", str(tmp_path)]) == 1
