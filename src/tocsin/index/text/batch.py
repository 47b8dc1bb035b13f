"""The documents of a batch of events, field by field, made when first asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import EventBatch, Path
from tocsin.index.text.documents import documents_of
from tocsin.kernels.text.documents import Documents


class FieldDocuments(NamedTuple):
    """The documents of a field, and which event has which.

    row        int32[n]   events that have a string in the field, ascending
    document   int32[n]   the document of each; equal texts are one document
    """

    documents: Documents
    row: NDArray[np.int32]
    document: NDArray[np.int32]

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The documents of some events, -1 for an event that has none."""
        place = np.searchsorted(self.row, rows)
        place[place == len(self.row)] = 0
        return np.where(self.row[place] == rows, self.document[place], -1)


class FoundQueries(NamedTuple):
    """The pairs of a document and a query that one filter found in a field, with scores.

    pair     int64[n]     document * queries + query, ascending
    score    float64[n]
    """

    pair: NDArray[np.int64]
    score: NDArray[np.float64]
    queries: int

    @staticmethod
    def of(
        start: NDArray[np.int64], query: NDArray[np.int32], score: NDArray[np.float64], queries: int
    ) -> FoundQueries:
        """From the queries of each document, ascending; there are so many queries in all."""
        document = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return FoundQueries(document * queries + query, score, queries)

    def scores_of(
        self, document: NDArray[np.int64], query: NDArray[np.int32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Which pairs were found, and their scores."""
        if not len(self.pair):
            return np.zeros(len(query), np.bool_), np.zeros(len(query))
        wanted = document * self.queries + query
        place = np.minimum(np.searchsorted(self.pair, wanted), len(self.pair) - 1)
        is_there = (self.pair[place] == wanted) & (document >= 0)
        return is_there, np.where(is_there, self.score[place], 0.0)


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
