"""examples/access does what its README shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import Command
from tests.docs.console import BLOCK, check_console, console_blocks

ROOT = Path(__file__).parents[2]
README = ROOT / "examples" / "access" / "README.md"


@pytest.mark.parametrize("body", console_blocks(README))
def test_commands(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_console(README.name, body, Command(ROOT, capsys))


def test_the_live_program() -> None:
    shown = next(body for body in README.read_text().split("\n```\n") if body.startswith("granted:"))
    assert not BLOCK.search(shown)
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "access" / "live.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == shown.strip()
