"""One file of named arrays, memory-mapped by every process that opens it: what all saved things are.

    0    8   magic
    8    8   format version
    16   8   bytes in the whole file
    24   8   bytes in the header
    32  16   checksum of the header (BLAKE2b)
    48  16   checksum of everything behind the header
    64       header: JSON naming every array with its type, length and place, and what else the writer says
    ...      the arrays, each aligned to 64 bytes

The file is written beside its place and then moved there, so a crash leaves the old one whole. A
file that is cut short, changed or foreign is refused. Arrays are mapped copy-on-write: processes
share the pages, and kernels see ordinary writable arrays, which they never write to.

The header's `kind` says what is saved: an index of rules, or the state of a program.
"""

from __future__ import annotations

import json
import mmap
import os
import stat
import struct
import uuid
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import IndexFileError

MAGIC = b"TOCSIN\r\n"
VERSION = 4

INDEX, PROGRAM = "index", "program"

_PREAMBLE = struct.Struct("<8sQQQ16s16s")
_ALIGN = 64
_BYTES_AT_ONCE = 16 << 20


def save_arrays(
    path: str | os.PathLike[str], said: Mapping[str, Any], arrays: Sequence[tuple[str, NDArray[Any]]]
) -> None:
    """Write arrays and a header to a file, whole or not at all."""
    places: list[tuple[str, str, int, int]] = []
    offset = 0
    for name, array in arrays:
        offset = _aligned(offset)
        places.append((name, array.dtype.str, len(array), offset))
        offset += array.nbytes
    header = json.dumps({"arrays": places, **said}).encode()
    body_start = _aligned(_PREAMBLE.size + len(header))
    try:
        _write_file(_target(FilePath(path)), header, body_start, arrays, places)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"cannot write {os.fspath(path)!r}: {_cause(error)}") from error


def _target(path: FilePath) -> FilePath:
    """The file to write: where a link leads to; never a device or anything else that is no file."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise ValueError("it is not a regular file")
    return target


def _write_file(
    target: FilePath,
    header: bytes,
    body_start: int,
    arrays: Sequence[tuple[str, NDArray[Any]]],
    places: list[tuple[str, str, int, int]],
) -> None:
    """Write beside the target, then move there; nothing stays behind when that fails."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
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
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
    """Map a file: its header and its arrays. `verify` reads it through once; the header is always checked."""
    name = os.fspath(path)
    try:
        with FilePath(name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _PREAMBLE.size:
                raise IndexFileError(f"{name} is not a tocsin index: it has only {size} bytes")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"cannot open {name!r}: {_cause(error)}") from error
    header, body_start = _checked_header(name, mapped, size, verify)
    arrays = {
        str(array): np.frombuffer(mapped, np.dtype(dtype), count, body_start + offset)
        for array, dtype, count, offset in header["arrays"]
    }
    return header, arrays


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
    if verify:
        with memoryview(mapped) as view:
            if blake2b(view[body_start:], digest_size=16).digest() != digest:
                raise IndexFileError(f"{name} is damaged: its checksum is wrong")
    return json.loads(header), body_start


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGN) * _ALIGN
