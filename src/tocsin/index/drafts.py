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
        sync_file(draft)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def sync_file(file: Path) -> None:
    """See to it that what a file holds outlives a crash of the machine."""
    with file.open("rb") as written:
        os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder outlive a crash of the machine, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
