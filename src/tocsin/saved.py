"""Saved files, whatever they hold: an index of rules, whole or in shards, or the engine of a program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tocsin.arrays.array_file import ENGINE, INDEX, MAGIC, PROGRAM, kind_of, open_arrays
from tocsin.conditions.graph import is_sharded
from tocsin.errors import IndexFileError, telling
from tocsin.storage import ALWAYS, holds_journal

if TYPE_CHECKING:
    from tocsin.conditions.live import Index

SUFFIX = ".tocsin"


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a saved file, by its name or its contents."""
    file = Path(path)
    if file.name.endswith(SUFFIX) or is_sharded(file):
        return True
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


@telling("opening a saved index")
def open_rules(path: str | os.PathLike[str], *, verify: bool = True) -> Index:
    """Open a saved index of rules, whole or in shards; IndexFileError when it is damaged or another file."""
    if is_sharded(path):
        from tocsin.conditions.live import open_shards

        return open_shards(path, verify=verify)
    header, arrays = open_arrays(path, verify=verify)
    if kind_of(header) not in (INDEX, ENGINE):
        raise IndexFileError(f"{os.fspath(path)} is not an index of rules: it holds a {kind_of(header)}")
    return _rules_of_arrays(os.fspath(path), header, arrays, verify)


def _rules_of_arrays(
    name: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]], verify: bool
) -> Index:
    if kind_of(header) == ENGINE:
        from tocsin.engines import open_engine

        return open_engine(name, header, arrays, verify=verify)
    from tocsin.conditions.graph import index_of_arrays
    from tocsin.conditions.live import Index, SavedFile

    return Index(index_of_arrays(name, header, arrays, verify=verify), SavedFile.of(name, header))


@telling("opening a saved file")
def open_saved(path: str | os.PathLike[str], *, verify: bool = True, sync: str = ALWAYS) -> Any:
    """Open a saved Index or Engine; IndexFileError when it is damaged, foreign or of another version.

    `verify` reads the file through once; the header is always checked. A folder that ts.build wrote with
    shards gives an index whose rules cannot be changed. The folder of a journal gives its engine, which goes
    on with the journal, synced as `sync` says; JournalError when that is damaged or open elsewhere.
    """
    if holds_journal(path):
        from tocsin.datalog.engine import open_journalled

        return open_journalled(path, sync)
    if is_sharded(path):
        from tocsin.conditions.live import open_shards

        return open_shards(path, verify=verify)
    header, arrays = open_arrays(path, verify=verify)
    name = os.fspath(path)
    kind = kind_of(header)
    if kind in (INDEX, ENGINE):
        return _rules_of_arrays(name, header, arrays, verify)
    if kind == PROGRAM:
        from tocsin.datalog.engine import engine_of_arrays

        return engine_of_arrays(name, header, arrays)
    raise IndexFileError(f"{name} holds a {kind}, which this release does not know")
