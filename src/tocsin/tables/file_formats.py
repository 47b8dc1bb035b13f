"""What a file is, by what is in it: for names that do not say, and where a name may be wrong."""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path
from typing import Literal

from tocsin.errors import LimitError
from tocsin.storage import is_packed, open_input
from tocsin.tables.records import BYTE_ORDER_MARK

Format = Literal["jsonl", "csv", "parquet"]

PARQUET_MAGIC = b"PAR1"
_LOOKED_AT = 1 << 16


def beginning(file: str | os.PathLike[str]) -> bytes:
    """The first bytes of a file, unpacked; nothing of one that cannot be read."""
    with contextlib.suppress(OSError, EOFError, zlib.error, LimitError), open_input(file) as stream:
        return stream.read(_LOOKED_AT).removeprefix(BYTE_ORDER_MARK)
    return b""


def told_format(data: bytes) -> Format | None:
    """The format of a table that begins so: an object or an array is JSON, a line with delimiters CSV."""
    if data.startswith(PARQUET_MAGIC):
        return "parquet"
    text = data.lstrip(b" \t\r\n")
    if text[:1] in (b"{", b"["):
        return "jsonl"
    line = text.partition(b"\n")[0]
    return "csv" if b"\0" not in data and (b"," in line or b"\t" in line) else None


def is_parquet(file: str | os.PathLike[str]) -> bool:
    """Whether a file begins as Parquet does."""
    with contextlib.suppress(OSError), Path(file).open("rb") as stream:
        return stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    return False


def delimiter_of(file: str | os.PathLike[str]) -> str:
    """What stands between the values of a text table: by its name, else as in its first line."""
    name = Path(file).name.lower()
    name = name.removesuffix(".gz") if is_packed(file) else name
    if name.endswith((".csv", ".tsv")):
        return "\t" if name.endswith(".tsv") else ","
    return told_delimiter(beginning(file))


def told_delimiter(data: bytes) -> str:
    """The delimiter of a text table that begins so."""
    line = data.lstrip(b"\r\n").partition(b"\n")[0]
    return "\t" if line.count(b"\t") > line.count(b",") else ","
