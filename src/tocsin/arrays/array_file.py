"""One file of named arrays, memory-mapped by every process that opens it: what all saved things are.

    0    8   magic
    8    8   format version
    16   8   bytes in the whole file
    24   8   bytes in the header
    32  16   checksum of the header (BLAKE2b)
    48  16   checksum of everything behind the header
    64       header: JSON naming every array with its type, length and place, and what else the writer says
    ...      the arrays, each aligned to 64 bytes; what lies between the header and the first is zeros

The file is written beside its place and then moved there (storage/drafts.py), so a crash leaves the old one
whole, and whoever has the old one mapped keeps it. A file that is cut short, changed or foreign is refused.
Arrays are mapped copy-on-write: processes share the pages, and kernels see ordinary writable arrays, which
they never write to. Who writes over an open file in place, as `cp` does, pulls it away from under those who
have it mapped: move a new file there instead, as we do.

The header's `kind` says what is saved: an index of rules, one for another engine, or the state of a program.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import IndexFileError
from tocsin.storage.drafts import PRIVATE, draft_of, remove_stale_drafts

MAGIC = b"TOCSIN\r\n"
VERSION = 7

INDEX, ENGINE, PROGRAM = "index", "engine", "program"
DIGEST = "digest of the file"
"""What `index_digest` says of the file stands under this name in a header that was opened."""

_PREAMBLE = struct.Struct("<8sQQQ16s16s")
_ALIGN = 64
_BYTES_AT_ONCE = 16 << 20
_SHOWN = 80

_PLAIN = frozenset(
    np.dtype(kind).str for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)
"""The types that an array can have: bits of a fixed size, in this machine's order."""


def save_arrays(
    path: str | os.PathLike[str],
    said: Mapping[str, Any],
    arrays: Sequence[tuple[str, NDArray[Any]]],
    mode: int = PRIVATE,
) -> None:
    """Write arrays and a header to a file, whole or not at all; `mode` as in drafts.draft_of."""
    places: list[tuple[str, str, int, int]] = []
    offset = 0
    for name, array in arrays:
        offset = _aligned(offset)
        places.append((name, array.dtype.str, len(array), offset))
        offset += array.nbytes
    header = json.dumps({"arrays": places, **said}).encode()
    body_start = _aligned(_PREAMBLE.size + len(header))
    try:
        with draft_of(_target(FilePath(path)), mode) as draft, draft.open("wb") as file:
            _write_file(file, header, body_start, arrays, places)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"cannot write {os.fspath(path)!r}: {_cause(error)}") from error


def _target(path: FilePath) -> FilePath:
    """The file to write: where a link leads to; never a device or anything else that is no file."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise ValueError("it is not a regular file")
    return target


def _write_file(
    file: BinaryIO,
    header: bytes,
    body_start: int,
    arrays: Sequence[tuple[str, NDArray[Any]]],
    places: list[tuple[str, str, int, int]],
) -> None:
    file.write(bytes(body_start))
    digest = blake2b(digest_size=16)
    for (_, array), (_, _, _, offset) in zip(arrays, places, strict=True):
        gap = bytes(body_start + offset - file.tell())
        for piece in (gap, *_pieces(array)):
            digest.update(piece)
            file.write(piece)
    size = file.tell()
    file.seek(0)
    header_digest = blake2b(header, digest_size=16).digest()
    file.write(_PREAMBLE.pack(MAGIC, VERSION, size, len(header), header_digest, digest.digest()))
    file.write(header)


def _pieces(array: NDArray[Any]) -> Iterator[bytes]:
    """The bytes of an array, not all of them in memory at once: it may itself be mapped from a file."""
    items = max(1, _BYTES_AT_ONCE // array.itemsize)
    for first in range(0, len(array), items):
        yield array[first : first + items].tobytes()


def _cause(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def open_arrays(
    path: str | os.PathLike[str], *, verify: bool = True
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Map a file: its header and its arrays.

    The header is always checked: every array lies in the file, apart from the others, and is of a plain
    type. `verify` reads the file through once, and takes away what killed writers of it left behind. What
    the arrays hold is for the caller to check.
    """
    name = os.fspath(path)
    try:
        if FilePath(name).is_fifo():
            raise ValueError("it is not a regular file")
        with FilePath(name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _PREAMBLE.size:
                raise IndexFileError(f"{name} is not a tocsin index: it has only {size} bytes")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"cannot open {name!r}: {_cause(error)}") from error
    header, body_start = _checked_header(name, mapped, size, verify)
    arrays: dict[str, NDArray[Any]] = {}
    free = 0
    for entry in header["arrays"]:
        array, dtype, count, offset = _checked_place(name, entry)
        if array in arrays:
            raise IndexFileError(f"{name} is damaged: it has two arrays named {array!r}")
        if offset < free or offset % _ALIGN or body_start + offset + dtype.itemsize * count > size:
            raise IndexFileError(f"{name} is damaged: the array {array!r} does not lie where an array can")
        free = offset + dtype.itemsize * count
        if count:
            arrays[array] = np.frombuffer(mapped, dtype, count, body_start + offset)
        else:
            arrays[array] = np.empty(0, dtype)
    if verify:
        remove_stale_drafts(FilePath(os.path.realpath(name)))
    return header, arrays


def _checked_place(name: str, entry: Any) -> tuple[str, np.dtype[Any], int, int]:
    """The name, type, length and offset of an array, as the header says them."""
    if isinstance(entry, list) and len(entry) == 4:
        array, dtype, count, offset = entry
        whole = all(type(number) is int and 0 <= number < 1 << 62 for number in (count, offset))
        if isinstance(array, str) and whole and isinstance(dtype, str) and dtype in _PLAIN:
            return array, np.dtype(dtype), count, offset
    raise IndexFileError(f"{name} is damaged: its header names no array by {shown(entry)}")


def kind_of(header: Mapping[str, Any]) -> str:
    """What a file holds."""
    return str(header.get("kind", INDEX))


def index_digest(path: str | os.PathLike[str]) -> str:
    """The checksums of a saved index as a name for its content."""
    with FilePath(path).open("rb") as file:
        preamble = file.read(_PREAMBLE.size)
    return blake2b(preamble, digest_size=16).hexdigest()


def _checked_header(name: str, mapped: mmap.mmap, size: int, verify: bool) -> tuple[dict[str, Any], int]:
    magic, version, full_size, header_size, header_digest, digest = _PREAMBLE.unpack_from(mapped)
    if magic != MAGIC:
        raise IndexFileError(f"{name} is not a tocsin index")
    if version != VERSION:
        raise IndexFileError(f"{name} has format version {version}, and this release reads version {VERSION}")
    if size != full_size:
        raise IndexFileError(f"{name} is damaged: it has {size} bytes and should have {full_size}")
    header = mapped[_PREAMBLE.size : _PREAMBLE.size + header_size]
    if blake2b(header, digest_size=16).digest() != header_digest:
        raise IndexFileError(f"{name} is damaged: the checksum of its header is wrong")
    body_start = _aligned(_PREAMBLE.size + header_size)
    if any(mapped[_PREAMBLE.size + header_size : body_start]):
        raise IndexFileError(f"{name} is damaged: there is something between its header and its arrays")
    if verify:
        with memoryview(mapped) as view:
            if blake2b(view[body_start:], digest_size=16).digest() != digest:
                raise IndexFileError(f"{name} is damaged: its checksum is wrong")
    try:
        said = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise IndexFileError(f"{name} is damaged: its header cannot be read") from error
    if not isinstance(said, dict) or not isinstance(said.get("arrays"), list):
        raise IndexFileError(f"{name} is damaged: its header lists no arrays")
    said[DIGEST] = blake2b(mapped[: _PREAMBLE.size], digest_size=16).hexdigest()
    return said, body_start


def shown(value: object) -> str:
    """What a file says, for a message: escaped, and not too much of it."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
