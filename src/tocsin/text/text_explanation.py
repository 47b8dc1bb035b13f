"""Why a text satisfies a query, or does not: what was found where, what it weighs, what was missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.printable import first_few, printable
from tocsin.text.language.highlights import Occurrence, PlacedDocument, Stretch, snippet, with_marks
from tocsin.text.language.query import Group, Leaf, TextQuery, Word, print_leaf
from tocsin.text.meaning import Document, Part, judge_document, judge_steps
from tocsin.text.settings import WordWeights

MOST_PLACES = 20
"""Of the places where a word or phrase stands, so many are kept."""

_MOST_NAMED = 8
_SNIPPET = 64
_WIDEST_TEXT = 40
_DEEPEST_INDENT = 12


@dataclass(frozen=True, slots=True)
class WordFound:
    """A word of a query in a document.

    asked    as the query says it: `golf*`
    word     the document's word that counts: of those a prefix covers the one that weighs the most;
             None when there is none
    count    how often it stands there
    most     how often the document's most frequent word does
    weight   count / most * idf
    """

    asked: str
    word: str | None
    count: int
    most: int
    idf: float
    weight: float


@dataclass(frozen=True, slots=True)
class TextPart:
    """One line of an explanation: a word or phrase, or a group of the deeper lines below it.

    text         as it is written; of a group its operation
    verdict      found, missing, absent, present; of a group holds or fails
    holds        whether it counts as satisfied; a negated word is when it is absent
    value        its weight; of a group what its operands come to
    count        how often a word or phrase stands in the text
    words        its words, none for a group
    places       the first places where it stands
    shown        the text around the first of them
    """

    depth: int
    text: str
    verdict: str
    holds: bool
    value: float
    count: int = 0
    words: tuple[WordFound, ...] = ()
    places: tuple[Occurrence, ...] = ()
    shown: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class TextExplanation:
    """What a query says of a text; print it to read it.

    satisfied    whether the query holds and its score reaches the threshold, if there is one
    score        value / length
    missing      words and phrases that do not stand in the text; when the query fails, those for which
                 it does
    forbidden    words and phrases that stand in the text and must not, likewise
    """

    satisfied: bool
    holds: bool
    score: float
    value: float
    length: float
    threshold: float | None
    parts: tuple[TextPart, ...]
    missing: tuple[str, ...]
    forbidden: tuple[str, ...]

    def lines(self) -> list[str]:
        """The explanation as lines, the verdict first."""
        texts = [f"{_indent(part.depth)}{printable(part.text)}" for part in self.parts]
        width = min(max(map(len, texts)), _WIDEST_TEXT)
        lines = [printable(self.verdict())]
        for part, text in zip(self.parts, texts, strict=True):
            lines.append(f"  {part.verdict:<8} {text:<{width}}   {printable(_detail(part))}".rstrip())
        return lines

    def verdict(self) -> str:
        """One line that says what came out and why."""
        if not self.holds:
            return f"score 0: the query does not hold{self._reasons()}"
        score = f"score {self.score:.4f} = {self.value:.4f} / {self.length:.4f}"
        if not self.value:
            score = "score 0 (what was found weighs nothing)"
        if self.threshold is None:
            return score
        if self.satisfied:
            return f"{score}, at least {self.threshold:g}"
        return f"{score}, below {self.threshold:g}{self._reasons()}"

    def _reasons(self) -> str:
        reasons = ""
        if self.forbidden:
            reasons += f"; must not be there: {first_few(self.forbidden, _MOST_NAMED)}"
        if self.missing:
            reasons += f"; missing: {first_few(self.missing, _MOST_NAMED)}"
        return reasons

    def __str__(self) -> str:
        return "\n".join(self.lines())


def explain_text(
    query: TextQuery,
    texts: Sequence[str],
    weights: WordWeights,
    threshold: float | None = None,
    *,
    any_gap: bool = False,
) -> TextExplanation:
    """Explain a query on a document: one text, or the elements of a list.

    Without a threshold the Boolean reading decides. `any_gap` prints phrases as tm_contains writes them.
    """
    document, placed = Document(texts), PlacedDocument(texts)
    judged, length = judge_steps(query, document, weights)
    verdict = judge_document(query, document, weights)
    children = query.operands()
    parts: list[TextPart] = []
    todo = [(len(query.steps) - 1, 0)]
    while todo:
        place, depth = todo.pop()
        step = query.steps[place]
        if isinstance(step, Leaf):
            text = print_leaf(step, any_gap=any_gap)
            words = tuple(_word_found(document, word, weights) for word in step.words)
            parts.append(_leaf_part(depth, text, judged[place], step, words, placed))
        else:
            parts.append(_group_part(depth, step, judged[place]))
            todo.extend((child, depth + 1) for child in reversed(children[place]))
    blamed = _blamed(query, judged, children)
    return TextExplanation(
        satisfied=verdict.holds and (threshold is None or verdict.score >= threshold),
        holds=verdict.holds,
        score=verdict.score,
        value=judged[-1].value,
        length=length,
        threshold=threshold,
        parts=tuple(parts),
        missing=_named(query, blamed, any_gap, negated=False),
        forbidden=_named(query, blamed, any_gap, negated=True),
    )


def _blamed(query: TextQuery, judged: Sequence[Part], children: Sequence[tuple[int, ...]]) -> list[int]:
    """The leaves that would have to change: of a query that fails those for which it does, else all
    that do not count."""
    found: list[int] = []
    todo = [len(query.steps) - 1]
    query_holds = judged[-1].holds
    while todo:
        place = todo.pop()
        if judged[place].holds and not query_holds:
            continue
        if not children[place] and not judged[place].holds:
            found.append(place)
        todo.extend(reversed(children[place]))
    return found


def _named(query: TextQuery, places: Sequence[int], any_gap: bool, *, negated: bool) -> tuple[str, ...]:
    """Leaves as they are written without negation, each once."""
    steps = [query.steps[place] for place in places]
    leaves = [step for step in steps if isinstance(step, Leaf) and step.negated == negated]
    return tuple(dict.fromkeys(print_leaf(leaf, any_gap=any_gap).removeprefix("!") for leaf in leaves))


def _group_part(depth: int, group: Group, judged: Part) -> TextPart:
    verdict = "holds" if judged.holds else "fails"
    return TextPart(depth, group.operation.name.lower(), verdict, judged.holds, judged.value)


def _leaf_part(
    depth: int, text: str, judged: Part, leaf: Leaf, words: tuple[WordFound, ...], placed: PlacedDocument
) -> TextPart:
    occurs = judged.holds != leaf.negated
    verdict = ("present" if occurs else "absent") if leaf.negated else ("found" if occurs else "missing")
    places = tuple(placed.occurrences(leaf, MOST_PLACES))
    shown: tuple[Stretch, ...] = ()
    if places:
        shown = tuple(snippet(placed.texts[places[0].element], places[0].shown(leaf), _SNIPPET))
    return TextPart(
        depth, text, verdict, judged.holds, judged.value, len(placed.ends(leaf)), words, places, shown
    )


def _word_found(document: Document, asked: Word, weights: WordWeights) -> WordFound:
    """What a word weighs in a document, by the document's word that decides it."""
    best: WordFound | None = None
    written = asked.text + "*" * asked.is_prefix
    for word in document.covered(asked):
        idf = weights.idf(word)
        weight = document.count[word] / document.most * idf
        if best is None or weight > best.weight:
            best = WordFound(written, word, document.count[word], document.most, idf, weight)
    return best or WordFound(written, None, 0, document.most, 0.0, 0.0)


def _detail(part: TextPart) -> str:
    """What stands behind a part on its line."""
    if not part.words:
        return f"value {part.value:.4f}" if part.holds else ""
    detail = ""
    if part.verdict == "found":
        detail = f"weight {part.value:.4f} ({'; '.join(map(_word_text, part.words))})"
    elif part.value:
        detail = f"weight {part.value:.4f}"
    elif part.verdict == "missing" and len(part.words) > 1:
        here = [word.asked for word in part.words if word.word is not None]
        detail = f"in the text, but not so: {first_few(here, _MOST_NAMED)}" if here else ""
    if not part.shown:
        return detail
    times = "once" if part.count == 1 else f"{part.count:,} times"
    return f"{detail}   {times}: {with_marks(part.shown)}".lstrip()


def _word_text(found: WordFound) -> str:
    prefix = f"{found.asked} as " if found.word != found.asked else ""
    return f"{prefix}{found.word} {found.count}/{found.most} x {found.idf:.4g}"


def _indent(depth: int) -> str:
    """Two spaces a level, and beyond what fits on a screen the number of the level."""
    if depth <= _DEEPEST_INDENT:
        return "  " * depth
    return f"{'  ' * _DEEPEST_INDENT}[{depth}] "
