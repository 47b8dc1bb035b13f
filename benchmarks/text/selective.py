"""What selective indexing saves: words that no match of a query with a threshold needs get no posting.

The queries are lists of words of one document, as a reader's interests are, with thresholds from 1.2 up:
a match needs at least threshold² of the words, so all but that many of them, less one, must be indexed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.measuring import say
from benchmarks.text.corpus import Corpus
from benchmarks.text.matching import rules_of
from benchmarks.text.repeating import seconds_of

from tocsin.conditions.graph import compile_rules
from tocsin.conditions.live import Preparation
from tocsin.rules import Rules
from tocsin.text import Dictionary, TextFilter, documents_of_texts
from tocsin.text.kernels.trie import HUNG
from tocsin.text.kernels.trie_matches import FOUND, HIT

SEED = 2026
THRESHOLDS = (1.2, 1.5, 1.8, 2.1)
WORDS = range(5, 13)


def interests(documents: Sequence[str], count: int, seed: int = SEED) -> list[tuple[str, float]]:
    """So many lists of words and the threshold of each."""
    rng = random.Random(seed)
    words = [sorted(set(document.split())) for document in documents]
    words = [each for each in words if len(each) >= WORDS.stop]
    return [
        (", ".join(rng.sample(rng.choice(words), rng.choice(WORDS))), rng.choice(THRESHOLDS))
        for _ in range(count)
    ]


def selective_indexing(corpus: Corpus, count: int, at_least: float) -> dict[str, Any]:
    """Postings, and seconds a document, with selective indexing and without."""
    say(f"  {count:,} lists of words are indexed both ways")
    queries = interests(corpus.documents, count)
    preparation = Preparation.of(dictionaries={"text": Dictionary.count(corpus.documents)})
    rules = rules_of([query for query, _ in queries], [str(threshold) for _, threshold in queries])
    texts = compile_rules(Rules.of(rules), base=preparation.base, planner=preparation.planner).texts
    documents = documents_of_texts([[text] for text in corpus.documents])
    indexed = np.ones(len(texts.leaf), np.bool_)
    figures: dict[str, Any] = {"queries": count}
    answers = []
    for name, selective in (("all words", False), ("selective", True)):
        found = TextFilter.of(texts.queries, texts.terms, texts.base.words, indexed, selective=selective)
        answer = found.find(documents, 0)
        answers.append((answer.start, answer.query))
        figures[name] = {
            "postings": len(found.trie.predicate) // HUNG,
            "reached": int(answer.count[HIT]) / len(corpus.documents),
            "matches": int(answer.count[FOUND]) / len(corpus.documents),
            "seconds": seconds_of(lambda: found.find(documents, 0), at_least) / len(corpus.documents),  # noqa: B023
        }
    for one, other in zip(*answers, strict=True):
        if not np.array_equal(one, other):
            sys.exit("selective indexing changes matches")
    return figures
