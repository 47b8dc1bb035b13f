"""An index on its way to the workers: as a file, once.

Spark gives every executor a copy of the file in a folder of its own, where all workers of that executor
map the same pages; two executors on one machine have two copies. On a local master the driver is the
only executor, and the workers map the driver's copy. Nothing of the index goes through Java's memory
or a broadcast. The file is named after its content, so an index that a session has already is not sent
again, and two of them never meet under one name.

Importing this module loads neither NumPy nor the kernels: the daemon (worker_daemon.py) must not have
them before it is ready for them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyspark import SparkContext, SparkFiles
from pyspark.sql import SparkSession

from tocsin.errors import IndexFileError, TocsinError, UnsupportedError, UsageError
from tocsin.spark.session import context_of
from tocsin.storage import temporary_folder

if TYPE_CHECKING:
    from tocsin.conditions.live import Index

KEPT_OPEN = 8
"""Indexes that a process holds open; a stream that reloads its rules leaves the old ones behind."""

_one_at_a_time = threading.Lock()
"""Held while an index is sent, and so over all that is remembered below."""

_saved_as: MutableMapping[Index, tuple[int, Path]] = WeakKeyDictionary()
"""Up to which change the indexes of this process are saved, and where, while they live."""


_picked_up: dict[str, tuple[int, ...]] = {}
"""Identity, size and time of the files that this process has picked up."""


@dataclass(frozen=True, slots=True)
class ShippedRules:
    """An index that every worker of a session can open. Small, and made to be pickled.

    names   the file of the index, of one in shards that of every shard
    """

    names: tuple[str, ...]

    def open(self) -> Index:
        """The index as one, in a worker or in the driver; opened once in the life of the process."""
        for name in self.names:
            _check_unchanged(name)
        return _opened_together(self.names)

    def shards(self, *, alone: bool = False) -> list[Index]:
        """Every shard as an index; `alone`, instead of any other that the process has opened so."""
        for name in self.names:
            _check_unchanged(name)
        return [_opened_alone(name) if alone else _opened(name) for name in self.names]


def ship_rules(session: SparkSession, index_or_path: Index | str | os.PathLike[str]) -> ShippedRules:
    """Send an index, or a saved one by its path, to the workers of a session.

    An index is saved the first time that it is sent, whatever the session, and again when its rules have
    been changed since; so a call for every micro-batch of a stream costs no more than asking Spark what
    it has. What runs goes on with the rules that it was sent. A file is read through and
    checked here, on every call; the workers trust that. What is sent is a copy: changing the file
    afterwards changes nothing for a job or a stream that runs. Raises IndexFileError when the file
    is missing, damaged or no index.
    """
    from tocsin.conditions.graph import is_sharded, read_shards
    from tocsin.conditions.live import Index

    shards: Sequence[Index | str | os.PathLike[str]] = [index_or_path]
    if isinstance(index_or_path, Index):
        shards = index_or_path.shards or shards
    elif isinstance(index_or_path, str | os.PathLike) and is_sharded(index_or_path):
        folder = Path(index_or_path)
        shards = [folder / shard.file for shard in read_shards(folder)]
    return ShippedRules(tuple(_shipped(session, shard) for shard in shards))


def _shipped(session: SparkSession, index_or_path: Index | str | os.PathLike[str]) -> str:
    """Send an index that is one file; the name of its copy."""
    from tocsin.conditions.live import Index
    from tocsin.warmup import is_warm, warm_up

    context = context_of(session, "be sent an index")
    with _one_at_a_time:
        if not is_warm():
            warm_up()  # once here, or else in every worker at the same time
        if isinstance(index_or_path, Index):
            if index_or_path.engine != Index.engine:
                raise UnsupportedError(
                    f"the engine {index_or_path.engine} does not run on Spark: build with 'atree'"
                )
            saved = _saved(index_or_path)
        elif isinstance(index_or_path, str | os.PathLike):
            saved = _verified_copy(context, Path(index_or_path))
        else:
            kind = type(index_or_path).__name__
            raise UsageError(f"an index or the path of a saved one is needed here, not {kind}")
        if not _is_added(context, saved.name):
            context.addFile(str(saved))
    return saved.name


def _is_added(context: SparkContext, name: str) -> bool:
    return any(added.rpartition("/")[2] == name for added in context.listFiles)


def _saved(index: Index) -> Path:
    """The saved copy of an index as it is now, made unless there is one."""
    change = index.version.change
    known, saved = _saved_as.get(index, (-1, _folder()))
    if known == change and saved.exists():
        return saved
    draft = _draft()
    try:
        index.save(draft)
        saved = _settled(draft)
        _saved_as[index] = change, saved
        return saved
    finally:
        draft.unlink(missing_ok=True)


def _verified_copy(context: SparkContext, path: Path) -> Path:
    """A copy under a name of its own, made unless there is one, of a file that has been verified."""
    from tocsin.arrays.array_file import index_digest
    from tocsin.conditions.graph import is_sharded, open_index

    if is_sharded(path):
        raise IndexFileError(f"{path} is an index in shards: each of its shards has to be sent")
    open_index(path, verify=False)  # refuses what is no index before anything is copied
    settled = _folder() / _name(index_digest(path))
    if settled.exists() and _is_added(context, settled.name):
        open_index(path)
        return settled
    draft = _draft()
    try:
        shutil.copyfile(path, draft)
        try:
            open_index(draft)
        except IndexFileError:
            open_index(path)  # says the same of the file by the name that the user knows
            raise IndexFileError(f"{path} was changed while it was being read") from None
        return _settled(draft)
    except OSError as error:
        raise IndexFileError(f"cannot copy {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _settled(draft: Path) -> Path:
    """Give a finished file the name of its content."""
    from tocsin.arrays.array_file import index_digest

    return draft.replace(draft.with_name(_name(index_digest(draft))))


def _name(digest: str) -> str:
    return f"{digest}.tocsin"


def _draft() -> Path:
    descriptor, name = tempfile.mkstemp(dir=_folder(), prefix="draft-")
    os.close(descriptor)
    return Path(name)


@cache
def _folder() -> Path:
    """Where the driver keeps what it sends, until the process ends: an executor may come late."""
    return temporary_folder("index")


@lru_cache(maxsize=2)
def _opened_together(names: tuple[str, ...]) -> Index:
    from tocsin.conditions.live.sharded_index import sharded_index

    indexes = [_opened(name) for name in names]
    return indexes[0] if len(indexes) == 1 else sharded_index(indexes)


def _check_unchanged(name: str) -> None:
    """IndexFileError when the file that Spark brought is not the one sent, or not as it was picked up first.

    Nobody verifies it again: the driver did, and it is mapped, so that who writes over it changes what this
    process reads.
    """
    from tocsin.arrays.array_file import index_digest

    path = SparkFiles.get(name)
    try:
        status = Path(path).stat()
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        same = _picked_up.get(path) == stamp if path in _picked_up else _name(index_digest(path)) == name
    except OSError:
        return  # opening it says what is wrong, unless it is open already
    if not same:
        raise IndexFileError(
            f"{path} was written over after it was sent: it is not the index that was verified"
        )
    _picked_up[path] = stamp


def _open(name: str) -> Index:
    from tocsin.conditions.live import open_file

    path = SparkFiles.get(name)
    if not Path(path).is_file():
        raise TocsinError(f"Spark has not brought the index {name} to this machine")
    return open_file(path, verify=False)


_opened = lru_cache(maxsize=KEPT_OPEN)(_open)
_opened_alone = lru_cache(maxsize=1)(_open)
