"""Folders of tocsin's own: in the user's cache, or temporary and gone with the process.

$XDG_CACHE_HOME/tocsin/...    when that is an absolute path, as its standard asks
~/.cache/tocsin/...           otherwise
<temporary>/tocsin-...        where there is no home, or nothing can be written in it, or somebody else can

What is kept there is run: machine code, scripts. So a folder is used only when it is this user's and nobody
else may write to it or put another in its place.
"""

from __future__ import annotations

import atexit
import grp
import os
import pwd
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

from tocsin.errors import TocsinError, TocsinWarning


def cache_folder(purpose: str, digest: str, root: Path | None = None) -> Path:
    """A folder that can be written to, by this user alone, kept from one process to the next where it can be.

    Two processes that ask for the same purpose and digest are given the same folder, unless it has to be a
    temporary one, of which a TocsinWarning tells where others could write to the one that is there. `root` is
    where the folders lie whose user has said so, in the place of the user's cache.
    """
    if root is None:
        user_cache = _user_cache()
        root = None if user_cache is None else user_cache / "tocsin" / purpose
    if root is not None and _can_be_written(root / digest):
        stranger = whoever_could_write(root / digest)
        if stranger is None:
            return root / digest
        _warn_once(purpose, str(root), stranger)
    return temporary_folder(purpose)


def whoever_could_write(folder: Path) -> str | None:
    """Who else could change what is in a folder that is there: what to say of it, or None when nobody can.

    The folder has to be this user's, and so has every folder on the way to it, or the system's; none may be
    writable for others, except one like /tmp where nobody can take away what is not his. A link on the way
    counts with the folders on either side of it.
    """
    try:
        if folder.stat().st_uid != os.getuid():
            return f"{folder} belongs to another user"
        for part in dict.fromkeys((*_way_to(folder), *_way_to(folder.resolve()))):
            owners = {part.lstat().st_uid, part.stat().st_uid}
            if owners - {0, os.getuid()}:
                return f"{part} belongs to another user"
            is_shared = part != folder and part.stat().st_mode & stat.S_ISVTX
            if not is_shared and _others_may_write(part.stat()):
                return f"others may write to {part}"
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"
    return None


def _way_to(folder: Path) -> tuple[Path, ...]:
    """A folder and all that it lies in, the innermost first."""
    return (folder, *folder.parents)


def _others_may_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group is root's or this user's alone: many systems give each user such a one of his name."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return number == 0
    return number == 0 or (user.pw_gid == number and not set(group.gr_mem) - {user.pw_name})


@cache
def _warn_once(purpose: str, root: str, stranger: str) -> None:
    warnings.warn(
        f"the cache {root} is not used, for {stranger}: {purpose} are made anew in a folder of this process,"
        " which takes a while each time",
        TocsinWarning,
        stacklevel=4,
    )


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
        for part in reversed(_way_to(folder)):
            part.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
