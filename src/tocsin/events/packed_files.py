"""Files that may be packed (.gz), opened with a bound on what comes out of them.

A packed file of a megabyte can hold a gigabyte: what is unpacked is counted, and more than a limit is an
InputError that says so, before memory or disk is full.
"""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import IO, cast

from tocsin.errors import InputError

UNPACKED_LIMIT = 4 << 30
"""So many bytes may come out of a packed file, if nothing else is said."""


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file is packed, by its name."""
    return os.fspath(path).lower().endswith(".gz")


def open_unpacked(path: str | os.PathLike[str], limit: int = UNPACKED_LIMIT) -> IO[bytes]:
    """A file for reading, unpacked if it is packed; past `limit` unpacked bytes reading is an InputError."""
    if not is_packed(path):
        return Path(path).open("rb")
    return cast(IO[bytes], io.BufferedReader(_Unpacking(os.fspath(path), limit)))


class _Unpacking(io.RawIOBase):
    """The unpacked bytes of a file, which counts them."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._count = 0
        self._stream = gzip.GzipFile(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._stream.readinto(buffer)
        self._count += count
        if self._count > self._limit:
            raise InputError(f"{self._path}: unpacked, it has more than {self._limit:,} bytes, the limit")
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()
