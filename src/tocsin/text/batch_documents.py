"""The documents of a batch of events, field by field, made when first asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import EventBatch, Path
from tocsin.text.documents import documents_of
from tocsin.text.kernels.documents import Documents


class FieldDocuments(NamedTuple):
    """The documents of a field, and which event has which.

    row        int32[n]   events that have a string in the field, ascending
    document   int32[n]   the document of each; equal texts are one document
    """

    documents: Documents
    row: NDArray[np.int32]
    document: NDArray[np.int32]

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """The documents of some events, -1 for an event that has none."""
        of_row = np.full(max(int(rows.max(initial=-1)), int(self.row[-1])) + 1, -1, np.int32)
        of_row[self.row] = self.document
        return of_row[rows]


class FoundQueries(NamedTuple):
    """What one filter found in the documents of a field, with scores.

    start    int64[D+1]   queries of document d, ascending: query[start[d] : start[d + 1]]
    query    int32[...]
    score    float64[...]
    """

    start: NDArray[np.int64]
    query: NDArray[np.int32]
    score: NDArray[np.float64]


NOTHING_SEARCHED = FoundQueries(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))


class BatchDocuments:
    """The documents of one batch: however many layers of rules and scores need them, each is made once.

    wants_scores   whether the scores of what is found are worth keeping
    found          what filters found, by filter (its identity) and field, for the scores of matches
    """

    def __init__(self, batch: EventBatch, *, wants_scores: bool = False) -> None:
        self._batch = batch
        self._fields: dict[Path, FieldDocuments | None] = {}
        self.wants_scores = wants_scores
        self.found: dict[tuple[int, Path], FoundQueries] = {}

    def field(self, path: Path) -> FieldDocuments | None:
        """The documents at a path; None when no event has a string there."""
        if path not in self._fields:
            column = self._batch.columns.get(path)
            found = None
            if column is not None and column.strings is not None and len(column.strings.row):
                found = FieldDocuments(*documents_of(column.strings))
            self._fields[path] = found
        return self._fields[path]

    def is_empty(self, path: Path, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the events have an empty list there: a document without words."""
        column = self._batch.columns.get(path)
        return np.isin(rows, column.empty) if column is not None else np.zeros(len(rows), np.bool_)
