"""Compressed files, with a bound on what they may unfold to.

A gzip file of a megabyte can hold a gigabyte of zeros, and one of a gigabyte what no disk holds. So a
file may unfold to MOST_UNPACKED bytes, or to MOST_TIMES its size if that is more: what people compress
shrinks to a tenth, and very dull logs to a hundredth.

    TOCSIN_MOST_UNPACKED=BYTES   in the environment, in the place of MOST_UNPACKED
"""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import BinaryIO, cast

from tocsin.errors import LimitError, UsageError

MOST_UNPACKED = 1 << 30
MOST_TIMES = 200
SETTING = "TOCSIN_MOST_UNPACKED"

_AT_ONCE = 1 << 17


def most_unpacked(size: int) -> int:
    """How many bytes a compressed file of this size may unfold to; UsageError when the setting is none."""
    given = os.environ.get(SETTING, "")
    if given and not (given.isascii() and given.isdecimal()):
        raise UsageError(f"{SETTING} is a number of bytes, not {given!r:.40}")
    return max(int(given) if given else MOST_UNPACKED, MOST_TIMES * size)


def open_gzip(file: str | os.PathLike[str]) -> BinaryIO:
    """The bytes of a gzip file; reading raises LimitError when they are too many for its size."""
    return cast(BinaryIO, io.BufferedReader(_Bounded(file), _AT_ONCE))


def check_unpacked(file: str | os.PathLike[str], unpacked: int, size: int) -> None:
    """LimitError when a compressed file of this size says that it unfolds to too many bytes."""
    most = most_unpacked(size)
    if unpacked > most:
        raise LimitError(
            f"{file}: the file unfolds to more than {most:,} bytes, from {size:,}: if that is meant, set"
            f" {SETTING} to as many bytes as it may",
            setting=SETTING,
        )


class _Bounded(io.RawIOBase):
    """A gzip file that counts what comes out of it."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = file
        self._size = Path(file).stat().st_size
        self._unpacked = 0
        self._most = most_unpacked(self._size)
        self._inner = gzip.GzipFile(file, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._inner.readinto1(buffer)  # what comes before a cut is given
        self._unpacked += count
        if self._unpacked > self._most:
            check_unpacked(self._file, self._unpacked, self._size)
        return count

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()
