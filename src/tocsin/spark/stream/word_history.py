"""The dictionaries of a stream that learns: a new version after each batch that had documents.

    words/00000003.json           version 3: of each field its file and how many documents it counts
    words/00000003-0.parquet      the dictionary of a field, such as Dictionary.open reads
    words/counts-00000007-5f1c/   what the tasks of one attempt at batch 7 have counted

A batch is matched with the version that was written down for it before it began, and version N + 1 is
version N and the documents of the batch that was matched with it. So a batch that is done again has the same
scores, and makes the same version once more: it is counted once, wherever the stream was killed. What tasks
count belongs to one attempt at a batch, as another may cut the batch into other tasks.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.conditions.live import Snapshot
from tocsin.errors import InputError
from tocsin.events import cells
from tocsin.spark.stream.checkpoint import read_json, write_json
from tocsin.spark.stream.document_counts import COUNTS, DocumentCounts
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.text import Dictionary, WordArrays

KEPT_WORDS = 3
"""Versions that are kept: that of the batch that may have to be done again is one of the last two."""

Dictionaries = dict[cells.Path, Dictionary]


@dataclass(frozen=True, slots=True)
class WordVersion:
    """Which dictionaries a batch is matched with. Small, and made to be pickled.

    number    counts up from 1
    path      the file that names those of the fields
    """

    number: int
    path: str

    def open(self) -> Dictionaries:
        """The dictionary of each field; InputError when one is not there, or damaged."""
        place = Path(self.path)
        return {tuple(each["field"]): Dictionary.open(place.parent / each["file"]) for each in _fields(place)}


@lru_cache(maxsize=2)
def weighed(rules: RuleVersion, words: WordVersion) -> Snapshot:
    """The rules with these dictionaries, made once in a process from those of the version before.

    How the filter is laid out depends on the versions that the process has seen, what it finds does not.
    """
    known = _newest.get(rules) or rules.open().version
    _newest.clear()
    _newest[rules] = known.reweighed(words.open())
    return _newest[rules]


_newest: dict[RuleVersion, Snapshot] = {}


class WordHistory:
    """The versions of the dictionaries that a stream has had, in the driver.

    They begin with those given until a batch `has_begun`: a stream that was started in vain may get others.
    """

    def __init__(
        self, folder: Path, given: Mapping[cells.Path, Dictionary], *, has_begun: bool = True
    ) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in folder.glob("[0-9]*.json")]
        self.latest = max(numbers, default=0)
        """The number of the newest version."""
        if not self.latest or not has_begun:
            self._write(1, [], given)

    def version(self, number: int) -> WordVersion:
        """A version that a batch was begun with, or the newest."""
        return WordVersion(number, str(self._path(number)))

    def counting(self, batch: int, fields: tuple[cells.Path, ...]) -> DocumentCounts:
        """What the tasks of this attempt at a batch count with."""
        folder = self._folder / f"counts-{batch:08d}-{uuid.uuid4().hex}"
        folder.mkdir()
        return DocumentCounts(str(folder), fields)

    def learn(self, known: WordVersion, counts: DocumentCounts) -> None:
        """Make the version after this one of what the tasks of its batch have counted, if there is any."""
        documents, tables = np.zeros(len(counts.fields), np.int64), [COUNTS.empty_table()]
        for part, table in counts.parts():
            documents += part
            tables.append(table)
        if documents.any():
            entries = _fields(Path(known.path))
            before = {tuple(each["field"]): each for each in entries}
            words = pa.concat_tables(tables)
            learnt: Dictionaries = {}
            for number, path in enumerate(counts.fields):
                if documents[number]:
                    new = _dictionary(words, number, int(documents[number]))
                    old = before.pop(path, None)
                    learnt[path] = Dictionary.open(self._folder / old["file"]).merge(new) if old else new
            self._write(known.number + 1, list(before.values()), learnt)
        shutil.rmtree(counts.folder, ignore_errors=True)

    def purge(self, needed: int) -> None:
        """Remove what no batch can need: versions well before `needed`, and what attempts have left."""
        versions = {int(path.stem): path for path in self._folder.glob("[0-9]*.json")}
        kept = [path for number, path in versions.items() if number > needed - KEPT_WORDS]
        files = {each["file"] for path in kept for each in _fields(path)}
        for path in self._folder.iterdir():
            if path.name.startswith("counts-"):
                shutil.rmtree(path, ignore_errors=True)
            elif path.name[0] != "." and path not in kept and path.name not in files:
                path.unlink(missing_ok=True)

    def _write(
        self, number: int, others: list[dict[str, Any]], changed: Mapping[cells.Path, Dictionary]
    ) -> None:
        """Write a version: fields that stay as they were, and those that have another dictionary."""
        entries = list(others)
        for place, (path, dictionary) in enumerate(changed.items()):
            file = f"{number:08d}-{place}.parquet"
            dictionary.save(self._folder / file)
            entries.append({"field": list(path), "file": file, "documents": dictionary.documents})
        write_json(self._path(number), {"version": number, "fields": entries})
        self.latest = number

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:08d}.json"


def _fields(path: Path) -> list[dict[str, Any]]:
    known = read_json(path)
    if known is None:
        raise InputError(f"{path}: this version of the dictionaries is not there any more")
    fields: list[dict[str, Any]] = known["fields"]
    return fields


def _dictionary(words: pa.Table, field: int, documents: int) -> Dictionary:
    """The dictionary of a field's documents, of what all tasks have counted."""
    own = words.filter(pc.equal(words["field"], field)).select(["word", "documents"])
    summed = own.group_by("word", use_threads=False).aggregate([("documents", "sum")]).sort_by("word")
    word = pa.concat_arrays([pa.array([], pa.large_string()), *summed["word"].chunks])
    counts = summed["documents_sum"].to_numpy()
    return Dictionary(WordArrays(word, counts, np.full(len(counts), np.nan)), documents, version=1)
