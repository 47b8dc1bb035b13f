"""Free text at work: documents in, the leaves they satisfy out; and what is asked of single matches.

find     every query that a document satisfies, by the trie filter
keeps    of matches found so far, those whose deferred conjuncts hold as well
scores   what each match carries
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.grammar.tree import Path
from tocsin.index.text.base import TextBase
from tocsin.index.text.batch import BatchDocuments
from tocsin.index.text.compiled import CompiledTexts
from tocsin.index.text.reading_room import ReadingRoom
from tocsin.index.text.trie_filter import TextFilter
from tocsin.kernels.text.asking import ask_pairs
from tocsin.kernels.text.documents import Documents

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]


class _Answers(NamedTuple):
    """What queries say of events, a row for each pair.

    known    bool[n]      whether the event has a document there at all
    holds    bool[n]      the Boolean reading
    score    float64[n]
    """

    known: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    score: NDArray[np.float64]


class TextMatcher:
    """The free text of a compiled index. Threads may share it."""

    def __init__(self, texts: CompiledTexts) -> None:
        self._texts = texts
        self._rules = texts.rules
        self._code = texts.queries
        self._group_of = {path: group for group, path in enumerate(texts.base.fields)}
        self._room = ReadingRoom(len(texts.terms.group))
        self._filter = TextFilter.from_arrays(texts.queries, texts.terms, texts.trie, texts.base.words)

    @property
    def base(self) -> TextBase:
        """Settings and dictionaries."""
        return self._texts.base

    @property
    def has_deferred(self) -> bool:
        """Whether matches are to be asked for deferred conjuncts."""
        return len(self._rules.deferred) > 0

    @property
    def has_scores(self) -> bool:
        """Whether some rule has free text."""
        return len(self._rules.score_query) > 0

    def fields(self) -> list[Path]:
        """The fields whose documents scores and deferred conjuncts may need."""
        return [self._texts.base.fields[group] for group in np.unique(self._code.group).tolist()]

    def find(self, path: Path, documents: Documents) -> tuple[Longs, Ints]:
        """The leaves that each document satisfies: leaf[start[d] : start[d + 1]]."""
        start, query = self._filter.find(documents, self._group_of[path])
        return start, self._texts.leaf[query]

    def keeps(self, documents: BatchDocuments, row: Longs, rule: Ints) -> NDArray[np.bool_]:
        """Which matches, of event row[i] with rule[i], also satisfy what was deferred."""
        start, deferred = self._rules.deferred_start, self._rules.deferred
        keeps = np.ones(len(rule), np.bool_)
        left = np.flatnonzero(start[rule + 1] > start[rule])
        step = 0
        while len(left):
            asked = deferred[start[rule[left]] + step]
            query, must_fail = asked >> 1, (asked & 1).astype(np.bool_)
            answers = self._ask(documents, row[left], query)
            threshold = self._code.threshold[query]
            holds = answers.holds & (np.isnan(threshold) | (answers.score >= threshold))
            good = answers.known & (holds != must_fail)
            keeps[left[~good]] = False
            step += 1
            left = left[good & (start[rule[left]] + step < start[rule[left] + 1])]
        return keeps

    def scores(self, documents: BatchDocuments, row: Longs, rule: Ints) -> NDArray[np.float64]:
        """The score of each match, of event row[i] with rule[i]; NaN for a rule without free text."""
        start = self._rules.score_start
        first, count = start[rule], start[rule + 1] - start[rule]
        match = np.repeat(np.arange(len(rule)), count)
        within = np.arange(len(match)) - np.repeat(np.cumsum(count) - count, count)
        query = self._rules.score_query[np.repeat(first, count) + within]
        answers = self._ask(documents, row[match], query)
        scores = np.full(len(rule), np.nan)
        scores[count > 0] = 0.0
        np.maximum.at(scores, match, answers.score)
        return scores

    def _ask(self, documents: BatchDocuments, row: Longs, query: Ints) -> _Answers:
        known, holds = np.zeros((2, len(row)), np.bool_)
        score = np.zeros(len(row))
        group = self._code.group[query]
        for each in np.unique(group).tolist():
            asked = np.flatnonzero(group == each)
            path = self._texts.base.fields[each]
            known[asked] = documents.is_empty(path, row[asked])
            field = documents.field(path)
            if field is None:
                continue
            document = field.at(row[asked])
            asked, document = asked[document >= 0], document[document >= 0]
            order = np.argsort(document, kind="stable")
            asked, document = asked[order], document[order]
            known[asked] = True
            with self._room.lent(field.documents) as words:
                holds[asked], score[asked] = ask_pairs(
                    self._code,
                    self._texts.terms,
                    self._texts.base.words,
                    field.documents,
                    document.astype(np.int32),
                    query[asked],
                    words,
                )
        return _Answers(known, holds, score)
