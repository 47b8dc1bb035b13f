"""Free text at work: documents in, the leaves they satisfy out; and what is asked of single matches.

find     every query that a document satisfies, by the trie filter
keeps    of matches found so far, those whose deferred conjuncts hold as well
scores   what each match carries
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.events import Path
from tocsin.text.compiled_texts import CompiledTexts
from tocsin.text.documents import EventDocuments, SearchedEvent, documents_of_texts
from tocsin.text.kernels.rule_queries import ELSEWHERE, UNSEARCHED, take_scores
from tocsin.text.kernels.trie_matches import FoundQueries
from tocsin.text.text_base import TextBase
from tocsin.text.trie_filter import TextFilter

_NOTHING_SEARCHED = FoundQueries(
    np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0, np.int64)
)


class FoundLeaves(NamedTuple):
    """The leaves that events satisfy by their texts in a field.

    row        int32[n]     events that have a document there, ascending
    document   int32[n]     the document of each
    start      int64[D+1]   leaves of document d: leaf[start[d] : start[d + 1]]
    leaf       int32[...]
    """

    row: Ints
    document: Ints
    start: Longs
    leaf: Ints


class _Answers(NamedTuple):
    """What queries say of events, a row for each pair.

    known    bool[n]      whether the event has a document there at all
    holds    bool[n]      the Boolean reading
    score    float64[n]
    """

    known: Flags
    holds: Flags
    score: Doubles


class TextMatcher:
    """The free text of a compiled index. Threads may share it."""

    def __init__(self, texts: CompiledTexts) -> None:
        self._texts = texts
        self._rules = texts.rules
        self._code = texts.queries
        self._group_of = {path: group for group, path in enumerate(texts.base.fields)}
        self._filter = TextFilter(texts.queries, texts.terms, texts.trie, texts.base.words)
        self._searched = frozenset(texts.queries.group[texts.trie.is_indexed].tolist())
        is_indexed = np.ones(len(texts.leaf), np.bool_)
        is_indexed[texts.rules.deferred >> 1] = False
        self._is_decided = is_indexed & ~(texts.queries.threshold > 0)

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

    @cached_property
    def fields(self) -> list[Path]:
        """The fields whose documents scores and deferred conjuncts may need."""
        return [self._texts.base.fields[group] for group in np.unique(self._code.group).tolist()]

    def find(self, path: Path, documents: EventDocuments) -> FoundLeaves | None:
        """What is found in a field, None when no event has a document there.

        Scores are kept with the documents if those want them.
        """
        field = documents.field(path)
        if field is None:
            return None
        group = self._group_of[path]
        if group not in self._searched:  # all its queries are deferred: documents are not even cut
            start = np.zeros(len(field.documents.elements), np.int64)
            return FoundLeaves(field.row, field.document, start, np.empty(0, np.int32))
        found = self._filter.find(field.documents, group, with_scores=documents.wants_scores)
        if documents.wants_scores:
            documents.found[id(self), path] = found
        return FoundLeaves(field.row, field.document, found.start, self._texts.leaf[found.query])

    def find_strings(self, documents: EventDocuments, texts: dict[Path, list[str]]) -> Ints:
        """The leaves that a single event satisfies by the strings that it has in fields."""
        documents.strings |= texts
        groups = {self._group_of[path]: strings for path, strings in texts.items() if strings}
        asked = [group for group in groups if group in self._searched]
        if not asked:
            return np.empty(0, np.int32)
        given = documents_of_texts([groups[group] for group in asked])
        searched = np.array(asked, np.int32)
        found = self._filter.find_in_groups(given, searched, with_scores=documents.wants_scores)
        if documents.wants_scores:
            documents.searched[id(self)] = SearchedEvent(searched, given, found)
        return self._texts.leaf[found.query]

    def keeps(self, documents: EventDocuments, row: Longs, rule: Ints) -> Flags:
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

    def scores(self, documents: EventDocuments, row: Longs, rule: Ints) -> Doubles:
        """The score of each match, of event row[i] with rule[i]; NaN for a rule without free text.

        A query that was searched for and not found scores 0, unless it is its threshold that failed: then,
        and when nothing was searched, it is asked.
        """
        start = self._rules.score_start
        has_score = start[rule + 1] > start[rule]
        score = np.where(has_score, 0.0, np.nan)
        if not has_score.any():
            return score
        for document, at, found in self._searches(documents, row):
            match, query = take_scores(
                document, at, rule, self._rules, self._code.group, self._is_decided, found, score
            )
            if len(match):
                np.maximum.at(score, match, self._asked_scores(documents, row[match], query, at))
        return score

    def _asked_scores(self, documents: EventDocuments, row: Longs, query: Ints, at: Ints) -> Doubles:
        """The scores of queries that are left to be asked; a single event's documents that were searched are
        asked as they are."""
        place = at[self._code.group[query]]
        searched = documents.searched.get(id(self))
        if searched is None or place.min() < 0:
            return self._ask(documents, row, query).score
        if len(searched.groups) == 1:
            return self._filter.scores(searched.documents, place, query)
        order = np.argsort(place, kind="stable")
        score = np.empty(len(query))
        score[order] = self._filter.scores(searched.documents, place[order], query[order])
        return score

    def _searches(self, documents: EventDocuments, row: Longs) -> Iterator[tuple[Ints, Ints, FoundQueries]]:
        """What was found in the documents of events: all of a single event's, or those of a field.

        With the document of each row, and for each text group where its documents begin: see take_scores.
        """
        at = np.full(len(self._texts.base.fields), ELSEWHERE, np.int32)
        if documents.batch is None:
            for path, strings in documents.strings.items():
                if strings and path in self._group_of:
                    at[self._group_of[path]] = UNSEARCHED
            searched = documents.searched.get(id(self))
            if searched is not None:
                at[searched.groups] = np.arange(len(searched.groups))
            found = _NOTHING_SEARCHED if searched is None else searched.found
            yield np.zeros(len(row), np.int32), at, found
            return
        for path in self.fields:
            field = documents.field(path)
            if field is not None:
                known = documents.found.get((id(self), path))
                at.fill(ELSEWHERE)
                at[self._group_of[path]] = UNSEARCHED if known is None else 0
                yield field.at(row), at, known or _NOTHING_SEARCHED

    def _ask(self, documents: EventDocuments, row: Longs, query: Ints) -> _Answers:
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
            holds[asked], score[asked] = self._filter.ask(field.documents, document, query[asked])
        return _Answers(known, holds, score)
