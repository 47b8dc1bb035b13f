"""Buckets: keys, and tuples that are counted, go to one of some by a hash of their texts.

Each bucket has its state in Spark's store (bucket_journal.py), where it outlives the process, and what was
made of it in the memory of the Python workers. A worker that has a bucket as of the stored token goes on at
once. One that has it as of an older one, because another worker had it in between or because a task failed
after it had changed the bucket, follows the journal, or else starts from all that is stored.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from tocsin.datalog.spark.stream.bucket_journal import START, Entries, Head, Store, append, everything, since
from tocsin.datalog.spark.stream.step_rows import Moved

BUCKETS = 128
"""So many there are of each unit and counted relation: more spread a larger state, and cost every batch more.

A checkpoint holds as long as this does not change (initial.FORMAT).
"""


def bucket_of(*texts: str) -> int:
    """Where the tuple or key with these texts goes."""
    return zlib.crc32("\0".join(texts).encode()) % BUCKETS


class Made(NamedTuple):
    """What follows from the changes of a batch, and what it changes in the bucket."""

    moved: list[Moved]
    changed: Entries


class Contents(ABC):
    """What a worker holds of a bucket."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""

    @property
    def is_outgrown(self) -> bool:
        """Whether it would take less memory if it were filled again."""
        return False

    @property
    def next_end(self) -> int | None:
        """When the watermark changes something by itself."""
        return None

    def at_start(self) -> Entries:
        """The entries that are to be written of a bucket when it gets its state."""
        return {}

    @abstractmethod
    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""

    @abstractmethod
    def follow(self, changed: Entries) -> None:
        """Change entries as another worker did: what follows from it was reported there."""

    @abstractmethod
    def make(self, changes: Sequence[Moved], watermark: int) -> Made:
        """Make the changes of a batch, seq by seq."""


class Bucket:
    """A bucket in the memory of a worker: its contents, and as of which token."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._token: str | None = None

    def change(self, store: Store, changes: Sequence[Moved], watermark: int = 0) -> list[Moved]:
        """Make the changes of a batch; what follows from them, by seq."""
        try:
            head = store.head()
            self._catch_up(store, head)
            moved, changed = self.contents.make(changes, watermark)
            if changed:
                if head is None:
                    changed = {**self.contents.at_start(), **changed}
                self._token = append(store, head, changed)
        except BaseException:
            self._token = None  # it may hold what never was
            raise
        return moved

    def _catch_up(self, store: Store, head: Head | None) -> None:
        token = START if head is None else head.token
        if self.contents.is_outgrown:
            self._token = None
        if token == self._token:
            return
        missed = None if head is None or self._token is None else since(store, head, self._token)
        if missed is not None:
            self.contents.follow(missed)
        else:
            self.contents.fill(self.contents.at_start() if head is None else everything(store, head))
        self._token = token
