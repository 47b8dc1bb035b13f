"""The scores of a single event's matches: of what was found, and of what a threshold held back."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import score
from tocsin.text import DocumentQueries, document_queries, documents_of_texts, text_matcher

WORDS = ("golf", "cup", "trophy", "lee", "é", "日本")
QUERIES = ("golf, cup, lee", "golf & cup", "golf | lee", '"golf cup"', "cup & !lee", "tro*, é", "日本")


def made(source: random.Random) -> tuple[dict[str, str], dict[str, Any]]:
    """Rules that all hold, whatever their queries score, and an event with up to three texts."""
    rules = {
        f"r{number}": f"n = 1 or contains({source.choice('abc')}, '{source.choice(QUERIES)}',"
        f" {source.choice((0.3, 1, 1.2, 1.7, 3))})"
        for number in range(source.randint(1, 6))
    }
    event: dict[str, Any] = {"n": 1}
    for name in "abc":
        texts = [" ".join(source.choices(WORDS, k=source.randint(0, 5))) for _ in range(source.randint(0, 2))]
        event[name] = source.choice((texts, texts[0] if texts else None))
    return rules, event


def check(rules: Mapping[str, str], event: Mapping[str, Any]) -> None:
    expected = [(rule, score(parse_condition(when), event)) for rule, when in rules.items()]
    index = tocsin.build(rules)
    assert [(match.rule, match.score) for match in index.match(event)] == expected
    table = index.match_table(pa.Table.from_pylist([event])).to_pylist()
    assert [(row["rule"], row["score"]) for row in table] == expected


def test_scores_below_the_threshold_are_those_of_the_meaning() -> None:
    for seed in range(100):
        check(*made(random.Random(seed)))


def test_texts_of_an_event_are_not_asked_as_those_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are cut once, and asked where they lie."""
    rules = [
        (f"{name}{least}", f"n = 1 or contains({name}, 'golf, cup', {least})")
        for name in "ab"
        for least in (1, 9)
    ]
    index = tocsin.build(rules)
    made_of: list[object] = []

    def ask(*_: object) -> None:
        raise AssertionError("asked anew")

    def documents(texts: Any) -> Any:
        made_of.append(texts)
        return original(texts)

    original = documents_of_texts
    monkeypatch.setattr(text_matcher, "documents_of_texts", documents)
    monkeypatch.setattr(DocumentQueries, "ask", ask)
    scores = [match.score for match in index.match({"n": 1, "a": "golf", "b": "a golf cup"})]
    assert scores == [1.0, 1.0, pytest.approx(2**0.5), pytest.approx(2**0.5)]
    assert made_of == [[["golf"], ["a golf cup"]]]


def test_what_takes_long_is_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C would wait for the whole."""
    monkeypatch.setattr(document_queries, "_WORK_AT_ONCE", 1)
    for seed in range(30):
        check(*made(random.Random(seed)))
