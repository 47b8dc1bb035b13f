"""The Spark lines of docs/programs.md do what they say, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.spark.datalog_batch.relations import tuples_of

from tocsin.datalog.spark.batch.evaluate import ARCS, LIMIT, ONE_WORKER
from tocsin.datalog.spark.batch.semi_naive import MOST_ROUNDS

SECTION = (
    (Path(__file__).parents[3] / "docs" / "programs.md")
    .read_text()
    .split("\n## On Spark\n")[1]
    .split("\n## ")[0]
)


def test_the_lines_work(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = """
        .decl arc(x: number, y: number) .decl path(x: number, y: number) .output path
        path(x, y) :- arc(x, y). path(x, y) :- arc(x, z), path(z, y).
    """
    (tmp_path / "paths.dl").write_text(program)
    spark.createDataFrame([(1, 2), (2, 3)], "x int, y int").write.parquet(str(tmp_path / "arcs"))
    (lines,) = re.findall(r"^```python\n(.*?)^```$", SECTION, re.M | re.S)
    for name in ("arcs/", "paths/"):
        lines = lines.replace(f'"{name}"', repr(str(tmp_path / name)))
    names: dict[str, Any] = {}
    exec(lines, names)
    assert tuples_of(spark.read.parquet(str(tmp_path / "paths"))) == {(1, 2), (1, 3), (2, 3)}
    said = re.findall(r"print\(found\.explain\(\)\)  # (.*)", lines)
    assert [capsys.readouterr().out.strip()] == said


def test_its_numbers_are_those_of_the_code() -> None:
    for written in (f"{ONE_WORKER:,} tuples", f"{ARCS // 10**6} million", f"{MOST_ROUNDS:,} rounds"):
        assert written in " ".join(SECTION.split())
    assert f"{LIMIT // 10**6:,} million" in SECTION
