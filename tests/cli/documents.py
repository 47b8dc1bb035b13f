"""A document's examples: the files it shows, and the commands with what they print.

A file is a fenced block after a line that is only its name, as in "`rules.csv`:". A command is a line
that starts with `$ ` in a block marked `console`; the lines below it are its standard output.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

DOCUMENT = Path(__file__).parents[2] / "docs" / "command-line.md"

_FILE = re.compile(r"^`([^`\n]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    words: list[str]
    out: str

    @property
    def on_spark(self) -> bool:
        return self.words[1] == "match" and "--no-spark" not in self.words


def shown_files() -> dict[str, str]:
    return dict(_FILE.findall(DOCUMENT.read_text()))


def shown_commands() -> list[Shown]:
    found = []
    for block in _CONSOLE.findall(DOCUMENT.read_text()):
        for part in block.split("$ ")[1:]:
            command, _, out = part.partition("\n")
            found.append(Shown(shlex.split(command), out))
    return found
