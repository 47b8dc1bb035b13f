"""How a field's path is written in messages: nearly as a rule would write it.

A name that is a reserved word is not quoted: which words are reserved is the grammar's to know, and a
reader of a message needs no quotes.
"""

from __future__ import annotations

import re

from tocsin.events.cells import Path
from tocsin.printable import printable

_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LONGEST = 200


def path_text(path: Path) -> str:
    """`user.age`, or `"a.b".c` where a name needs quotes; printable, cut short when very long."""
    names = path if len(path) <= _LONGEST else path[:_LONGEST]
    text = ".".join(name if _BARE_NAME.match(name) else '"' + name.replace('"', '""') + '"' for name in names)
    return printable(text if len(text) <= _LONGEST and names is path else text[:_LONGEST] + "...")
