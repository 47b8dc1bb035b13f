"""The Spark lines of the README, and the sessions on Spark of other pages, do what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import tocsin

ROOT = Path(__file__).parents[2]

_SESSION = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.spark


def test_spark_lines_of_the_readme(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = ROOT / "examples" / "first" / "rules.sql"
    tocsin.build(tocsin.read_rules(rules)).save(tmp_path / "rules.tocsin")
    events = [{"id": 7, "user": {"role": "admin"}, "device": {"known": True}, "ip": "203.0.113.9"}]
    (tmp_path / "events").mkdir()
    events_table = pa.Table.from_pylist([event | {"failures": 7, "tags": ["drill"]} for event in events])
    pq.write_table(events_table, tmp_path / "events" / "part-0.parquet")
    (tmp_path / "rules").mkdir()
    pq.write_table(pa.table({"id": ["loud"], "when": ["failures > 5"]}), tmp_path / "rules" / "0.parquet")
    monkeypatch.chdir(tmp_path)

    (lines,) = re.findall(
        r"^```python\n(import tocsin\.spark.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S
    )
    names: dict[str, Any] = {}
    for folder, holds in {"events": "events", "rules": "rules", "history": "events"}.items():
        lines = lines.replace(f'"{folder}/"', repr(str(tmp_path / holds)))
    exec(lines.replace('"rules.tocsin"', repr(str(tmp_path / "rules.tocsin"))), names)

    assert names["spark"] is spark
    assert [tuple(row) for row in names["matches"].collect()] == [(7, "loud", None)]
    assert [(row.rule, row.hits) for row in names["report"].rules.collect()] == [("loud", 1)]


def test_sessions_on_spark(spark: SparkSession) -> None:
    pages = sorted((ROOT / "docs").rglob("*.md"))
    shown = [(page.name, body) for page in pages for body in _SESSION.findall(page.read_text())]
    assert shown
    for name, body in shown:
        runner = doctest.DocTestRunner()
        runner.run(doctest.DocTestParser().get_doctest(body, {}, name, name, 0))
        assert runner.summarize(verbose=False).failed == 0
