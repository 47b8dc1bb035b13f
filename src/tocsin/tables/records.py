"""Files of records: how they are opened, what is said when one cannot be read, and records that are none."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

import pyarrow as pa

from tocsin.errors import InputError
from tocsin.storage import open_input, open_unpacked
from tocsin.tables.json_arrays import is_array, lines_of_array

UNREADABLE = (OSError, UnicodeDecodeError, EOFError, zlib.error, pa.ArrowException)
"""What readers of files raise, by whatever is wrong with one."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NOT_TEXT = "not valid UTF-8"


class Reject(NamedTuple):
    """A record that could not be read. It counts in the numbering of rows all the same."""

    row: int
    reason: str
    text: str


def readable(raw: bytes) -> str:
    """Raw bytes as text for a person: what is not valid UTF-8 is shown as `\\xff`."""
    return raw.decode("utf-8", "backslashreplace")


@contextlib.contextmanager
def reading(file: str | os.PathLike[str]) -> Iterator[None]:
    """InputError that names the file when it cannot be read."""
    try:
        yield
    except UNREADABLE as error:
        raise InputError(f"{file}: cannot be read: {error}") from error


def open_records(file: str) -> IO[bytes]:
    """The bytes of a file, unpacked if it is packed; of an array of objects, its elements as lines."""
    try:
        stream = open_input(file)
        try:
            return lines_of_array(stream) if is_array(stream.peek()) else cast(IO[bytes], stream)
        except BaseException:
            stream.close()
            raise
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(file, error) from error


def read_bytes(file: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """All bytes of a file, unpacked if it is packed; LimitError past a limit of what that gives."""
    try:
        with open_input(file) if limit is None else open_unpacked(file, limit) as stream:
            return stream.read()
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str | os.PathLike[str], error: Exception) -> InputError:
    return InputError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}")
