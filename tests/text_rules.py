"""Random rules that mix free text with other conditions, events for them, and the right answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.cases import Choices, Event
from tests.text_cases import WORDS, make_document, make_query, make_query_text

from tocsin import Dictionary
from tocsin.conditions.language import field_named, parse_condition
from tocsin.conditions.meaning import matches, score
from tocsin.text import TextSettings

THRESHOLDS = (0, 0.5, 0.70710678118, 1, 1, 1.0000001, 1.3, 1.7, 3)
FIELDS = ("body", "title")
STRUCTURED = ("kind = 'a'", "kind != 'b'", "size > 2", "size in (1, 3)", "kind is null", "tags = 'x'")

Scored = list[tuple[int, str, float | None]]
"""(event, rule, score), by event and then in the rules' order."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an index is built with: the same for the evaluator and for tocsin.build."""

    dictionaries: Mapping[str, Dictionary] = field(default_factory=dict)
    stop_words: tuple[str, ...] = ()
    threshold: float = 0.0

    def for_meaning(self) -> TextSettings:
        return TextSettings(
            self.threshold,
            frozenset(self.stop_words),
            {field_named(name): dictionary for name, dictionary in self.dictionaries.items()},
        )

    def for_build(self) -> dict[str, Any]:
        return {
            "dictionaries": self.dictionaries,
            "stop_words": self.stop_words,
            "text_threshold": self.threshold,
        }


def make_settings(choices: Choices) -> Settings:
    """Dictionaries for none, one or both fields; few stop words; a threshold now and then."""
    dictionaries = {
        name: Dictionary.count([make_document(choices) for _ in range(choices.randint(0, 6))]).with_idf(
            {choices.choice(WORDS): choices.choice((0.0, 0.25, 5.0))}
        )
        for name in FIELDS
        if choices.randint(0, 1)
    }
    stop_words = tuple({choices.choice(WORDS) for _ in range(choices.choice((0, 0, 1, 3)))})
    return Settings(dictionaries, stop_words, choices.choice((0.0, 0.0, 0.0, 0.9)))


def make_condition(choices: Choices, may_ask_score: bool = True, depth: int = 0) -> str:
    """A condition with free text in it more often than not; at most one `contains` has a threshold."""
    roll = choices.randint(0, 9)
    if depth >= 3 or roll < 5:
        return make_contains(choices, may_ask_score) if roll < 4 else choices.choice(STRUCTURED)
    if roll < 6:
        return f"not ({make_condition(choices, may_ask_score, depth + 1)})"
    connective = choices.choice((" and ", " and ", " and ", " or ", " xor ", " xnor "))
    count = choices.randint(2, 3) if connective in (" and ", " or ") else 2
    asking = choices.randint(0, count - 1)
    parts = [make_condition(choices, may_ask_score and place == asking, depth + 1) for place in range(count)]
    return connective.join(f"({part})" for part in parts)


def make_contains(choices: Choices, may_ask_score: bool) -> str:
    """One text predicate."""
    query = make_query_text(choices, make_query(choices, 3, 2)).replace("'", "''")
    name = choices.choice(("contains", "contains", "tm_contains"))
    if name == "tm_contains":
        query = query.replace("~00", "~").replace("~0", "").replace("~1", "").replace("~2", "")
        query = query.replace("~*", "")
    last = choices.choice(("", ", boolean"))
    if may_ask_score and choices.randint(0, 1):
        last = f", {choices.choice(THRESHOLDS)}"
    return f"{name}({choices.choice(FIELDS)}, '{query}'{last})"


def make_event(choices: Choices) -> Event:
    """An event with texts and other fields, some of them missing or of another kind."""
    event: Event = {}
    for name in FIELDS:
        elements: list[object] = list(make_document(choices))
        if len(elements) == 1 and choices.randint(0, 2):
            event[name] = elements[0]
        elif choices.randint(0, 5):
            extra = choices.choice(((), (), (7,), (None,)))
            event[name] = [*elements, *extra]
        elif choices.randint(0, 1):
            event[name] = choices.choice((None, 5, True, [5]))
    if choices.randint(0, 3):
        event["kind"] = choices.choice(("a", "b"))
    if choices.randint(0, 3):
        event["size"] = choices.randint(0, 4)
    if choices.randint(0, 3):
        event["tags"] = choices.choice((["x"], ["y", "x"], [], "x", 3))
    return event


def expected_scores(rules: Sequence[tuple[str, str]], events: Sequence[Event], settings: Settings) -> Scored:
    """The right answer."""
    texts = settings.for_meaning()
    conditions = [(name, parse_condition(when)) for name, when in rules]
    return [
        (number, name, score(condition, event, texts))
        for number, event in enumerate(events)
        for name, condition in conditions
        if matches(condition, event, texts)
    ]
