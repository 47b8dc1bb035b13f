"""The first page of each room is true: it names files that are there, and says where to begin."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
ROOMS = sorted((SOURCE / "tocsin").rglob("__init__.py"))
FILE = re.compile(r"(?<![\w*])((?:\.\./)?[\w/]+\.py)\b")


def page(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text())) or ""


def test_files_that_a_docstring_names_are_there() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lost = []
    for file in sorted(SOURCE.rglob("*.py")):
        nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, documented)]
        named = {name for node in nodes for name in FILE.findall(ast.get_docstring(node) or "")}
        (package, room, *_) = file.relative_to(SOURCE).parts
        folders = [file.parent, file.parent.parent, SOURCE / package / room, SOURCE / package]
        folders += [SOURCE / "tocsin", SOURCE, SOURCE.parent]
        lost += [
            (file, name) for name in sorted(named) if not any((folder / name).exists() for folder in folders)
        ]
    assert lost == []


@pytest.mark.parametrize("file", ROOMS, ids=lambda file: str(file.parent.relative_to(SOURCE)))
def test_a_room_of_several_files_says_where_to_begin(file: Path) -> None:
    files = [path for path in file.parent.rglob("*.py") if path.name != "__init__.py"]
    if len(files) > 3 and file.parent.name != "tocsin":
        assert re.search(
            r"\b[Bb]egin with\b|\bin this order\b|^\s*>>>|^import tocsin", page(file), re.MULTILINE
        )
