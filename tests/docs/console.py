"""Commands in documents: blocks marked `console` show each with what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.running import Command

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"# exit (\d+)$")


def console_blocks(document: Path) -> list[str]:
    """The blocks of a document that show commands."""
    return [body for language, body in BLOCK.findall(document.read_text()) if language == "console"]


def check_console(name: str, body: str, tocsin: Command) -> None:
    """Run the commands of a block; each prints what the document says, in a window of 100 columns."""
    commands = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
    assert commands, f"a console block of {name} shows no command"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tocsin.folder)
        patch.setenv("COLUMNS", "100")
        for command in commands:
            line, _, expected = command.partition("\n")
            words = shlex.split(line, comments=True)
            assert words[0] == "tocsin", f"{name} shows {words[0]}, which no test runs"
            ran = tocsin(*words[1:])
            said = _EXIT.search(line)
            assert ran.code == (int(said[1]) if said else 0), ran.err
            assert (ran.out or ran.err).strip().splitlines() == expected.strip().splitlines(), ran.err
