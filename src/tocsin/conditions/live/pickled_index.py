"""An index as a pickle: by the file that holds exactly its rules, or by the bytes of such a file.

So multiprocessing, joblib and dask can be given an index. By its file it costs a path, and processes of
one machine share the memory. Either way the file is opened as tocsin.open does it, with all its checks, so a
pickle holds nothing that is run or trusted.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.arrays.array_file import DIGEST, index_digest
from tocsin.errors import IndexFileError

if TYPE_CHECKING:
    from tocsin.conditions.live.index import Index

Opener = Callable[[str], "Index"]
Pickled = tuple[Callable[..., "Index"], tuple[Any, ...]]


class SavedFile(NamedTuple):
    """A file with the rules of an index as they were after a change; `digest` is that of its content."""

    path: str
    digest: str
    change: int = 0

    @classmethod
    def of(cls, name: str, header: dict[str, Any]) -> SavedFile:
        """The file that is opened."""
        return cls(str(Path(name).absolute()), str(header[DIGEST]))

    @classmethod
    def written(cls, path: str | os.PathLike[str], change: int) -> SavedFile:
        """The file that was just written."""
        return cls(str(Path(path).absolute()), index_digest(path), change)

    def holds(self, change: int) -> bool:
        """Whether the file is still there as it was, and holds the rules as they are after this change."""
        try:
            return self.change == change and index_digest(self.path) == self.digest
        except OSError:
            return False


def pickled(index: Index, file: SavedFile | None) -> Pickled:
    """What pickle needs of an index that was opened from a file, or saved to it."""
    if index.shards:
        from tocsin.conditions.live.sharded_index import sharded_index

        return sharded_index, (index.shards,)
    opener = index.version.layers[0].opener
    if file is not None and file.holds(index.version.change):
        return index_of_file, (opener, file.path, file.digest)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pickled.tocsin")
        index.save(path)
        return index_of_bytes, (opener, path.read_bytes())


def index_of_file(opener: Opener, path: str, digest: str) -> Index:
    """The index that was pickled by its file; IndexFileError when that is gone, or another one is there."""
    index = opener(path)
    if index_digest(path) != digest:
        raise IndexFileError(f"{path} is another file than when an index was pickled by it: pickle it anew")
    return index


def index_of_bytes(opener: Opener, data: bytes) -> Index:
    """The index that was pickled whole. It lies in a file without a name, as any other is mapped from one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pickled.tocsin")
        path.write_bytes(data)
        return opener(str(path))
