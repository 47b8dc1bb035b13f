"""A folder for what is not finished yet."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def workspace(output: str | None) -> Iterator[str]:
    """A folder for parts and the unfinished result: beside the output, so that a move is enough."""
    place = None if output is None else Path(output).resolve().parent
    with tempfile.TemporaryDirectory(dir=place, prefix=".tocsin-", ignore_cleanup_errors=True) as folder:
        yield str(Path(folder).resolve())
