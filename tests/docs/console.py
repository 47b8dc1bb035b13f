"""Commands in documents: blocks marked `console` show each with what it prints."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"# exit (\d+)$")


def console_blocks(document: Path) -> list[str]:
    """The blocks of a document that show commands."""
    return [body for language, body in BLOCK.findall(document.read_text()) if language == "console"]


def check_console(name: str, body: str, folder: Path) -> None:
    """Run the commands of a block in a folder; each prints what the document says."""
    commands = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    assert commands, f"a console block of {name} shows no command"
    for command in commands:
        line, _, expected = command.partition("\n")
        words = shlex.split(line, comments=True)
        assert words[0] == "tocsin", f"{name} shows {words[0]}, which no test runs"
        done = subprocess.run(
            [sys.executable, "-m", "tocsin", *words[1:]],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "COLUMNS": "100"},
            check=False,
        )
        shown = done.stdout if done.stdout else done.stderr
        said = _EXIT.search(line)
        assert done.returncode == (int(said[1]) if said else 0), done.stderr
        assert shown.strip().splitlines() == expected.strip().splitlines(), done.stderr
