"""How a baseline looks for queries: by their rarest words, and then by a test in Python.

Every query has *ways in*: words one of which any document that satisfies it must have, the rarest that
will do (of an AND those of its rarest operand, of an OR those of all, of a phrase its rarest word). What
is left to test behind a way in is a Python expression over

    words    the set of the document's words
    text     the document with a space at either end, so that a phrase is a search for ' two words ', in C

    golf & trophy, found by golf      'trophy' in words
    "golf club", found by club        'golf' in words and ' golf club ' in text
    golf | tennis                     True

Only what the queries of a Corpus use is known: no gaps in phrases and no prefixes inside of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from tocsin.text import Group, Leaf, Operation, TextQuery, parse_query
from tocsin.text.language.query import Word

ALWAYS = "True"
"""The test of a query of which nothing is left to test."""


class _Part(NamedTuple):
    """A part of a query: in about how many documents its ways in are, and these."""

    cost: int
    ways_in: tuple[Word, ...]


class Planner:
    """Chooses the ways in, and writes tests as Python text.

    finds_prefixes    whether prefixes are ways in like any other; else only where there is none else
    """

    def __init__(self, frequencies: Mapping[str, int], *, finds_prefixes: bool) -> None:
        self._sorted = sorted(frequencies)
        self._before = [0, *accumulate(frequencies[word] for word in self._sorted)]
        self._frequencies = frequencies
        self._finds_prefixes = finds_prefixes

    def plan(self, queries: Sequence[str]) -> dict[Word, list[tuple[int, str]]]:
        """For each way in the queries behind it: their numbers, and what is left to test of them."""
        behind: defaultdict[Word, list[tuple[int, str]]] = defaultdict(list)
        for number, text in enumerate(queries):
            query = parse_query(text)
            for word in dict.fromkeys(self._ways_in(query)):
                behind[word].append((number, self._test(query, word)))
        return behind

    def _cost(self, word: Word) -> int:
        if not word.is_prefix:
            return self._frequencies.get(word.text, 0)
        if not self._finds_prefixes:
            return self._before[-1]
        first = bisect_left(self._sorted, word.text)
        last = bisect_left(self._sorted, word.text + chr(0x10FFFF))
        return self._before[last] - self._before[first]

    def _rarest(self, leaf: Leaf) -> Word:
        return min(leaf.words, key=self._cost)

    def _ways_in(self, query: TextQuery) -> tuple[Word, ...]:
        waiting: list[_Part | None] = []
        for step in query.steps:
            if isinstance(step, Leaf):
                word = self._rarest(step)
                waiting.append(None if step.negated else _Part(self._cost(word), (word,)))
                continue
            operands = [part for part in waiting[-step.arity :] if part is not None]
            del waiting[-step.arity :]
            if step.operation is Operation.AND:
                waiting.append(min(operands, key=lambda part: part.cost))
            else:
                cost = sum(part.cost for part in operands)
                waiting.append(_Part(cost, tuple(word for part in operands for word in part.ways_in)))
        (part,) = waiting
        assert part is not None
        return part.ways_in

    def _test(self, query: TextQuery, known: Word) -> str:
        """The query as Python, for documents that have the known word; tests likely to fail first."""
        waiting: list[tuple[int, str]] = []
        for step in query.steps:
            if isinstance(step, Leaf):
                cost = self._cost(self._rarest(step))
                test = self._leaf_test(step, known)
                waiting.append((len(self._before), f"not ({test})") if step.negated else (cost, test))
                continue
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            waiting.append(_group_test(step, operands))
        return waiting[0][1]

    def _leaf_test(self, leaf: Leaf, known: Word) -> str:
        if len(leaf.words) == 1:
            return ALWAYS if leaf.words[0] == known else _word_test(leaf.words[0])
        phrase = repr(f" {' '.join(word.text for word in leaf.words)} ") + " in text"
        words = sorted(dict.fromkeys(leaf.words), key=self._cost)
        return " and ".join([*(_word_test(word) for word in words if word != known), phrase])


def _word_test(word: Word) -> str:
    return f"{f' {word.text}'!r} in text" if word.is_prefix else f"{word.text!r} in words"


def _group_test(group: Group, operands: list[tuple[int, str]]) -> tuple[int, str]:
    assert group.operation is not Operation.ACCRUE
    tests = [test for _, test in sorted(operands)]
    if group.operation is Operation.AND:
        cost = min(cost for cost, _ in operands)
        return cost, " and ".join(f"({test})" for test in tests if test != ALWAYS) or ALWAYS
    cost = sum(cost for cost, _ in operands)
    return cost, ALWAYS if ALWAYS in tests else " or ".join(f"({test})" for test in reversed(tests))
