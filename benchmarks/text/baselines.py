"""What one would write in Python: find the queries whose rarest words are in a document, then test each.

    ByDictionary    the different words of the document are looked up; each query a compiled function
    ByAutomaton     pyahocorasick runs over its text; each query a compiled function
    Together        as ByDictionary, but all queries behind a word are compiled to one function:

        def reached(words, text, found):                          behind the word golf
            if 'trophy' in words:                                 golf & trophy
                found(17)
            if 'club' in words and ' golf club ' in text:         "golf club"
                found(21)
            found(23)                                             golf | tennis

Which words, and what is tested behind them: baseline_plan.py. Documents must be lower-cased words parted by
single spaces, as those of a Corpus are. `split` is then the whole of cutting them, which is more than fair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from benchmarks.text.baseline_plan import ALWAYS, Planner

AUTOMATON_PACKAGE = "ahocorasick"
"""What pyahocorasick is imported as."""

Test = Callable[[set[str], str], bool]
"""Takes a document's words, and its text with a space at either end."""

Checks = list[tuple[int, Test]]


class Baseline(Protocol):
    """Made of queries and the number of documents that each word is in."""

    name: str

    def match(self, document: str) -> set[int]:
        """The numbers of the queries that hold."""


class ByDictionary:
    """The words of the document, looked up."""

    name = "dictionary over the document's words"

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, int]) -> None:
        plan = Planner(frequencies, finds_prefixes=False).plan(queries)
        self._behind_words = {word.text: _tests(left) for word, left in plan.items() if not word.is_prefix}
        self._behind_prefixes = {
            f" {word.text}": _tests(left) for word, left in plan.items() if word.is_prefix
        }
        self._ways_in = frozenset(self._behind_words)

    def match(self, document: str) -> set[int]:
        words = set(document.split())
        text = f" {document} "
        found: set[int] = set()
        for word in words & self._ways_in:
            for number, test in self._behind_words[word]:
                if test(words, text):
                    found.add(number)
        for prefix, checks in self._behind_prefixes.items():
            if prefix in text:
                found.update(number for number, test in checks if test(words, text))
        return found


class ByAutomaton:
    """An automaton over the text. Needs the package pyahocorasick."""

    name = "pyahocorasick over the text"

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, int]) -> None:
        automaton: Any = import_module(AUTOMATON_PACKAGE).Automaton()
        for word, left in Planner(frequencies, finds_prefixes=True).plan(queries).items():
            key = f" {word.text}" if word.is_prefix else f" {word.text} "
            automaton.add_word(key, (key, _tests(left)))
        automaton.make_automaton()
        self._automaton = automaton

    def match(self, document: str) -> set[int]:
        words = set(document.split())
        text = f" {document} "
        found: set[int] = set()
        for checks in dict(reached for _, reached in self._automaton.iter(text)).values():
            for number, test in checks:
                if test(words, text):
                    found.add(number)
        return found


class Together:
    """The words of the document, looked up; what is behind each is one function."""

    name = "dictionary, the queries behind a word compiled together"

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, int]) -> None:
        plan = Planner(frequencies, finds_prefixes=False).plan(queries)
        functions = dict(zip(plan, _functions(list(plan.values())), strict=True))
        self._behind_words = {word.text: each for word, each in functions.items() if not word.is_prefix}
        self._behind_prefixes = {f" {word.text}": each for word, each in functions.items() if word.is_prefix}
        self._ways_in = frozenset(self._behind_words)

    def match(self, document: str) -> set[int]:
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


def _tests(left: Sequence[tuple[int, str]]) -> Checks:
    """What is left to test of queries, each as a function."""
    source = ",".join(f"({number}, lambda words, text: {test})" for number, test in left)
    checks: Checks = eval(f"[{source}]")
    return checks


def _functions(
    behind: Sequence[Sequence[tuple[int, str]]],
) -> list[Callable[[set[str], str, Callable[[int], None]], None]]:
    """For each way in what is left to test of all queries behind it, as one function."""
    names: dict[str, Any] = {}
    source = "\n".join(
        f"def reached_{place}(words, text, found):\n{''.join(map(_lines, left))}"
        for place, left in enumerate(behind)
    )
    exec(compile(source, "<queries>", "exec"), names)  # noqa: S102
    return [names[f"reached_{place}"] for place in range(len(behind))]


def _lines(number_and_test: tuple[int, str]) -> str:
    number, test = number_and_test
    return f" found({number})\n" if test == ALWAYS else f" if {test}:\n  found({number})\n"
