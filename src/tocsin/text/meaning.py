"""What a text query means: the slow, obvious evaluator that the filter is held to.

It follows the specification sentence by sentence:

    Document     the words of a field, element by element
    found        where a word or phrase stands, which decides whether it holds
    weight       how much a leaf counts
    Part         what each word, phrase and group comes to
    Verdict      whether the query holds, and its score
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tocsin.text.language.query import ANY_GAP, Group, Leaf, Operation, TextQuery, Word
from tocsin.text.settings import WordWeights
from tocsin.text.tokenizer import words_of


class Document:
    """A field's text as words. The elements of a list are parted by a break that no phrase crosses."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.elements = [words_of(text) for text in texts]
        self.count = Counter(word for words in self.elements for word in words)
        self.most = max(self.count.values(), default=0)

    def covered(self, word: Word) -> list[str]:
        """The document's different words that a word of a query stands for."""
        if not word.is_prefix:
            return [word.text] if word.text in self.count else []
        return [each for each in self.count if each.startswith(word.text)]

    def occurs(self, leaf: Leaf) -> bool:
        """Whether a word or phrase, taken without its negation, stands in the document."""
        if not all(self.covered(word) for word in leaf.words):
            return False
        return len(leaf.words) == 1 or any(_phrase_in(words, leaf) for words in self.elements)


def _phrase_in(words: Sequence[str], leaf: Leaf) -> bool:
    """Whether the words of a phrase come in order, neighbours no further apart than its gap."""
    ends = {place for place, word in enumerate(words) if _stands_for(leaf.words[0], word)}
    reach = len(words) if leaf.gap == ANY_GAP else leaf.gap + 1
    for asked in leaf.words[1:]:
        nearest = -1 - reach
        further: set[int] = set()
        for place, word in enumerate(words):
            if place - nearest <= reach and _stands_for(asked, word):
                further.add(place)
            if place in ends:
                nearest = place
        ends = further
    return bool(ends)


def _stands_for(asked: Word, word: str) -> bool:
    return word.startswith(asked.text) if asked.is_prefix else word == asked.text


def word_weight(document: Document, word: Word, weights: WordWeights) -> float:
    """Of a word its frequency times its idf; of a prefix the most that a word it covers weighs."""
    return max(
        (document.count[each] / document.most * weights.idf(each) for each in document.covered(word)),
        default=0.0,
    )


def leaf_weight(document: Document, leaf: Leaf, weights: WordWeights) -> float:
    """The weight of a word or phrase without its negation: 0 when it does not occur."""
    if not document.occurs(leaf):
        return 0.0
    each = [word_weight(document, word, weights) for word in leaf.words]
    return min((weight for weight in each if weight != 0), default=0.0)


class Verdict(NamedTuple):
    """Whether a query holds by its Boolean reading, and its score, which is 0 when it does not."""

    holds: bool
    score: float


class Part(NamedTuple):
    """A step of a query in a document. A negated leaf *holds* when it does not occur."""

    holds: bool
    value: float
    is_negated: bool = False


def judge(query: TextQuery, texts: Sequence[str], weights: WordWeights) -> Verdict:
    """The verdict on a document: one text, or the elements of a list."""
    return judge_document(query, Document(texts), weights)


def judge_document(query: TextQuery, document: Document, weights: WordWeights) -> Verdict:
    """The same for words that are cut already."""
    parts, length = judge_steps(query, document, weights)
    whole = parts[-1]
    if not document.count or not whole.holds:
        return Verdict(False, 0.0)
    return Verdict(True, whole.value / length if whole.value != 0 else 0.0)


def judge_steps(query: TextQuery, document: Document, weights: WordWeights) -> tuple[list[Part], float]:
    """Every step of a query, in the order of its steps, and what the value of the last is divided by."""
    parts: list[Part] = []
    waiting: list[Part] = []
    squares = 0.0
    in_and = _negated_in_and(query)
    for place, step in enumerate(query.steps):
        if isinstance(step, Group):
            operands = waiting[-step.arity :]
            del waiting[-step.arity :]
            part = _combined(step.operation, operands)
        elif step.negated:
            occurs = document.occurs(step)
            part = Part(not occurs, 1.0 if place in in_and and not occurs else 0.0, is_negated=True)
        else:
            part = Part(document.occurs(step), leaf_weight(document, step, weights))
        if isinstance(step, Leaf):
            squares += part.value * part.value
        waiting.append(part)
        parts.append(part)
    return parts, math.sqrt(squares)


def _negated_in_and(query: TextQuery) -> set[int]:
    """The places of leaves that are negated operands of an AND."""
    found: set[int] = set()
    for step, operands in zip(query.steps, query.operands(), strict=True):
        if isinstance(step, Group) and step.operation is Operation.AND:
            found.update(operands)
    return {
        place
        for place, step in enumerate(query.steps)
        if place in found and isinstance(step, Leaf) and step.negated
    }


def _combined(operation: Operation, operands: list[Part]) -> Part:
    plain = [each for each in operands if not each.is_negated]
    negated_hold = all(each.holds for each in operands if each.is_negated)
    if operation is Operation.AND:
        holds = all(each.holds for each in plain) and negated_hold
    else:
        holds = any(each.holds for each in plain) and negated_hold
    values = [each.value for each in operands if each.value != 0]
    if not holds or not values:
        return Part(holds, 0.0)
    if operation is Operation.AND:
        return Part(True, min(values))
    if operation is Operation.OR:
        return Part(True, max(values))
    total = 0.0
    for value in values:
        total += value
    return Part(True, total)
