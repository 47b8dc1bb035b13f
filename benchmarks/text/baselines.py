"""What one would write in Python: find the queries whose rarest words are in a document, then ask each.

Both ways share the plan. Every query has *ways in*: words one of which any document that satisfies it
must have, the rarest that will do (of an AND those of its rarest operand, of an OR those of all, of a
phrase its rarest word). They differ in how a document's ways in are found:

    ByDictionary    the different words of the document, looked up
    ByAutomaton     pyahocorasick runs over its text

The queries behind a way in are one Python function, compiled once. The text has a space at either end,
so that a phrase is a search for ' two words ' in C, made only when all its words are there.

    def reached(words, text, found):                          behind the word golf
        if 'trophy' in words:                                 golf & trophy
            found(17)
        if 'club' in words and ' golf club ' in text:         "golf club"
            found(21)
        found(23)                                             golf | tennis

Documents must be lower-cased words parted by single spaces, as those of a Corpus are: `split` is then
the whole of cutting them, which is more than fair. Only what the queries of a Corpus use is known: no
gaps in phrases and no prefixes inside of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from typing import Any, NamedTuple

from tocsin.grammar.text.parsing import parse_query
from tocsin.grammar.text.query import Group, Leaf, Operation, TextQuery, Word

Reached = Callable[[set[str], str, Callable[[int], None]], None]
"""Takes a document's words, its text with a space at either end, and what to call for each match."""


AUTOMATON_PACKAGE = "ahocorasick"
"""What pyahocorasick is imported as."""


class ByDictionary:
    """The words of the document, looked up."""

    name = "dictionary over the document's words"

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, int]) -> None:
        plan = _Planner(frequencies, finds_prefixes=False).plan(queries)
        self._behind_words = {word.text: reached for word, reached in plan.items() if not word.is_prefix}
        self._behind_prefixes = {f" {word.text}": reached for word, reached in plan.items() if word.is_prefix}
        self._ways_in = frozenset(self._behind_words)

    def match(self, document: str) -> set[int]:
        """The numbers of the queries that hold."""
        words = set(document.split())
        text = f" {document} "
        found: set[int] = set()
        add = found.add
        for word in words & self._ways_in:
            self._behind_words[word](words, text, add)
        for prefix, reached in self._behind_prefixes.items():
            if prefix in text:
                reached(words, text, add)
        return found


class ByAutomaton:
    """An automaton over the text. Needs the package pyahocorasick."""

    name = "pyahocorasick over the text"

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, int]) -> None:
        automaton: Any = import_module(AUTOMATON_PACKAGE).Automaton()
        for word, reached in _Planner(frequencies, finds_prefixes=True).plan(queries).items():
            automaton.add_word(f" {word.text}" if word.is_prefix else f" {word.text} ", reached)
        automaton.make_automaton()
        self._automaton = automaton

    def match(self, document: str) -> set[int]:
        """The numbers of the queries that hold."""
        text = f" {document} "
        found: set[int] = set()
        add = found.add
        words = set(document.split())
        for reached in {reached for _, reached in self._automaton.iter(text)}:
            reached(words, text, add)
        return found


class _Part(NamedTuple):
    """A part of a query: in about how many documents its ways in are, and these."""

    cost: int
    ways_in: tuple[Word, ...]


ALWAYS = "True"


class _Planner:
    """Chooses ways in and writes the functions behind them.

    finds_prefixes    whether prefixes are ways in like any other; else only where there is none else
    """

    def __init__(self, frequencies: Mapping[str, int], *, finds_prefixes: bool) -> None:
        self._sorted = sorted(frequencies)
        self._before = [0, *accumulate(frequencies[word] for word in self._sorted)]
        self._frequencies = frequencies
        self._finds_prefixes = finds_prefixes

    def plan(self, queries: Sequence[str]) -> dict[Word, Reached]:
        """For each way in, the queries behind it as one function."""
        behind: defaultdict[Word, list[str]] = defaultdict(list)
        for number, text in enumerate(queries):
            query = parse_query(text)
            for word in dict.fromkeys(self._ways_in(query)):
                test = self._test(query, word)
                indent = "" if test == ALWAYS else f"if {test}:\n  "
                behind[word].append(f" {indent}found({number})")
        return dict(zip(behind, _compiled(list(behind.values())), strict=True))

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


def _compiled(bodies: Sequence[Sequence[str]]) -> list[Reached]:
    names: dict[str, Any] = {}
    source = "\n".join(
        f"def reached_{number}(words, text, found):\n" + "\n".join(lines)
        for number, lines in enumerate(bodies)
    )
    exec(compile(source, "<queries>", "exec"), names)  # noqa: S102
    return [names[f"reached_{number}"] for number in range(len(bodies))]
