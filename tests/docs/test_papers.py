"""The page of the papers names what there is, and the table of their claims says what the figures say."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from benchmarks import claims
from benchmarks.claims.claim import blocks_of

from tocsin_lab.experiments.catalogue import EXPERIMENTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "papers.md").read_text()
CODE = re.findall(r"`([^`\n]+)`", PAGE)
FOLDERS = (ROOT / "src" / "tocsin", ROOT / "src", ROOT)


@cache
def names_in(path: Path) -> set[str]:
    """The functions and classes of a file."""
    defined = ast.parse(path.read_text()).body
    return {each.name for each in defined if isinstance(each, ast.FunctionDef | ast.ClassDef)}


@pytest.mark.parametrize("place", sorted({code for code in CODE if ".py" in code}))
def test_a_place_exists(place: str) -> None:
    found = re.fullmatch(r"([\w/]+\.py)(?::(\w+))?", place)
    assert found, "not PATH.py or PATH.py:NAME"
    files = [folder / found[1] for folder in FOLDERS if (folder / found[1]).is_file()]
    assert files, "no such file"
    assert found[2] is None or found[2] in names_in(files[0]), "no such function or class in it"


def test_all_experiments_are_there_and_no_others() -> None:
    named = {code for code in CODE if re.fullmatch(r"[a-z]+-(table\d+|figure\d+|delta)", code)}
    assert named == set(EXPERIMENTS)


def test_all_tests_of_the_papers_are_there() -> None:
    files = {path.name for path in (ROOT / "tests" / "papers").glob("test_*.py")}
    assert {name for name in files if f"tests/papers/{name}:" not in PAGE} == set()


@pytest.mark.parametrize(
    ("paper", "has"),
    [
        (
            "Dewey and Interval",
            {"Figure": 14, "Table": 4, "Algorithm": 5, "Theorem": 5, "Invariant": 3, "Definition": 1},
        ),
        ("A-Tree", {"Figure": 13, "Table": 4, "Algorithm": 6}),
        ("TriggerMan", {"Figure": 9}),
        ("Yield index", {"Figure": 19, "Table": 1, "Algorithm": 9, "Definition": 6}),
    ],
)
def test_every_numbered_thing_of_a_paper_is_in_its_tables(paper: str, has: dict[str, int]) -> None:
    about = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
    first = " ".join(row.split(" | ")[0] for row in about.splitlines() if row.startswith("| "))
    for kind, count in has.items():
        found = set[int]()
        for numbers in re.findall(rf"{kind}s? (\d+(?:(?:, | and | to )\d+)*)", first):
            for start, _, end in re.findall(r"(\d+)( to (\d+))?", numbers):
                found.update(range(int(start), int(end or start) + 1))
        assert found == set(range(1, count + 1)), kind


def texts() -> list[str]:
    return [path.read_text() for path in claims.DOCUMENTS]


def test_the_claims_are_those_of_the_generated_figures() -> None:
    experiments = texts()[0]
    assert experiments.startswith("# The papers' experiments\n")
    assert experiments.index("| paper | where | claim |") == experiments.index("|"), "the first table"
    written = re.search("<!-- generated: claims -->\n(.*?)\n<!-- end: claims -->", experiments, re.DOTALL)
    assert written
    assert written[1] == claims.table(texts()), "run python -m benchmarks.claims"


def verdict(table: str, claim: str) -> str:
    (row,) = [line for line in table.splitlines() if claim in line]
    return row.split(" | ")[-1].rstrip(" |")


@pytest.mark.parametrize(
    ("claim", "cell", "figure", "holds"),
    [
        ("Interval uses less memory than Dewey", r"(?<=\| 150,000 \| )[\d.]+(?=.*150,000 \|)", "999", "yes"),
        ("Interval uses less memory than Dewey", r"(?<=\| 150,000 \| )[\d.]+(?=.*150,000 \|)", "0.001", "no"),
        ("Zero suppression shortens", r"(?<=\| and zero suppression \| )[\d.]+", "0.0001", "yes"),
        ("Zero suppression shortens", r"(?<=\| and zero suppression \| )[\d.]+", "999", "no"),
        ("71 % less memory than BoP", r"(?<=at the most rules \| )[^|]+(?= \|)", "70 % less than bop", "yes"),
        (
            "71 % less memory than BoP",
            r"(?<=at the most rules \| )[^|]+(?= \|)",
            "7 % less than bop",
            "in part",
        ),
        ("71 % less memory than BoP", r"(?<=at the most rules \| )[^|]+(?= \|)", "7 % more than bop", "no"),
    ],
)
def test_a_verdict_follows_its_figures(claim: str, cell: str, figure: str, holds: str) -> None:
    experiments, performance = texts()
    changed, cells = re.subn(cell, figure, experiments)
    assert cells
    assert verdict(claims.table([changed, performance]), claim) == holds


def test_a_claim_needs_its_experiment() -> None:
    without = re.sub(
        "<!-- generated: dewey-table4 -->.*?<!-- end: dewey-table4 -->", "", texts()[0], flags=re.DOTALL
    )
    assert "dewey-table4" not in blocks_of([without])
    with pytest.raises(KeyError, match="dewey-table4"):
        claims.table([without, texts()[1]])
