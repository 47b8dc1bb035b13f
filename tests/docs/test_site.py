"""The site has every page in its navigation, and its pages about names, limits and formats are true.

Whether it builds, and has no dead link, is for `make docs` to say.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.peers import readme_table

import tocsin
import tocsin.spark as ts
from tocsin.arrays import array_file
from tocsin.conditions.graph import shards
from tocsin.conditions.language import parse_condition
from tocsin.history.statistics import statistics_folder
from tocsin.spark.stream import checkpoint
from tocsin.storage import record_log
from tocsin.text import dictionary_files

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]


@pytest.fixture
def hook() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "repository_pages.py"))


def test_every_page_is_in_the_navigation(hook: dict[str, Any]) -> None:
    named = re.findall(r": (\S+\.md)$", NAVIGATION, re.MULTILINE)
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | set(hook["PAGES"].values())
    assert len(named) == len(set(named))
    assert set(named) == there
    assert all((ROOT / source).is_file() for source in hook["PAGES"])


@pytest.mark.parametrize(
    ("here", "written", "followed"),
    [
        ("index.md", "[a](docs/spark.md#how)", "[a](spark.md#how)"),
        ("index.md", '<img width="9" src="docs/backtest.png">', '<img width="9" src="backtest.png">'),
        ("spark.md", "[a](../README.md)", "[a](index.md)"),
        ("how-to/many-rules.md", "[a](../spark.md)", "[a](../spark.md)"),
        ("how-to/many-rules.md", "[a](../../SECURITY.md#limits)", "[a](../security.md#limits)"),
        ("examples/access.md", "[a](../../docs/programs.md)", "[a](../programs.md)"),
        ("spark.md", "[the rules](../examples/video/more.sql)", "the rules (`examples/video/more.sql`)"),
        ("spark.md", "[more.sql](../examples/video/more.sql)", "`examples/video/more.sql`"),
        ("spark.md", "[a](../nowhere.md)", "[a](../nowhere.md)"),
        ("spark.md", "[a](https://example.org)", "[a](https://example.org)"),
        ("spark.md", "```\n[a](../README.md)\n```", "```\n[a](../README.md)\n```"),
        ("spark.md", "```python\n>>> 1\n```", "```pycon\n>>> 1\n```"),
    ],
)
def test_links_are_followed(hook: dict[str, Any], here: str, written: str, followed: str) -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri=here))
    assert hook["on_page_markdown"](written, page) == followed


def test_columns_of_docstrings_become_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "griffe", SimpleNamespace(Extension=object))
    with_lists = runpy.run_path(str(DOCS / "docstring_lists.py"))["with_lists"]
    text = "What it does.\n\nrules    a path, or\n         a table\na, b     two\n\nAnd so on."
    shown = "What it does.\n\n\n- **`rules`** a path, or\n  a table\n- **`a, b`** two\n\n\nAnd so on."
    assert with_lists(text) == shown
    assert with_lists("One line.\n\n    code(1)\n") == "One line.\n\n    code(1)"


def test_the_page_on_python_has_every_public_name_and_no_other() -> None:
    named = re.findall(r"^::: (\S+)$", (DOCS / "python.md").read_text(), re.MULTILINE)
    spark = [name for name in named if name.startswith("tocsin.spark.")]
    assert sorted(name.rpartition(".")[2] for name in spark) == sorted(ts.__all__)
    others = [name.removeprefix("tocsin.") for name in named if name not in spark]
    assert sorted([*others, "__version__"]) == sorted(tocsin.__all__)


LIMITS = re.findall(r"^\| `(.+?)` \|", (DOCS / "limits.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("condition", LIMITS)
def test_what_rules_cannot_say_is_refused(condition: str) -> None:
    with pytest.raises(tocsin.RuleError):
        parse_condition(condition)


def test_formats_are_those_that_are_written() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([\d, ]+) \|", (DOCS / "compatibility.md").read_text(), re.MULTILINE)
    assert dict(rows) == {
        "a saved index or engine": str(array_file.VERSION),
        "an index in shards": str(shards.FORMAT),
        "statistics, a dictionary": f"{statistics_folder.FORMAT}, {dictionary_files.FORMAT}",
        "a stream's checkpoint": str(checkpoint.FORMAT),
        "a journal": str(record_log._VERSION),
    }


def test_the_readme_has_the_figures_that_were_measured() -> None:
    assert readme_table.table() in (ROOT / "README.md").read_text(), (
        "run python -m benchmarks.peers.readme_table"
    )
