"""How long it takes to add text rules: all at once to a fresh index, and to one that is in use."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from benchmarks.measuring import say
from benchmarks.text.corpus import Corpus
from benchmarks.text.matching import contains, rules_of
from benchmarks.text.workload import more_queries

import tocsin
from tocsin.text import Dictionary

IN_USE = 1_000
"""Rules that an index has before the others are added."""


def adding(corpus: Corpus, count: int) -> dict[str, Any]:
    """Processor seconds for so many rules: built, and inserted by one call."""
    say(f"  {count:,} queries are made")
    queries = more_queries(corpus, IN_USE + count)
    dictionary = Dictionary.count(corpus.documents)
    some = pa.table({"text": corpus.documents[:1]})
    _added(queries[:IN_USE], queries[IN_USE : IN_USE + 1_000], dictionary, some)
    say("  they are added")
    return _added(queries[:IN_USE], queries[IN_USE:], dictionary, some)


def _added(old: Sequence[str], new: Sequence[str], dictionary: Dictionary, some: pa.Table) -> dict[str, Any]:
    rules, changes = rules_of(new), _insertions(new)
    build = _taken(lambda: tocsin.build(rules, dictionaries={"text": dictionary}))
    index: Any = tocsin.build(rules_of(old), dictionaries={"text": dictionary})
    index.match_table(some, threads=1)
    apply = _taken(lambda: index.apply(changes))
    first_match = _taken(lambda: index.match_table(some, threads=1))
    return {
        "rules": len(new),
        "in_use": len(old),
        "build": build,
        "apply": apply,
        "first_match": first_match,
    }


def _insertions(queries: Sequence[str]) -> list[tuple[str, str, str]]:
    return [("insert", f"new{number}", contains(query)) for number, query in enumerate(queries)]


def _taken(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
