"""What a user may write where a file stands, as files that can be read more than once.

-                    standard input, kept in a temporary file while the process runs
'logs/*.jsonl.gz'    a pattern: the files that it fits, in the order of their names
/dev/fd/63           what is no ordinary file (a pipe) is kept as standard input is
anything else        itself, be it there or not
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

from tocsin.errors import InputError
from tocsin.storage.folders import temporary_folder

STANDARD_INPUT = "-"
_NAME = "standard-input"
_WILD = frozenset("*?[")
_written: dict[str, str] = {}
"""What the user knows a file by that something is kept in."""


def files_at(path: str | os.PathLike[str]) -> list[str]:
    """The files or folders that a path stands for; InputError for a pattern that fits none."""
    text = os.fspath(path)
    if text == STANDARD_INPUT:
        return [_kept_input()]
    if os.path.lexists(text):
        passing = _passing(text)
        return [text if passing is None else _kept_pipe(text, *passing)]
    if _WILD.isdisjoint(text):
        return [text]
    found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 (it may be absolute)
    if not found:
        raise InputError(f"{text}: no file has a name of this pattern")
    return found


def shown(text: str) -> str:
    """A text in which files that standard input and pipes are kept in have the names that the user knows."""
    for kept, name in _written.items():
        text = text.replace(kept, name)
    return text


def _passing(path: str) -> tuple[int, int] | None:
    """The device and inode of what can be read once only; None for files and folders."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (
        None if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) else (found.st_dev, found.st_ino)
    )


@cache
def _kept_input() -> str:
    return _kept(cast(BinaryIO, getattr(sys.stdin, "buffer", sys.stdin)), _NAME, "standard input")


@cache
def _kept_pipe(path: str, _device: int, _inode: int) -> str:
    """A copy of what came through a pipe. Another one may have its name later: /dev/fd/63 is used again."""
    with Path(path).open("rb") as stream:
        return _kept(stream, Path(path).name, path)


def _kept(stream: BinaryIO, name: str, written: str) -> str:
    file = temporary_folder("input") / name
    try:
        with file.open("wb") as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
    except OSError as error:
        raise InputError(f"{written} cannot be read: {error.strerror or error}") from error
    _written[str(file)] = written
    return str(file)
