"""The dictionaries of a watch that learns: each change of a row is a batch, and makes the next version.

A change learns the documents of the row that comes, in the fields that free text asks of such rows; of an
update that is the new row, with the one before it where a trigger asks for that; of a deletion nothing. The
alerts of a change go by the version before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.conditions.language import Path
from tocsin.conditions.meaning import document_at
from tocsin.rules import event_with
from tocsin.text import LARGEST_IDF, LEAST_IDF, Dictionary, WordArrays
from tocsin.watches.table_contents import Row


class Asked(NamedTuple):
    """A field that free text asks of rows, perhaps with the row before the change in them."""

    with_old: bool
    path: Path


Documents = dict[Path, list[str]]


def documents_of(row: Row, old: Row | None, asked: Iterable[Asked]) -> Documents:
    """The documents of a row that comes."""
    found: Documents = {}
    for each in asked:
        event = event_with(row, old) if each.with_old else row
        document = document_at(event, each.path)
        if document is not None:
            found[each.path] = document
    return found


class LearntWords:
    """The dictionary of each field, and its version: that of all of them together, from 1."""

    def __init__(self, given: Mapping[Path, Dictionary], version: int = 1) -> None:
        self.version = version
        self._known = dict(given)
        self._pending: dict[Path, list[list[str]]] = {}

    def learn(self, documents: Documents) -> None:
        """Count the documents of a change. Words are put in order when they are next asked for."""
        for path, document in documents.items():
            self._pending.setdefault(path, []).append(document)
        self.version += bool(documents)

    def dictionaries(self) -> Mapping[Path, Dictionary]:
        """The dictionaries of the present version, which stay as they are."""
        for path, documents in self._pending.items():
            new = Dictionary.count(documents)
            self._known[path] = self._known[path].merge(new) if path in self._known else new
        self._pending = {}
        return dict(self._known)

    # ---- In a journal

    def records(self) -> Iterator[tuple[int, str, Row]]:
        """The version, and of each field its name and what is known of it, as values that a journal keeps."""
        for path, dictionary in self.dictionaries().items():
            word, documents, given = dictionary.arrays
            numbers = np.flatnonzero(~np.isnan(given))
            row: dict[str, Any] = {
                "documents": dictionary.documents,
                "words": word.to_pylist(),
                "counts": documents.tolist(),
                "given": [[number, float(given[number])] for number in numbers.tolist()],
            }
            yield self.version, json.dumps(path), row

    def take(self, version: int, name: str, row: Row) -> None:
        """Have what `records` gave of a field; ValueError or the like when it cannot be understood."""
        words: Sequence[str] = row["words"]
        counts = np.array(row["counts"], np.int64)
        given = np.full(len(words), np.nan)
        for number, idf in row["given"]:
            given[number] = idf
        path, total = tuple(map(str, json.loads(name))), int(row["documents"])
        fits = len(counts) == len(words) and bool(((counts >= 0) & (counts <= total)).all())
        fits &= all(idf == 0 or LEAST_IDF <= idf <= LARGEST_IDF for _, idf in row["given"])
        if not fits or list(words) != sorted(set(words), key=str.encode):
            raise ValueError(f"the dictionary of {name:.100} is none")
        self._known[path] = Dictionary(WordArrays(pa.array(words, pa.large_string()), counts, given), total)
        self.version = version
