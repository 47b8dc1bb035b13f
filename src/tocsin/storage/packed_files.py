"""Files that may be packed (.gz), opened with a bound on what comes out of them.

A packed file of a megabyte can hold a gigabyte: what is unpacked is counted, and more than a limit is an
LimitError that says so, before memory or disk is full.

Rules and events may unfold to UNPACKED_LEAST bytes, or to UNPACKED_TIMES their size if that is more: what
people pack shrinks to a tenth, and very dull logs to a hundredth.

    TOCSIN_MOST_UNPACKED=BYTES   in the environment, in the place of UNPACKED_LEAST
"""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import IO, cast

from tocsin.errors import LimitError, UsageError

UNPACKED_LIMIT = 4 << 30
"""So many bytes may come out of a packed file, if nothing else is said."""
UNPACKED_LEAST = 1 << 30
UNPACKED_TIMES = 200
SETTING = "TOCSIN_MOST_UNPACKED"

_AT_ONCE = 1 << 17
_MAGIC = b"\x1f\x8b"


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file is packed, by its name or by its first bytes."""
    if os.fspath(path).lower().endswith(".gz"):
        return True
    try:
        with Path(path).open("rb") as stream:
            return stream.seekable() and stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def open_unpacked(path: str | os.PathLike[str], limit: int = UNPACKED_LIMIT) -> IO[bytes]:
    """A file for reading, unpacked if it is packed; past `limit` unpacked bytes reading is a LimitError."""
    if not is_packed(path):
        return Path(path).open("rb")
    return cast(IO[bytes], io.BufferedReader(_Unpacking(os.fspath(path), limit), _AT_ONCE))


def open_input(path: str | os.PathLike[str]) -> io.BufferedReader:
    """A file of rules or events for reading, unpacked if it is packed."""
    if not is_packed(path):
        return Path(path).open("rb")
    unpacking = _Unpacking(os.fspath(path), most_unpacked(Path(path).stat().st_size), SETTING)
    return io.BufferedReader(unpacking, _AT_ONCE)


def most_unpacked(size: int) -> int:
    """How many bytes a file of this size may unfold to; UsageError when the setting is no number."""
    given = os.environ.get(SETTING, "")
    if given and not (given.isascii() and given.isdecimal()):
        raise UsageError(f"{SETTING} is a number of bytes, not {given!r:.40}")
    return max(int(given) if given else UNPACKED_LEAST, UNPACKED_TIMES * size)


def check_unpacked(path: str | os.PathLike[str], unpacked: int, limit: int, setting: str = SETTING) -> None:
    """LimitError when a file has more bytes, unpacked, than a limit that this setting moves."""
    if unpacked > limit:
        meant = f": if that is meant, set {setting} to more" if setting else ""
        raise LimitError(
            f"{path}: unpacked, it has more than {limit:,} bytes, the limit{meant}", setting=setting or None
        )


class _Unpacking(io.RawIOBase):
    """The unpacked bytes of a file, which counts them."""

    def __init__(self, path: str, limit: int, setting: str = "") -> None:
        self._path = path
        self._limit = limit
        self._setting = setting
        self._count = 0
        self._stream = gzip.GzipFile(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._stream.readinto1(buffer)  # what comes before a cut is given
        self._count += count
        check_unpacked(self._path, self._count, self._limit, self._setting)
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()
