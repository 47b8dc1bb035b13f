"""Random text queries, documents and word weights, made from any source of choices.

Written like cases.py: `random.Random` is such a source for seeded loops, and the strategies at the end
let Hypothesis choose. The vocabulary is small, so that queries do find something: words that are
prefixes of each other, words of several scripts, and spellings that normalise to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from tests.cases import Choices
from tests.strategies import Drawn

from tocsin.text import Group, Leaf, Operation, TextQuery
from tocsin.text.language.query import ANY_GAP, Word

WORDS = ("a", "b", "ab", "abc", "b2", "golf", "golfer", "a_b", "日", "本", "é", "strasse", "ア", "я")
"""Normalised words. Queries ask for them, and documents are mostly made of them."""

SPELLINGS = {
    "a": ("a", "A", "Ａ", "ª"),
    "b": ("b", "B", "𝐛"),
    "ab": ("ab", "AB", "aB"),
    "abc": ("abc", "ABC", "ａbc"),
    "b2": ("b2", "B²", "b②"),
    "golf": ("golf", "Golf", "GOLF"),
    "golfer": ("golfer", "GOLFER"),
    "a_b": ("a_b", "A_B", "a＿b"),
    "é": ("é", "É", "e\u0301", "E\u0301"),
    "strasse": ("strasse", "Straße", "STRASSE", "stra\u1e9ee"),
    "ア": ("ア", "ｱ"),
    "я": ("я", "Я"),
}
"""How documents and queries may write a word; one that is not here is written as it is."""

OTHERS = ("x", "zebra", "golfe", "а", "ﬁn", "½", "中", "か", "\u0301", "ß", "İ", "٣")
"""What documents hold besides: words that no query asks for, some of which normalise to several."""

SEPARATORS = (
    " ",
    " ",
    " ",
    ", ",
    "-",
    ". ",
    "\n",
    "\0",
    "🙂",
    "\u3000",
    "\u200d",
    "…",
    "'",
    '"',
    " \ud7ff\ue000 ",
)
"""What parts words."""

LONE = frozenset("日本アか中")
"""Words that need nothing to part them from their neighbours."""

IDFS = (0.0, 0.5, 1.0, 1.0, 2.0, 0.1, 1 / 3, 7.25)
"""Word weights, few enough for ties."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Word weights written down: an idf for some words, and one for all others."""

    known: Mapping[str, float]
    unknown: float = 1.0

    def idf(self, word: str) -> float:
        return self.known.get(word, self.unknown)


def make_leaf(choices: Choices) -> Leaf:
    """A word, prefix or phrase without negation."""
    count = choices.choice((1, 1, 1, 1, 2, 2, 3, 4))
    words = tuple(
        Word(choices.choice(WORDS), choices.choice((False, False, False, True))) for _ in range(count)
    )
    return Leaf(words, choices.choice((0, 0, 1, 2, ANY_GAP)) if count > 1 else 0)


def make_query(choices: Choices, largest: int = 4, deepest: int = 3) -> TextQuery:
    """A query that keeps every rule of the language."""
    steps: list[Leaf | Group] = []
    todo: list[Group | tuple[int, Operation | None, bool]] = [(0, None, False)]
    while todo:
        item = todo.pop()
        if isinstance(item, Group):
            steps.append(item)
            continue
        depth, above, may_negate = item
        operations = [each for each in Operation if each is not above]
        if depth == deepest or (choices.randint(0, 2) < 2 if depth else choices.randint(0, 7) == 0):
            leaf = make_leaf(choices)
            negated = may_negate and choices.randint(0, 3) == 0
            steps.append(Leaf(leaf.words, leaf.gap, negated))
            continue
        operation = choices.choice(operations)
        arity = choices.randint(2, largest)
        plain = choices.randint(0, arity - 1)
        todo.append(Group(operation, arity))
        todo.extend(
            (depth + 1, operation, operation is not Operation.OR and place != plain) for place in range(arity)
        )
    return TextQuery(tuple(steps))


def make_flat_query(choices: Choices, operation: Operation, most: int = 6) -> TextQuery:
    """A query of one group, some of its operands negated where that may be."""
    arity = choices.randint(2, most)
    plain = choices.randint(0, arity - 1)
    steps: list[Leaf | Group] = []
    for place in range(arity):
        leaf = make_leaf(choices)
        may_negate = operation is not Operation.OR and place != plain
        steps.append(Leaf(leaf.words, leaf.gap, may_negate and choices.randint(0, 2) == 0))
    return TextQuery((*steps, Group(operation, arity)))


def make_query_text(choices: Choices, query: TextQuery) -> str:
    """A query written in one of the many ways that read as it."""
    operands = query.operands()
    written: list[str] = []
    todo: list[str | int] = [len(query.steps) - 1]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        step = query.steps[item]
        if isinstance(step, Leaf):
            written.append(_leaf_text(choices, step))
            continue
        parts: list[str | int] = ["("]
        for number, operand in enumerate(operands[item]):
            if number:
                parts.append(choices.choice(_BETWEEN[step.operation]))
            parts.append(operand)
        parts.append(")" + choices.choice(("", " ")))
        todo.extend(reversed(parts))
    text = "".join(written)
    return choices.choice(("", " ", "\n")) + text


_BETWEEN = {
    Operation.AND: (" & ", "&", " AND ", "\tAND\n"),
    Operation.OR: (" | ", "|", " OR "),
    Operation.ACCRUE: (", ", ",", " ", "  "),
}


def _leaf_text(choices: Choices, leaf: Leaf) -> str:
    words = [spelled(choices, word.text) + "*" * word.is_prefix for word in leaf.words]
    negation = choices.choice(("!", "! ", "NOT ")) if leaf.negated else ""
    if len(words) == 1:
        return negation + choices.choice((words[0], f'"{words[0]}"'))
    if leaf.gap == 0:
        inside = choices.choice((" ", "  ", "-", ", ")).join(words)
        return f'{negation}"{inside}"' + choices.choice(("", "", "~0"))
    gap = "~*" if leaf.gap == ANY_GAP else choices.choice((f"~{leaf.gap}", f"~00{leaf.gap}"))
    return f'{negation}"{" ".join(words)}"{gap}'


def spelled(choices: Choices, word: str) -> str:
    """A normalised word as somebody may write it."""
    return choices.choice(SPELLINGS.get(word, (word,)))


def make_text(choices: Choices, longest: int = 12) -> str:
    """A text of words and what parts them; some are empty, some without any word."""
    pieces: list[str] = [choices.choice(("", "", *SEPARATORS))]
    for _ in range(choices.randint(0, longest)):
        word = spelled(choices, choices.choice(WORDS)) if choices.randint(0, 5) else choices.choice(OTHERS)
        pieces.append(word)
        pieces.append("" if word in LONE and choices.randint(0, 1) else choices.choice(SEPARATORS))
    return "".join(pieces)


def make_document(choices: Choices, longest: int = 12) -> list[str]:
    """The elements of a field: mostly one text, else a list of none to three."""
    elements = choices.choice((1, 1, 1, 1, 2, 3, 0))
    return [make_text(choices, longest) for _ in range(elements)]


def make_weights(choices: Choices) -> Weights:
    """An idf for each word, a few of them 0 and a few unknown."""
    known = {word: choices.choice(IDFS) for word in WORDS if choices.randint(0, 4)}
    return Weights(known, choices.choice(IDFS))


_HOSTILE = (*'&|!,()"~*', "AND", "OR", "NOT", " ", " ", '"', "~2", "~*", "\0", "🙂", "\n", "…", "e-mail", "#")


def make_hostile_text(choices: Choices, longest: int = 14) -> str:
    """Pieces of queries in any order: most of these are wrong, and some are queries."""
    pieces = [
        spelled(choices, choices.choice(WORDS)) if choices.randint(0, 1) else choices.choice(_HOSTILE)
        for _ in range(choices.randint(0, longest))
    ]
    return choices.choice(("", " ")).join(pieces)


@st.composite
def text_queries(draw: st.DrawFn, largest: int = 4, deepest: int = 3) -> TextQuery:
    """Queries of every shape."""
    return make_query(Drawn(draw), largest, deepest)


@st.composite
def flat_queries(draw: st.DrawFn, operations: Sequence[Operation] = tuple(Operation)) -> TextQuery:
    """Queries of one group."""
    choices = Drawn(draw)
    return make_flat_query(choices, choices.choice(operations))


@st.composite
def query_texts(draw: st.DrawFn) -> tuple[str, TextQuery]:
    """A query as text, and what it must be read as."""
    choices = Drawn(draw)
    query = make_query(choices)
    return make_query_text(choices, query), query


@st.composite
def hostile_texts(draw: st.DrawFn) -> str:
    """Texts that look like queries, most of them wrong."""
    return make_hostile_text(Drawn(draw))


@st.composite
def documents(draw: st.DrawFn, longest: int = 12) -> list[str]:
    """What a field holds: the elements of a list, or one text."""
    return make_document(Drawn(draw), longest)


@st.composite
def word_weights(draw: st.DrawFn) -> Weights:
    """The idf of each word."""
    return make_weights(Drawn(draw))
