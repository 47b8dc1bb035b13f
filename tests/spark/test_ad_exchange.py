"""The ad exchange's example does on Spark what its README shows."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parents[2] / "examples" / "ad-exchange"


def test_the_readme_shows_what_the_example_prints(spark: SparkSession, capsys: pytest.CaptureFixture[str]):
    (shown,) = re.findall(
        r"^```console\n\$ .*?\n(.*?)^```$", (EXAMPLE / "README.md").read_text(), re.M | re.S
    )
    main = runpy.run_path(str(EXAMPLE / "eligible.py"))["main"]
    assert main([]) == 0
    assert capsys.readouterr().out.strip() == shown.strip()


def test_mistakes_are_reported(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "graph.json").write_text('{"publishers": ["p"], "edges": [{"from": "p", "to": "a"}]}')
    main = runpy.run_path(str(EXAMPLE / "eligible.py"))["main"]
    assert main([str(tmp_path)]) == 1
    assert "edge p -> a: there is no node 'a'" in capsys.readouterr().err
