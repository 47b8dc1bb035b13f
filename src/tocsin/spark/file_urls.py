"""Files of the local file system by the names that Spark takes them by.

Spark is given texts, not URIs: `a b` stays `a b`, where Path.as_uri() would make a folder that is really
called `a%20b`. What it is to read it takes for a pattern, so in a name `*` and its like are to stand for
themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

_PATTERN = re.compile(r"([*?\[\]{}\\])")


def to_write(path: Path) -> str:
    """What Spark is to write."""
    return f"file://{path.absolute()}"


def to_read(path: Path) -> str:
    """What Spark is to read: this one, whatever its name."""
    return _PATTERN.sub(r"\\\1", to_write(path))
