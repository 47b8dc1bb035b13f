"""The commands of docs/command-line.md whose output is not shown: the lines of blocks marked `sh`.

(Blocks marked `console` show output too, and tests/docs runs them.)
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "command-line.md"

_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shell_commands() -> list[list[str]]:
    """The words of each command, in order."""
    blocks: list[str] = _SHELL.findall(DOCUMENT.read_text())
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


def is_on_spark(words: list[str]) -> bool:
    return words[1] == "stream" or "--spark" in words
