"""What the documents show is what happens: Python sessions and commands in them are run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.running import Command
from tests.docs.console import BLOCK, check_console

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = re.compile(r"`(\w+/[\w/.]*)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (path.name, body)
        for path in DOCUMENTS
        for found, body in BLOCK.findall(path.read_text())
        if found == language
    ]


@pytest.fixture
def in_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the project's root, where a document's commands may write files."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "body"), [case for case in blocks("python") if ">>>" in case[1]])
def test_python_session(name: str, body: str, in_copy: Path) -> None:
    session = doctest.DocTestParser().get_doctest(body, {}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize(("name", "body"), blocks("console"))
def test_console_session(name: str, body: str, in_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_console(name, body, Command(in_copy, capsys))


@pytest.mark.parametrize(
    "line",
    [
        line
        for path in DOCUMENTS
        if path.parent.name == "how-to"
        for language, body in BLOCK.findall(path.read_text())
        if language == "sh"
        for line in body.splitlines()
    ],
)
def test_a_command_without_output(line: str, in_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Command(in_copy, capsys)(*shlex.split(line)[1:])
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text()):
        page = path.parent / target if target else path
        assert page.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(page), f"{path.name} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ["how-it-works.md", "architecture.md"])
def test_files_that_a_page_names_exist(name: str) -> None:
    named = SOURCE.findall((ROOT / "docs" / name).read_text())
    assert named
    folders = [ROOT / "src" / "tocsin", ROOT / "src", ROOT]
    assert [path for path in named if not any((folder / path).exists() for folder in folders)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_place_for_figures_is_filled(path: Path) -> None:
    places = re.findall(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: (\S+) -->", path.read_text(), re.DOTALL)
    assert [name for name, table, end in places if name != end or "|" not in table] == []
    assert len(places) == path.read_text().count("<!-- generated: ")


def test_tests_that_the_makefile_names_exist() -> None:
    named = re.findall(r"(?<![\w/])tests/[\w/.]+", (ROOT / "Makefile").read_text())
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
