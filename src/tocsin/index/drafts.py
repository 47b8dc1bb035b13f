"""Files that are there whole or not at all: written beside their place, then moved there."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """A file to write, which takes the target's place when the block is done and is gone when it fails."""
    place = target.resolve()
    draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
