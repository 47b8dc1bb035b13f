"""Run the command in this process, and see what it said where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tocsin.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Command:
    """`tocsin ...` in a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *arguments: str | Path) -> Ran:
        self._capture.readouterr()
        code = main([str(each) for each in arguments])
        return Ran(code, *self._capture.readouterr())

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def files(self) -> list[str]:
        return sorted(each.relative_to(self.folder).as_posix() for each in self.folder.rglob("*"))


RULES = """id,when
adults,age >= 18
west,"state in ('CA', 'OR', 'WA')"
young west,"state in ('CA', 'OR', 'WA') and age < 18"
"""

EVENTS = """{"id": 7, "age": 31, "state": "CA"}
{"id": 8, "age": 12, "state": "NY"}
{"id": 9, "age": 17, "state": "WA"}
"""

PAIRS = [(0, "adults"), (0, "west"), (2, "west"), (2, "young west")]
"""What the rules match of the events."""
