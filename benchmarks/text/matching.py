"""A corpus and its standing queries in tocsin, beside the baselines in Python.

All sides match the same documents, cutting them into words included, and are held to one answer before
any time counts. The corpus is matched again and again, each time as a table of its own: equal documents
in one table would be cut only once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.measuring import say
from benchmarks.text.baselines import AUTOMATON_PACKAGE, Baseline, ByAutomaton, ByDictionary, Together
from benchmarks.text.corpus import Corpus
from benchmarks.text.repeating import seconds_of
from benchmarks.text.workload import more_queries

from tocsin.conditions.graph import CompiledIndex, compile_rules
from tocsin.conditions.live import Index, Preparation
from tocsin.rules import Rules
from tocsin.text import Dictionary, TextFilter, documents_of_texts
from tocsin.text.kernels.trie_matches import CANDIDATES, FOUND


class Ours:
    """A rule for each query, and a dictionary that was counted on the documents."""

    def __init__(self, queries: Sequence[str], documents: Sequence[str]) -> None:
        self._documents = documents
        self.table = pa.table({"text": documents})
        dictionary = Dictionary.count(documents)
        preparation = Preparation.of(dictionaries={"text": dictionary})
        self._compiled: CompiledIndex = compile_rules(
            Rules.of(rules_of(queries)), base=preparation.base, planner=preparation.planner
        )
        self.index = Index(self._compiled)

    def run(self) -> pa.Table:
        """Match all documents, by the door."""
        return self.index.match_table(self.table, threads=1)

    def matches(self) -> list[list[int]]:
        """The queries that hold in each document, ascending."""
        found = self.run()
        order = np.asarray(found["event"])
        rule = np.asarray(found["rule"].cast(pa.int64()))
        by_document = np.split(rule, np.searchsorted(order, np.arange(1, len(self._documents))))
        return [sorted(each.tolist()) for each in by_document]

    def counts(self) -> list[int]:
        """What the filter does for all documents: see FOUND of text/kernels/trie_matches.py."""
        texts = self._compiled.texts
        text_filter = TextFilter(texts.queries, texts.terms, texts.trie, texts.base.words)
        found = text_filter.find(documents_of_texts([[text] for text in self._documents]), 0)
        counts: list[int] = found.count.tolist()
        return counts


def rules_of(queries: Sequence[str], readings: Iterable[str] = repeat("boolean")) -> pa.Table:
    """A rule for each query, named by its number; a reading is `boolean` or a threshold."""
    ids = [str(number) for number in range(len(queries))]
    return pa.table({"id": ids, "when": list(map(contains, queries, readings))})


def contains(query: str, reading: str = "boolean") -> str:
    """The condition that a query holds in the field text."""
    quoted = query.replace("'", "''")
    return f"contains(text, '{quoted}', {reading})"


def beside_baselines(corpus: Corpus, sizes: Sequence[int], at_least: float) -> list[dict[str, Any]]:
    """Seconds a document of tocsin and of each baseline, for so many queries."""
    return [_at_size(corpus, size, at_least) for size in sizes]


def _at_size(corpus: Corpus, size: int, at_least: float) -> dict[str, Any]:
    documents = corpus.documents
    say(f"  {size:,} queries are made and built")
    queries = more_queries(corpus, size)
    frequencies = corpus.document_frequencies()
    ours = Ours(queries, documents)
    together = Together(queries, frequencies)
    baselines: list[Baseline] = [ByDictionary(queries, frequencies)]
    if find_spec(AUTOMATON_PACKAGE) is None:
        say("  pyahocorasick is not installed: only the dictionary is compared (make bench-text installs it)")
    else:
        baselines.append(ByAutomaton(queries, frequencies))
    found = ours.matches()
    check_expected(corpus, found, size)
    for baseline in (*baselines, together):
        if [sorted(baseline.match(document)) for document in documents] != found:
            sys.exit(f"{size:,} queries: tocsin and the {baseline.name} differ")
    say(f"  {sum(map(len, found)):,} matches, all sides alike; matching is timed")
    counts = ours.counts()
    return {
        "queries": len(queries),
        "documents": len(documents),
        "matches": counts[FOUND] / len(documents),
        "candidates": counts[CANDIDATES] / counts[FOUND],
        "tocsin": seconds_of(ours.run, at_least) / len(documents),
        "baselines": {
            baseline.name: seconds_of(_pass(baseline, documents), at_least) / len(documents)
            for baseline in baselines
        },
        "together": seconds_of(_pass(together, documents), at_least) / len(documents),
    }


def check_expected(corpus: Corpus, found: Sequence[Sequence[int]], queries: int) -> None:
    """End the run unless, of the corpus's own queries, exactly those hold that are known to."""
    own = min(queries, len(corpus.queries))
    for document, (expected, numbers) in enumerate(zip(corpus.expected, found, strict=True)):
        if [number for number in numbers if number < own] != [n for n in expected if n < own]:
            sys.exit(f"document {document}: the matches are not the expected ones")


def _pass(baseline: Baseline, documents: Sequence[str]) -> Callable[[], None]:
    match = baseline.match

    def work() -> None:
        for document in documents:
            match(document)

    return work
