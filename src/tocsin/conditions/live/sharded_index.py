"""An index in shards: every question goes to all shards, or to the one that has the rule."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from tocsin.conditions.graph.shards import read_shards
from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.index import Index, open_file
from tocsin.conditions.live.layers import Layer
from tocsin.conditions.live.sharded_snapshot import ShardedSnapshot
from tocsin.errors import IndexFileError, UnsupportedError

_ARE_FIXED = "the rules of an index in shards cannot be changed: build it anew"


class ShardedRules:
    """The rules of several indexes, each rule in one of them: what ts.build writes with shards.

    They stay as they were built. `apply` and `compact` refuse when they are looked up: nobody hears first
    what is wrong with a change that cannot be made.
    """

    engine = Index.engine

    def __init__(self, shards: Sequence[Index]) -> None:
        self.shards = tuple(shards)
        self.title = f"tocsin.Index of {{rules}} in {len(self.shards)} shards"
        self._version = ShardedSnapshot([shard.version for shard in self.shards])

    @property
    def version(self) -> ShardedSnapshot:
        """The rules of all shards as they are now, and stay in what this gives."""
        shards = [shard.version for shard in self.shards]
        known = self._version
        if any(mine is not now for mine, now in zip(known.shards, shards, strict=True)):
            known = self._version = ShardedSnapshot(shards)
        return known

    @property
    def apply(self) -> Callable[[Sequence[Change]], None]:
        """Not here: UnsupportedError."""
        raise UnsupportedError(_ARE_FIXED)

    @property
    def compact(self) -> Callable[[], Layer]:
        """Not here: UnsupportedError."""
        raise UnsupportedError(_ARE_FIXED)

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """Not here: UnsupportedError."""
        raise UnsupportedError(f"cannot write {path}: an index in shards is a folder that ts.build writes")


def sharded_index(shards: Sequence[Index]) -> Index:
    """The rules of these indexes as one, in the order of the shards."""
    return Index(ShardedRules(shards))


def open_shards(path: str | os.PathLike[str], *, verify: bool = True) -> Index:
    """Open an index in shards; IndexFileError when one is damaged, missing or not the one of the others."""
    opened = []
    for shard in read_shards(path):
        opened.append(open_file(Path(path) / shard.file, verify=verify))
        if len(opened[-1]) != shard.rules:
            has = f"{len(opened[-1]):,} rules and should have {shard.rules:,}"
            raise IndexFileError(f"{path} is damaged: {shard.file} has {has}")
    return sharded_index(opened)
