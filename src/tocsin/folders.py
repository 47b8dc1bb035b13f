"""Folders of tocsin's own: in the user's cache, or temporary and gone with the process.

$XDG_CACHE_HOME/tocsin/...    when that is an absolute path, as its standard asks
~/.cache/tocsin/...           otherwise
<temporary>/tocsin-...        where there is no home, or nothing can be written in it
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tocsin.errors import TocsinError


def cache_folder(purpose: str, digest: str) -> Path:
    """A folder that can be written to, kept from one process to the next where the machine allows it.

    Two processes that ask for the same purpose and digest are given the same folder, unless it has
    to be a temporary one.
    """
    cache = _user_cache()
    if cache is not None:
        folder = cache / "tocsin" / purpose / digest
        if _can_be_written(folder):
            return folder
    return temporary_folder(purpose)


def temporary_folder(purpose: str) -> Path:
    """A new folder that is gone when this process ends; processes forked from it leave it alone."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"tocsin-{purpose}-"))
    except OSError as error:
        raise TocsinError(f"cannot make a temporary folder: {error.strerror}") from error
    atexit.register(_remove, folder, os.getpid())
    return folder


def _user_cache() -> Path | None:
    """The folder for caches of all programs, if this user has one."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" if home.is_absolute() else None


def _can_be_written(folder: Path) -> bool:
    """Whether a file can be made in the folder, which is made too; tried, as permissions do not tell."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
