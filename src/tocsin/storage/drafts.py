"""Files that are there whole or not at all: written beside their place, then moved there.

A draft is named after its target and the machine, and its writer holds a lock on it (flock) for as long as
it lives. So a draft of this machine that nobody holds a lock on was left by a writer that was killed, and
whoever next writes or opens the target takes it away. Drafts of other machines, and those on file systems
without such locks, are left alone: nobody here can know.

    rules.tocsin                       the target
    .rules.tocsin.1f0c22d1-9a7e...     a draft of it: the machine, and a number drawn at random

What we save is for its user alone (PRIVATE) unless a target that is there already says otherwise: it keeps
its mode. What a user asked for as a result is as open as any file he makes (AS_USUAL).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import uuid
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - no such locks on Windows: drafts are never taken away there
    fcntl = None  # type: ignore[assignment]

PRIVATE = 0o600
AS_USUAL = 0o666
PRIVATE_FOLDER = 0o700

_MACHINE = blake2b(os.uname().nodename.encode() if hasattr(os, "uname") else b"", digest_size=4).hexdigest()
_ENDING = re.compile(f"{_MACHINE}-[0-9a-f]{{32}}")


@contextlib.contextmanager
def draft_of(target: Path, mode: int = PRIVATE) -> Iterator[Path]:
    """A file to write, which takes the target's place when the block is done and is gone when it fails.

    It outlives a crash of the machine then, and so does its name. `mode` is for a target that is not there
    yet, less what the user's umask forbids.
    """
    place = target.resolve()
    remove_stale_drafts(place)
    draft, lock = _locked_draft(place, mode)
    try:
        with contextlib.suppress(FileNotFoundError):
            draft.chmod(stat.S_IMODE(place.stat().st_mode))
        yield draft
        sync_file(draft)
        draft.replace(place)
        sync_folder(place.parent)
    finally:
        draft.unlink(missing_ok=True)
        os.close(lock)


def mode_within(folder: Path) -> int:
    """The mode of a file in a folder of ours: whoever may read the folder may read the file."""
    return PRIVATE | (stat.S_IMODE(folder.stat().st_mode) & AS_USUAL)


def remove_stale_drafts(target: Path) -> None:
    """Take away the drafts of a target whose writers are gone, as far as that can be known."""
    if fcntl is None:
        return
    start = f".{target.name}."
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(start) and _ENDING.fullmatch(entry.name[len(start) :]):
                _remove_if_stale(entry.path)


def _remove_if_stale(draft: str) -> None:
    with contextlib.suppress(OSError):
        lock = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(draft).unlink()
        finally:
            os.close(lock)


def _locked_draft(place: Path, mode: int) -> tuple[Path, int]:
    """An empty draft, and the descriptor that holds its lock."""
    while True:
        draft = place.with_name(f".{place.name}.{_MACHINE}-{uuid.uuid4().hex}")
        lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
        # Somebody may have found it before it was locked: then it is gone, and another one is needed.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(draft.stat(), os.fstat(lock)):
                return draft, lock
        os.close(lock)


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
