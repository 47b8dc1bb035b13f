"""Rules with an equality and a text, one of which is the better way in.

    half of them    b3 = 'y' and contains(text, 'rare417')              half of the events; one in a thousand
    the others      c2 = 'v88' and contains(text, 'usual4 | rare20')    one in a thousand; half of the events

Whoever indexes always the equality, or always the text, looks at half of half the rules for every event.
In a second set of rules the others ask for a lone usual word, so that thousands share each of ten queries:
then finding all the rules that have one costs little more than finding one, and there is less to choose.
"""

from __future__ import annotations

import random
import sys
import tempfile
from functools import partial
from typing import Any

import pyarrow as pa
from benchmarks.measuring import say
from benchmarks.text.repeating import seconds_of

import tocsin
from tocsin.conditions.graph import compile_rules
from tocsin.rules import Rules
from tocsin.text import TextFilter, documents_of_texts

SEED = 2026

EVEN_FIELDS = 10
"""Fields b0 ... of two values, each of half the events."""

RARE_FIELDS = 5
"""Fields c0 ... of a thousand values."""

RARITY = 1_000

USUAL_WORDS = 10
"""Words usual0 ... of half the documents."""

RARE_WORDS = 5
"""Words rare0 ... in a document, each of one document in a thousand."""

WAYS = ("auto", "structured", "text")
"""The optimiser's choice, always the equality, always the text: see tocsin.build."""

FILLING_WORDS = 10
"""Words in a document that no rule asks for."""


def mixed_rules(count: int, *, shared: bool = False, seed: int = SEED) -> pa.Table:
    """Half of the rules best found by their text, half by their equality, in a random order.

    shared    whether texts that hold for half of the events are the same in thousands of rules
    """
    rng = random.Random(seed)
    conditions: dict[str, None] = {}
    while len(conditions) < count // 2:
        equality = f"b{rng.randrange(EVEN_FIELDS)} = '{rng.choice('ny')}'"
        conditions[f"{equality} and {_contains(f'rare{rng.randrange(RARE_WORDS * RARITY)}')}"] = None
    while len(conditions) < count:
        equality = f"c{rng.randrange(RARE_FIELDS)} = 'v{rng.randrange(RARITY)}'"
        usual = f"usual{rng.randrange(USUAL_WORDS)}"
        query = usual if shared else f"{usual} | rare{rng.randrange(RARE_WORDS * RARITY)}"
        conditions[f"{equality} and {_contains(query)}"] = None
    when = list(conditions)
    rng.shuffle(when)
    return pa.table({"id": [f"r{number}" for number in range(count)], "when": when})


def mixed_events(count: int, seed: int = SEED) -> pa.Table:
    """Events as the rules expect them; no two documents are the same."""
    rng = random.Random(seed)
    columns = {f"b{field}": rng.choices("ny", k=count) for field in range(EVEN_FIELDS)}
    for field in range(RARE_FIELDS):
        columns[f"c{field}"] = [f"v{rng.randrange(RARITY)}" for _ in range(count)]
    columns["text"] = [_document(rng, number) for number in range(count)]
    return pa.table(columns)


def _contains(query: str) -> str:
    return f"contains(text, '{query}', boolean)"


def _document(rng: random.Random, number: int) -> str:
    words = [f"usual{word}" for word in range(USUAL_WORDS) if rng.random() < 0.5]
    words += [f"rare{word * RARITY + rng.randrange(RARITY)}" for word in range(RARE_WORDS)]
    words += [f"filling{rng.randrange(100)}" for _ in range(FILLING_WORDS - 1)]
    words.append(f"document{number}")
    rng.shuffle(words)
    return " ".join(words)


def mixed(rules: int, events: int, seconds: float) -> dict[str, Any]:
    """Seconds an event, each way into the rules; the optimiser knows other events of the same kind.

    Cutting the documents into words is the same for all, and taken off: as long as a filter takes over
    them that holds one query and finds nothing.
    """
    table = mixed_events(events)
    with tempfile.TemporaryDirectory() as folder:
        say("  Spark counts the statistics of other events")
        _count_statistics(mixed_events(events, SEED + 1), folder)
        say(f"  {rules:,} rules are matched with {events:,} events, each way")
        cutting = _cutting(table, seconds)
        kinds = {
            name: _each_way(mixed_rules(rules, shared=shared), table, folder, cutting, seconds)
            for name, shared in (("own", False), ("shared", True))
        }
    return {"rules": rules, "events": events, "cutting": cutting, "kinds": kinds}


def _each_way(
    rules: pa.Table, table: pa.Table, history: str, cutting: float, seconds: float
) -> dict[str, Any]:
    indexes: dict[str, Any] = {access: tocsin.build(rules, history=history, access=access) for access in WAYS}
    answers = {access: index.match_table(table, threads=1) for access, index in indexes.items()}
    for access, answer in answers.items():
        if not answer.equals(answers["auto"]):
            sys.exit(f"the matches are others with access={access}")
    ways = {}
    for access, index in indexes.items():
        whole = seconds_of(partial(index.match_table, table, threads=1), seconds) / table.num_rows
        ways[access] = {"whole": whole, "matching": whole - cutting}
    return {"matches": answers["auto"].num_rows / table.num_rows, "ways": ways}


def _count_statistics(events: pa.Table, folder: str) -> None:
    import tocsin.spark as ts

    session = ts.session(master="local[1]")
    try:
        ts.statistics(session.createDataFrame(events), folder, text=["text"])
    finally:
        session.stop()


def _cutting(table: pa.Table, seconds: float) -> float:
    """Seconds a document for cutting it and looking its words up."""
    texts = compile_rules(Rules.of([("r", _contains("nowhere"))])).texts
    text_filter = TextFilter(texts.queries, texts.terms, texts.trie, texts.base.words)
    documents = documents_of_texts([[text] for text in table["text"].to_pylist()])
    return seconds_of(lambda: text_filter.find(documents, 0), seconds) / (len(documents.elements) - 1)
