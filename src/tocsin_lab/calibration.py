"""The optimiser's constants, measured on this machine: what finding and asking predicates costs.

Each constant is the processor time of the loops that really do it over a small workload: the least of a few
runs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from tocsin.conditions.graph import CompiledIndex, compile_rules
from tocsin.conditions.matching import Matcher
from tocsin.conditions.planner import Costs
from tocsin.events import batch_of_table
from tocsin.rules import Rules
from tocsin.text import DocumentQueries, Documents, TextFilter, documents_of_texts, letters_of_queries

QUERIES = 20_000
DOCUMENTS = 1_000
WORDS_OF_DOCUMENT = 120
VOCABULARY = 4_000
EVENTS = 20_000
RUNS = 5
ASKED_OF_DOCUMENT = 10
"""DocumentQueries among which reading a document again is shared out: the planner knows no better."""
_LEAST = 1e-3


def calibrated() -> Iterator[tuple[str, float]]:
    """The constants of Costs by name, each as soon as it is measured."""
    chance = random.Random(1)
    words = [f"{_letters(number)}{number}" for number in range(VOCABULARY)]
    index = compile_rules(Rules.of(_text_rules(chance, words)))
    documents = documents_of_texts(
        [[" ".join(chance.choices(words, k=WORDS_OF_DOCUMENT))] for _ in range(DOCUMENTS)]
    )
    read, found = _text_found(index, documents)
    yield "text_found", found
    yield "text_hit", _text_hit(compile_rules(Rules.of(_usual_rules(chance, words))), documents)
    yield "text_asked", _text_asked(index, documents)
    yield "text_read", read / ASKED_OF_DOCUMENT
    found, asked = _structured(chance)
    yield "structured_found", found
    yield "structured_asked", asked


def costs_of(measured: dict[str, float]) -> Costs:
    """Measured constants; what is too small to be measured is taken as a thousandth of a nanosecond."""
    return Costs(**{name: max(_LEAST, value) for name, value in measured.items()})


def _letters(number: int) -> str:
    return "".join(chr(97 + (number // 26**place) % 26) for place in range(4))


def _text_rules(chance: random.Random, words: list[str]) -> list[tuple[str, str]]:
    return [
        (str(number), f"contains(text, '{' & '.join(chance.sample(words, 2))}', boolean)")
        for number in range(QUERIES)
    ]


def _usual_rules(chance: random.Random, words: list[str]) -> list[tuple[str, str]]:
    """Queries of which each document satisfies very many."""
    return [
        (str(number), f"contains(text, '{' | '.join(chance.sample(words, 30))}', boolean)")
        for number in range(QUERIES // 10)
    ]


def _text_found(index: CompiledIndex, documents: Documents) -> tuple[float, float]:
    """Time to read a document, and of a search beyond that, for a byte of terms."""
    read, searched, _ = _searching(index, documents)
    return read, searched / float(index.texts.terms.start[-1])


def _text_hit(index: CompiledIndex, documents: Documents) -> float:
    """Time of a search for each query that is found."""
    _, searched, found = _searching(index, documents)
    return searched / found


def _searching(index: CompiledIndex, documents: Documents) -> tuple[float, float, float]:
    """For a document: time to read it, time to search the filter, how many queries it satisfies."""
    texts = index.texts
    indexed = np.ones(len(texts.leaf), np.bool_)
    full = TextFilter.of(texts.queries, texts.terms, texts.base.words, indexed)
    empty = TextFilter.of(texts.queries, texts.terms, texts.base.words, ~indexed)
    read = _least_time(lambda: empty.find(documents, 0))
    searched = _least_time(lambda: full.find(documents, 0)) - read
    found = len(full.find(documents, 0).query)
    return read / DOCUMENTS, searched / DOCUMENTS, found / DOCUMENTS


def _text_asked(index: CompiledIndex, documents: Documents) -> float:
    """Time of asking every query of a document that is cut, for a byte of its words."""
    texts = index.texts
    some, queries = 20, len(texts.leaf)
    document = np.repeat(np.arange(some, dtype=np.int32), queries)
    query = np.tile(np.arange(queries, dtype=np.int32), some)
    questions = DocumentQueries(texts.queries, texts.terms, texts.base.words)
    all_pairs = _least_time(lambda: questions.ask(documents, document, query))
    one_each = _least_time(lambda: questions.ask(documents, document[::queries], query[::queries]))
    letters = some * int(letters_of_queries(texts.queries, texts.terms).sum())
    return (all_pairs - one_each) / letters


def _structured(chance: random.Random) -> tuple[float, float]:
    """Time to find an equality for an event, and to ask one where another holds, half of the time."""
    count = 1_000
    events = pa.table(
        {name: [chance.randrange(values) for _ in range(EVENTS)] for name, values in (("a", count), ("b", 2))}
    )
    lone = _matching(events, [f"a = {number}" for number in range(count)])
    pairs = _matching(events, [f"a = {number} and b = 1" for number in range(count)])
    return lone / EVENTS / count, max(0.0, pairs - lone) / (EVENTS / 2) / count


def _matching(events: pa.Table, conditions: list[str]) -> float:
    matcher = Matcher(compile_rules(Rules.of([(str(n), when) for n, when in enumerate(conditions)])))
    batch = batch_of_table(events, matcher.fields)
    return _least_time(lambda: matcher.match_batch(batch))


def _least_time(work: Callable[[], object]) -> float:
    """Nanoseconds of processor time, of the quickest run; the first, which may compile, does not count."""
    work()
    times = []
    for _ in range(RUNS):
        started = time.process_time_ns()
        work()
        times.append(time.process_time_ns() - started)
    return float(min(times))
