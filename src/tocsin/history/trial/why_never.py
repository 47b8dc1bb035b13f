"""Why a rule never matched a history: which of its parts never hold, and which never hold together.

Each part that `and` joins is a rule of its own here, and so is every word and phrase of the `contains` that
is tried; all of them are asked at once of each event:

    kind = 'a'     golf   trophy   "david lee"
         1           1       0          0           how often each holds is a sum, and how often two do
         0           1       1          0           together the product of the matrix with itself
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.conditions.language import Condition, Literal, Predicate, Test, parse_condition, print_predicate
from tocsin.conditions.live import Preparation
from tocsin.conditions.planner import conjunct_texts
from tocsin.events import EventBatch, EventSource, Kind
from tocsin.history.overview.overview import index_of
from tocsin.history.overview.satisfiability import Satisfiability
from tocsin.history.overview.value_summaries import FieldSummary, add_events
from tocsin.history.trial.printed_scores import cut_off
from tocsin.history.trial.tried_rule import TriedText
from tocsin.printable import number_of, one_line
from tocsin.syntax import first_steps
from tocsin.text import Group, Leaf, Operation, TextQuery, print_leaf, print_query

MOST_PAIRED = 200
"""Of more parts or words than these it is not asked which never come together: there are too many pairs."""

_MOST_SHOWN = 6
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class WhyNever:
    """What stood in the way.

    parts         what `and` joins in the condition, and for how many events each holds; the `contains` that
                  is tried counts by its Boolean reading
    reasons       why parts never hold, where that is known
    parts_apart   parts that each hold somewhere and never together
    documents     events with a text in the field of the `contains`
    words         its words and phrases, and in how many documents each stands
    words_apart   words and phrases that each stand somewhere and never where they would have to: together
    best          the best score that the `contains` reached by itself, and the event; None when it never held
    nearest       the event with the most of its words and phrases, how many it has, and of how many; None
                  when none occurs
    """

    parts: tuple[tuple[str, int], ...] = ()
    reasons: tuple[str, ...] = ()
    parts_apart: tuple[tuple[str, ...], ...] = ()
    documents: int | None = None
    words: tuple[tuple[str, int], ...] = ()
    words_apart: tuple[tuple[str, ...], ...] = ()
    best: tuple[float, int] | None = None
    nearest: tuple[int, int, int] | None = None

    @property
    def never(self) -> tuple[str, ...]:
        """The words that never occur."""
        return tuple(text for text, count in self.words if not count and not text.startswith('"'))

    def lines(self) -> list[str]:
        """In words, a line for each thing."""
        lines = list(self.reasons)
        lines += [f"never together: {_listed(apart, ' and ')}" for apart in self.parts_apart[:_MOST_SHOWN]]
        lines += _more(self.parts_apart)
        if self.documents is None:
            return lines
        if not self.documents:
            return [*lines, "no event has a text where its contains looks"]
        here = number_of(self.documents, "text")
        if self.never:
            lines.append(f"words that never occur in {here}: {_listed(self.never, ', ')}")
        for apart in self.words_apart[:_MOST_SHOWN]:
            what = "words that never occur together" if len(apart) > 1 else "a phrase that never occurs so"
            lines.append(f"{what}: {_listed(apart, ', ')}")
        lines += _more(self.words_apart)
        if self.best is None:
            lines.append("the best score reached is 0: the query of its contains holds for no text")
            if self.nearest is not None:
                event, count, most = self.nearest
                lines.append(f"event {event} comes nearest, with {count:,} of {most:,} words and phrases")
        else:
            score, event = self.best
            lines.append(f"the best score its contains reached is {cut_off(score)}, in event {event}")
        return lines


def _more(apart: Sequence[object]) -> list[str]:
    more = len(apart) - _MOST_SHOWN
    return [f"... and {more:,} more that never come together"] if more > 0 else []


def _listed(texts: Sequence[str], between: str) -> str:
    more = len(texts) - _MOST_SHOWN
    return between.join(texts[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def why_never(
    condition: Condition | None, text: TriedText | None, source: EventSource, preparation: Preparation
) -> WhyNever:
    """Go through all events once more. The condition is the Boolean reading of a rule over one table, or the
    selection of one of several; None when only the text is asked about."""
    run = _Run(condition, text, preparation)
    for portion in source.portions(run.fields):
        run.add(portion.events, portion.rows)
    return run.result()


@dataclass(slots=True)
class _Together:
    """How often several things hold, and how often each two of them do together; and all of them."""

    names: list[str]
    all_together: int = 0
    counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        wide = len(self.names) if len(self.names) <= MOST_PAIRED else 0
        self.counts = np.zeros((wide, wide), np.int64)

    def add(self, holds: Flags) -> None:
        """A row for each event, a column for each thing."""
        self.all_together += int(holds.all(axis=1).sum())
        if len(self.counts):
            number = holds.astype(np.float32)  # exact: a portion has fewer events than 2 ** 24
            self.counts += (number.T @ number).astype(np.int64)

    def apart(self, *, whole: bool) -> list[tuple[str, ...]]:
        """The pairs that never hold together though each does; with `whole` all, when every two do."""
        once = np.flatnonzero(np.diagonal(self.counts))
        pairs = [
            (self.names[one], self.names[other])
            for at, one in enumerate(once.tolist())
            for other in once[at + 1 :].tolist()
            if not self.counts[one, other]
        ]
        is_whole = whole and not pairs and not self.all_together and 2 < len(once) == len(self.names)
        return [tuple(self.names)] if is_whole else list(pairs)


class _Group(NamedTuple):
    """An AND or ACCRUE of a query: where each operand's truth stands among those of all steps."""

    operands: tuple[int, ...]
    is_and: bool
    together: _Together


class _Words:
    """The words and phrases of a query, each with a column of its own; and the truth of every step."""

    def __init__(self, query: TextQuery) -> None:
        self._query = query
        self.leaves: dict[Leaf, int] = {}
        for leaf in query.leaves():
            for each in (replace(leaf, negated=False), *(Leaf((word,)) for word in leaf.words)):
                self.leaves.setdefault(each, len(self.leaves))
        self.asked = sorted({self.leaves[leaf] for leaf in query.leaves() if not leaf.negated})
        children = query.operands()
        self.groups = [
            _Group(children[place], step.operation is Operation.AND, _Together(self._names(children[place])))
            for place, step in enumerate(query.steps)
            if isinstance(step, Group) and step.operation is not Operation.OR
        ]
        self.held = np.zeros(len(self.leaves), np.int64)

    def _names(self, places: Sequence[int]) -> list[str]:
        """The operands as text."""
        first = first_steps(self._query.operands())
        steps = [self._query.steps[first[place] : place + 1] for place in places]
        return [
            print_leaf(each[0]) if isinstance(each[0], Leaf) and len(each) == 1 else _grouped(each)
            for each in steps
        ]

    def add(self, occurs: Flags) -> None:
        """A row for each document, a column for each word and phrase."""
        self.held += occurs.sum(axis=0)
        truths: list[Flags] = []
        children = self._query.operands()
        for place, step in enumerate(self._query.steps):
            if isinstance(step, Leaf):
                column = occurs[:, self.leaves[replace(step, negated=False)]]
                truths.append(~column if step.negated else column)
                continue
            operands = np.stack([truths[each] for each in children[place]], axis=1)
            steps = [self._query.steps[each] for each in children[place]]
            negated = np.array([isinstance(each, Leaf) and each.negated for each in steps])
            plain: Flags = operands[:, ~negated]
            some = plain.all(axis=1) if step.operation is Operation.AND else plain.any(axis=1)
            truths.append(np.logical_and(some, operands[:, negated].all(axis=1)))
        for group in self.groups:
            group.together.add(np.stack([truths[each] for each in group.operands], axis=1))

    def apart(self) -> list[tuple[str, ...]]:
        """Phrases whose words all occur and which never do, and operands that never hold together."""
        found: list[tuple[str, ...]] = []
        for leaf, column in self.leaves.items():
            each = [self.held[self.leaves[Leaf((word,))]] for word in leaf.words]
            if len(leaf.words) > 1 and all(each) and not self.held[column]:
                found.append((print_leaf(leaf),))
        for group in self.groups:
            found += group.together.apart(whole=group.is_and)
        return list(dict.fromkeys(found))


def _grouped(steps: tuple[Leaf | Group, ...]) -> str:
    return f"({print_query(TextQuery(steps))})"


class _Run:
    """The rules that are asked: parts, words, the whole query; and what was counted of them so far."""

    def __init__(self, condition: Condition | None, text: TriedText | None, preparation: Preparation) -> None:
        self._parts = [] if condition is None else conjunct_texts(condition)
        self._words = None if text is None else _Words(text.query)
        asked = list(self._parts)
        if text is not None and self._words is not None:
            asked += [_contains(text, print_leaf(leaf)) for leaf in self._words.leaves]
            self._read = print_predicate(_at_zero(text.predicate))
            asked.append(self._read)
        self._rules = index_of(
            [(str(number), when) for number, when in enumerate(asked)], preparation
        ).version
        self.fields = list(dict.fromkeys([*self._rules.fields, *([] if text is None else [text.field])]))
        self._text = text
        self._held = np.zeros(len(self._parts), np.int64)
        self._together = _Together(self._parts)
        self._seen = {path: FieldSummary() for path in self.fields}
        self._events = self._documents = 0
        self._best: tuple[float, int] | None = None
        self._nearest: tuple[int, int, int] | None = None

    def add(self, events: EventBatch, rows: Longs) -> None:
        """Note a batch whose events have these numbers."""
        self._events += events.length
        add_events(self._seen, events)
        found = self._rules.match_cells(events)
        holds = np.zeros((events.length, self._rules.count), np.bool_)
        row = np.repeat(np.arange(events.length), found.per_event)
        holds[row, found.rule] = True
        parts = holds[:, : len(self._parts)]
        self._held += parts.sum(axis=0)
        self._together.add(parts)
        column = None if self._text is None else events.columns.get(self._text.field)
        if self._words is None or column is None or column.strings is None or not events.length:
            return
        words = self._words
        self._documents += len(np.unique(column.strings.row))
        occurs = holds[np.unique(column.strings.row), len(self._parts) : -1]
        words.add(occurs)
        numbers = rows[np.unique(column.strings.row)]
        most = occurs[:, words.asked].sum(axis=1)
        place = int(most.argmax())
        if most[place] and (self._nearest is None or most[place] > self._nearest[1]):
            self._nearest = int(numbers[place]), int(most[place]), len(words.asked)
        is_read = found.rule == self._rules.count - 1
        if found.score is not None and is_read.any():
            scores = found.score[is_read]
            place = int(scores.argmax())
            if self._best is None or scores[place] > self._best[0]:
                self._best = float(scores[place]), int(rows[row[is_read][place]])

    def result(self) -> WhyNever:
        """What stood in the way."""
        seen = Satisfiability(self._events, self._seen)
        reasons = []
        for part, count in zip(self._parts, self._held.tolist(), strict=True):
            if not count:
                why = seen.why_never(parse_condition(part))
                if why is not None or self._text is None or part != self._read:
                    reasons.append(why or f"{one_line(part, _LONGEST)} never holds")
        found = WhyNever(
            tuple(zip(self._parts, self._held.tolist(), strict=True)),
            tuple(reasons),
            tuple(self._together.apart(whole=True)),
        )
        if self._words is None:
            return found
        return replace(
            found,
            documents=self._documents,
            words=tuple(
                (print_leaf(leaf), int(self._words.held[column]))
                for leaf, column in self._words.leaves.items()
            ),
            words_apart=tuple(self._words.apart()),
            best=self._best,
            nearest=self._nearest,
        )


def _contains(text: TriedText, query: str) -> str:
    asked = Literal(Kind.STRING, query), Literal(Kind.BOOLEAN, True)
    return print_predicate(Predicate(text.field, Test.CONTAINS, asked))


def _at_zero(predicate: Predicate) -> Predicate:
    return replace(predicate, operands=(predicate.operands[0], Literal(Kind.NUMBER, 0)))
