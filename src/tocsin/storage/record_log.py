"""A folder with one file of records, each of them whole or not there, and a lock for its one writer.

    FOLDER/lock         locked (flock) by the process that has the journal open; it holds that process's id
    FOLDER/journal      0   8   magic
                        8   4   format version
                        12  4   whose journal it is: ENGINE, WATCH
                        16  8   mark: drawn at random for this file
                        24  8   base: so many bytes the file had when it took its place
                        32 16   checksum of the above (BLAKE2b)
                        48      records

    a record            0   8   mark
                        8   8   number: 0, 1, 2, ...
                        16  8   synced: so many records were known to be on the disk when this one was written
                        24  8   bytes of the payload
                        32  8   checksum of the payload (BLAKE2b)
                        40  4   checksum of the above (CRC-32)
                        44      payload

The records up to `base` are a snapshot: `rewrite` writes them beside the file and moves them there at once.
Those behind it were added one by one, and only the last of them can be torn by a crash: those that no sync
had reached. What is not whole there is cut off. If a later record says that it had been synced, or if it lies
in the snapshot, it cannot be torn: the file is damaged, and nothing is dropped in silence.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import secrets
import struct
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from tocsin.errors import JournalError, UsageError
from tocsin.storage.drafts import draft_of, sync_folder
from tocsin.syntax import parse_duration

ENGINE, WATCH = 1, 2

ALWAYS = "always"
"""Every change is synced to the disk before its call returns."""

FLOOR = 1 << 20
"""A journal is rewritten when it has grown by as many bytes as its snapshot has, and by so many at least."""

_FILE, _LOCK = "journal", "lock"
_MAGIC = b"TOCSINJ\n"
_VERSION = 1
_KINDS = {ENGINE: "an engine", WATCH: "a watch"}
_HEADER = struct.Struct("<8sLL8sQ")
_FIRST = _HEADER.size + 16
_RECORD = struct.Struct("<8sQQQ8s")
_CHECK = struct.Struct("<L")
_START = _RECORD.size + _CHECK.size

_sync = getattr(os, "fdatasync", os.fsync)


class Record(NamedTuple):
    """A record as it was read, and where it stands in the file."""

    offset: int
    payload: bytes


class RecordLog:
    """The journal of a folder, for as long as it is open here.

    `sync` is ALWAYS, or the length of time after which what was added is synced at the latest. A new one has
    no file before the first `rewrite`; one that is there is read before anything is added. One that is
    `only_read`, of any kind if that is None, stays as it is, torn end and all.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        kind: int | None,
        sync: str = ALWAYS,
        *,
        only_read: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.file = self.folder / _FILE
        self.kind = kind
        self.torn = 0
        self._only_read = only_read
        self._pause = _pause(sync)
        self._lock = self._descriptor = -1
        self._failed: str | None = None
        self._guard = threading.Lock()
        self._timer: threading.Timer | None = None
        self._mark = b""
        self._count = self._synced = self._size = self._base = 0
        self._patience = FLOOR
        try:
            if not only_read:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = _locked(self.folder, only_read)
            if only_read:
                self._descriptor = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC)
                self._read_header()
            elif self.file.exists():
                self._descriptor = os.open(self.file, os.O_RDWR | os.O_CLOEXEC)
            else:
                _check_empty(self.folder)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise self._error(f"cannot be opened: {error.strerror}") from error
            raise
        _OPEN.add(self)

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written."""
        return self._descriptor < 0

    @property
    def is_long(self) -> bool:
        """Whether it is time to rewrite it."""
        return self._size - self._base > max(self._base, self._patience)

    def check(self) -> None:
        """JournalError when nothing can be added any more."""
        if self._failed is not None:
            raise self._error(self._failed)

    def read(self) -> Iterator[Record]:
        """All records. When they are read through, a torn end is cut off, and more can be added."""
        self.check()
        size = self._read_header()
        place, number = _FIRST, 0
        for record in self._records(size):
            yield record
            place, number = record.offset + _START + len(record.payload), number + 1
        self.torn = size - place
        if self._only_read:
            return
        try:
            if place < size:
                os.ftruncate(self._descriptor, place)
            _sync(self._descriptor)
        except OSError as error:
            raise self._error(f"cannot be written: {error.strerror}") from error
        self._size, self._count, self._synced = place, number, number

    def recall(self) -> Iterator[Record]:
        """The records that were read, rewritten or added, also when nothing more can be added."""
        if self._descriptor < 0:
            self.check()
        return self._records(self._size)

    def append(self, payload: bytes) -> None:
        """Add a record. JournalError when it cannot be written: then it is not there.

        When it cannot be synced, nobody knows what the disk has, and nothing more is taken.
        """
        self.check()
        place, count = self._size, self._count
        try:
            _write(self._descriptor, self._encoded(payload, count, self._synced), place)
            if self._pause is None:
                self._sync_now()
                self._synced = count + 1
            self._size = place + _START + len(payload)
            self._count = count + 1
        except BaseException as error:
            self._withdraw(place, count)
            if isinstance(error, OSError):
                raise self._error(f"cannot be written: {error.strerror}") from error
            raise
        if self._pause is not None and self._timer is None:
            self._sync_later(self._pause)

    def rewrite(self, payloads: Iterable[bytes]) -> None:
        """Put these records, synced, in the place of all that there is: all of them, or none."""
        self.check()
        with self._guard:
            old, self._failed = self._descriptor, "was being rewritten when its process failed: open it again"
            try:
                with draft_of(self.file) as draft:
                    mark, base, count = self._write_draft(draft, payloads)
                sync_folder(self.folder)
                self._descriptor = os.open(self.file, os.O_RDWR | os.O_CLOEXEC)
            except BaseException as error:
                if self._is_in_place(old):
                    self._failed = None
                if isinstance(error, OSError):
                    raise self._error(f"cannot be rewritten: {error.strerror}") from error
                raise
            self._mark, self._size, self._base = mark, base, base
            self._count = self._synced = count
            self._patience = FLOOR
            self._failed = None
            if old >= 0:
                os.close(old)

    def wait_longer(self) -> None:
        """It could not be rewritten: do not try again before it has grown as much again."""
        self._patience = 2 * (self._size - self._base)

    def abandon(self, reason: str) -> None:
        """Take nothing more: what is held here and what is on the disk may differ."""
        self._failed = reason

    def close(self) -> None:
        """Sync what was added, and let others have it."""
        with self._guard:
            if self._descriptor >= 0 and self._failed is None:
                with contextlib.suppress(OSError):
                    _sync(self._descriptor)
            self._leave("is closed")

    def __del__(self) -> None:
        if hasattr(self, "_patience"):
            self.close()

    # ---- Writing

    def _encoded(self, payload: bytes, number: int, synced: int) -> bytes:
        digest = blake2b(payload, digest_size=8).digest()
        start = _RECORD.pack(self._mark, number, synced, len(payload), digest)
        return b"".join((start, _CHECK.pack(zlib.crc32(start)), payload))

    def _withdraw(self, place: int, count: int) -> None:
        """Whatever was written behind this place was not promised to anybody."""
        self._size, self._count, self._synced = place, count, min(self._synced, count)
        try:
            os.ftruncate(self._descriptor, place)
        except OSError as error:
            self._failed = f"cannot be written: {error.strerror}; open it again"

    def _sync_now(self) -> None:
        try:
            _sync(self._descriptor)
        except OSError as error:
            self._failed = f"cannot be synced to the disk: {error.strerror}; open it again"
            raise

    def _sync_later(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._sync_group)
        self._timer.daemon = True
        try:
            self._timer.start()
        except RuntimeError:  # Python is about to end, and starts no more threads
            self._sync_group()

    def _sync_group(self) -> None:
        """Sync all that was added until now."""
        with self._guard:
            self._timer = None
            count = self._count
            if self._descriptor >= 0 and self._failed is None:
                with contextlib.suppress(OSError):
                    self._sync_now()
                    self._synced = count

    def _write_draft(self, draft: Path, payloads: Iterable[bytes]) -> tuple[bytes, int, int]:
        """Write a file of these records; its mark, its size and how many they are."""
        old, self._mark = self._mark, secrets.token_bytes(8)
        mark, count = self._mark, 0
        try:
            with draft.open("wb") as file:
                file.write(bytes(_FIRST))
                for count, payload in enumerate(payloads, 1):
                    file.write(self._encoded(payload, count - 1, 0))
                base = file.tell()
                header = _HEADER.pack(_MAGIC, _VERSION, self.kind, mark, base)
                file.seek(0)
                file.write(header + blake2b(header, digest_size=16).digest())
        finally:
            self._mark = old
        return mark, base, count

    def _is_in_place(self, descriptor: int) -> bool:
        """Whether this is the journal still, or there is none still."""
        if descriptor < 0:
            return not self.file.exists()
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(descriptor), self.file.stat())
        return False

    # ---- Reading

    def _read_header(self) -> int:
        """Check the header; how large the file is."""
        size = os.fstat(self._descriptor).st_size
        start = os.pread(self._descriptor, _FIRST, 0)
        header, digest = start[: _HEADER.size], start[_HEADER.size :]
        if size < _FIRST or header[: len(_MAGIC)] != _MAGIC:
            raise self._error("is not a tocsin journal", 0)
        _, version, kind, mark, base = _HEADER.unpack(header)
        if version != _VERSION:
            raise self._error(f"has format version {version}, and this release reads version {_VERSION}", 8)
        if blake2b(header, digest_size=16).digest() != digest:
            raise self._error("is damaged: the checksum of its header is wrong", 0)
        if self.kind is None and kind in _KINDS:
            self.kind = kind
        if kind != self.kind:
            own = _KINDS.get(self.kind or 0, "an engine or a watch")
            raise self._error(f"is that of {_KINDS.get(kind, 'something else')}, not of {own}")
        if base > size:
            raise self._error(f"is damaged: it has {size} bytes and should have {base} at least", size)
        self._mark, self._base = mark, base
        return size

    def _records(self, size: int) -> Iterator[Record]:
        """The whole records among so many bytes."""
        place, number = _FIRST, 0
        with mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ) as mapped:
            while place < size:
                payload = self._payload(mapped, place, number)
                if payload is None:
                    self._check_torn(mapped, place, number)
                    return
                yield Record(place, payload)
                place += _START + len(payload)
                number += 1

    def _payload(self, mapped: mmap.mmap, place: int, number: int) -> bytes | None:
        """The payload of the record of this number, if it is whole."""
        start = self._record_start(mapped, place)
        if start is None or start[0] != number:
            return None
        _, _, length, digest = start
        payload = mapped[place + _START : place + _START + length]
        if len(payload) < length or blake2b(payload, digest_size=8).digest() != digest:
            return None
        return payload

    def _record_start(self, mapped: mmap.mmap, place: int) -> tuple[int, int, int, bytes] | None:
        """Number, synced, length and digest of a record, if one starts here."""
        start = mapped[place : place + _START]
        if len(start) < _START or _CHECK.unpack_from(start, _RECORD.size)[0] != zlib.crc32(start[:-4]):
            return None
        mark, number, synced, length, digest = _RECORD.unpack_from(start)
        return (number, synced, length, digest) if mark == self._mark else None

    def _check_torn(self, mapped: mmap.mmap, place: int, number: int) -> None:
        """Raise JournalError unless the record of this number may be one that nobody was promised."""
        later = place
        is_damaged = place < self._base
        while not is_damaged and (later := mapped.find(self._mark, later + 1)) >= 0:
            start = self._record_start(mapped, later)
            is_damaged = start is not None and start[0] > number and start[1] > number
        if is_damaged:
            raise self._error(f"is damaged: record {number} is not whole, and others come after it", place)

    def _error(self, reason: str, offset: int | None = None) -> JournalError:
        return JournalError(reason, file=str(self.file), offset=offset)

    # ---- Who has it open

    def _leave(self, reason: str) -> None:
        self._failed = self._failed or reason
        for descriptor in (self._descriptor, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._lock = -1

    def _leave_to_parent(self) -> None:
        """A forked process shares the lock of its parent, and must neither write nor keep others out."""
        self._guard = threading.Lock()
        self._timer = None
        self._leave("was opened by the process that this one was forked from, and is not open here")


_OPEN: weakref.WeakSet[RecordLog] = weakref.WeakSet()


def _leave_all() -> None:
    for log in list(_OPEN):
        log._leave_to_parent()


os.register_at_fork(after_in_child=_leave_all)


def holds_journal(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a journal in it."""
    file = Path(path, _FILE)
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC


def _pause(sync: object) -> float | None:
    """How many seconds a sync may be late; None when it may not."""
    if sync == ALWAYS:
        return None
    try:
        return parse_duration(sync, "sync", "10 ms") / 1_000_000
    except ValueError as error:
        raise UsageError(f"sync is 'always' or a length of time: {error}") from None


def _locked(folder: Path, only_read: bool) -> int:
    """The descriptor that holds the lock; -1 where there is none to be had, and nothing will be written."""
    if only_read and not (folder / _LOCK).exists():
        return -1
    way = os.O_RDONLY if only_read else os.O_RDWR | os.O_CREAT
    lock = os.open(folder / _LOCK, way | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if only_read else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        if only_read:
            return lock
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode(errors="replace")
        os.close(lock)
        raise JournalError(
            f"is open already, in process {holder}: one at a time may write it", file=str(folder / _FILE)
        ) from None
    except BaseException:
        os.close(lock)
        raise
    return lock


def _check_empty(folder: Path) -> None:
    """A new journal is made in a folder of its own."""
    others = [
        each for each in folder.iterdir() if each.name != _LOCK and not each.name.startswith(f".{_FILE}.")
    ]
    if others:
        raise UsageError(
            f"{folder} is not empty, and has no journal in it: give a journal a folder of its own"
        )


def _write(descriptor: int, data: bytes, place: int) -> None:
    written = os.pwrite(descriptor, data, place)
    while written < len(data):
        written += os.pwrite(descriptor, memoryview(data)[written:], place + written)
