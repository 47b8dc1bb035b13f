"""examples/access/stream.py does what its README shows, and the documents show what is in it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "access" / "stream.py"


def test_the_stream_says_what_the_readme_shows(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(EXAMPLE))["main"]()
    printed = capsys.readouterr().out.strip()
    readme = (ROOT / "examples" / "access" / "README.md").read_text()
    (shown,) = re.findall(r"^```\n(1\.jsonl\n.*?)^```$", readme, re.M | re.S)
    assert printed == shown.strip()


def test_the_document_shows_a_part_of_it() -> None:
    document = (ROOT / "docs" / "programs.md").read_text()
    blocks = re.findall(r"^```python\n(import tocsin\.spark as ts\n\n.*?)^```$", document, re.M | re.S)
    (shown,) = (block for block in blocks if "ts.activate" in block)
    source = _squeezed(EXAMPLE.read_text())
    for statement in filter(None, shown.split("\n\n")):
        assert _squeezed(statement) in source


def _squeezed(code: str) -> str:
    """Code without what its lines' lengths decide."""
    return re.sub(r"\s+|(?<= )\((?=\s)|(?<=\s)\)", "", code)
