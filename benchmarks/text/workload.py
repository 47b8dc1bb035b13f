"""More queries of the kind that a corpus has: the same shapes as often, of words as frequent.

A new query takes a given one as its pattern, and puts in the place of each word, prefix and phrase
another that is as frequent in the documents: for "next token", which three of them have, another pair of
neighbours that three have; for a word that none has, another that none has.

Words drawn each for itself would hardly ever be in one document. So for a pattern that documents satisfy,
one of these and another document are chosen by lot: what the pattern finds in the one is drawn from the
other. What stands twice in the pattern stands twice in what is made of it.

How frequent is told by powers of two: a word of four documents is as frequent as one of seven.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from benchmarks.text.corpus import Corpus

from tocsin.text import Group, Leaf, TextQuery, parse_query, print_query
from tocsin.text.language.query import Word

SEED = 2026

TRIES = 50
"""Documents that are tried for one that has words as frequent as the pattern's."""


def more_queries(corpus: Corpus, count: int, seed: int = SEED) -> list[str]:
    """So many queries, no two alike: those of the corpus first, then others of their kind."""
    rng = random.Random(seed)
    patterns = [parse_query(text) for text in corpus.queries]
    satisfied: list[list[int]] = [[] for _ in patterns]
    for document, numbers in enumerate(corpus.expected):
        for number in numbers:
            satisfied[number].append(document)
    drawing = Drawing(corpus.documents, patterns, rng)
    queries = corpus.queries[:count]
    known = {print_query(pattern) for pattern in patterns}
    while len(queries) < count:
        number = rng.randrange(len(patterns))
        query = print_query(drawing.another_like(patterns[number], satisfied[number]))
        if query not in known:
            known.add(query)
            queries.append(query)
    return queries


class Drawing:
    """Draws words, prefixes and phrases by how frequent they are.

    In here each of them is its text: `token`, `tok*`, `next token`.
    """

    def __init__(self, documents: Sequence[str], patterns: Sequence[TextQuery], rng: random.Random) -> None:
        self._rng = rng
        leaves = {_text_of(leaf) for pattern in patterns for leaf in pattern.leaves()}
        self._phrase_lengths = sorted({text.count(" ") + 1 for text in leaves} - {1})
        self._prefix_lengths = sorted({len(text) - 1 for text in leaves if text.endswith("*")})
        self._holders: defaultdict[str, set[int]] = defaultdict(set)
        for number, document in enumerate(documents):
            for text in self._leaves_in(document.split()):
                self._holders[text].add(number)
        self._vocabulary = [text for text in self._holders if text.isalnum()]
        self._anywhere: defaultdict[Hashable, list[str]] = defaultdict(list)
        self._together: list[defaultdict[Hashable, list[str]]] = [defaultdict(list) for _ in documents]
        for text, holders in self._holders.items():
            frequency = self._frequency(text)
            self._anywhere[frequency].append(text)
            for number in holders:
                self._together[number][frequency].append(text)

    def another_like(self, pattern: TextQuery, satisfied_by: Sequence[int]) -> TextQuery:
        """A query of the pattern's shape; as these documents satisfy the pattern, so do some the query."""
        taken = self._from_one_document(pattern, self._rng.choice(satisfied_by)) if satisfied_by else {}
        steps: list[Leaf | Group] = []
        for step in pattern.steps:
            if isinstance(step, Leaf):
                text = _text_of(step)
                if text not in taken:
                    taken[text] = self._drawn(text)
                steps.append(Leaf(_words_of(taken[text]), step.gap, step.negated))
            else:
                steps.append(step)
        return TextQuery(tuple(steps))

    def _from_one_document(self, pattern: TextQuery, witness: int) -> dict[str, str]:
        """For what the pattern finds in the witness, as frequent ones that are together elsewhere."""
        found = {_text_of(leaf) for leaf in pattern.leaves() if not leaf.negated}
        wanted = {text: self._frequency(text) for text in sorted(found) if witness in self._holders_of(text)}
        for _ in range(TRIES):
            there = self._rng.choice(self._together)
            if all(frequency in there for frequency in wanted.values()):
                return {text: self._rng.choice(there[frequency]) for text, frequency in wanted.items()}
        return {}

    def _drawn(self, text: str) -> str:
        """Another that is as frequent, from anywhere."""
        if text in self._holders:
            return self._rng.choice(self._anywhere[self._frequency(text)])
        if " " not in text:
            return self._of_no_document(text)
        while (drawn := " ".join(self._drawn(word) for word in text.split())) in self._holders:
            pass
        return drawn

    def _of_no_document(self, pattern: str) -> str:
        """The beginning of one word and the end of another; a prefix is as long as its pattern."""
        while True:
            first, second = self._rng.choice(self._vocabulary), self._rng.choice(self._vocabulary)
            text = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
            if pattern.endswith("*"):
                text = (text + second + first)[: len(pattern) - 1] + "*"
                if len(text) < len(pattern):
                    continue
            if text not in self._holders:
                return text

    def _holders_of(self, text: str) -> set[int]:
        return self._holders.get(text, set())

    def _frequency(self, text: str) -> Hashable:
        """What those that may stand for each other have in common."""
        power = len(self._holders_of(text)).bit_length()
        if " " in text:
            return power, tuple(len(self._holders_of(word)).bit_length() for word in text.split())
        return power, len(text) if text.endswith("*") else 0

    def _leaves_in(self, words: Sequence[str]) -> Iterator[str]:
        """Every word, prefix and phrase of a document, of the lengths that patterns have."""
        for place, word in enumerate(words):
            yield word
            for length in self._prefix_lengths:
                if length <= len(word):
                    yield f"{word[:length]}*"
            for length in self._phrase_lengths:
                if place + length <= len(words):
                    yield " ".join(words[place : place + length])


def _text_of(leaf: Leaf) -> str:
    return " ".join(f"{word.text}*" if word.is_prefix else word.text for word in leaf.words)


def _words_of(text: str) -> tuple[Word, ...]:
    return tuple(Word(word.rstrip("*"), word.endswith("*")) for word in text.split())
