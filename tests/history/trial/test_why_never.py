from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import events as drawn_events
from tests.strategies import rule_sets
from tests.text_cases import documents, query_texts

import tocsin
from tocsin.conditions.language import parse_condition, print_condition
from tocsin.conditions.meaning import matches
from tocsin.conditions.planner import conjunct_texts
from tocsin.text import Group, Leaf, Operation, TextQuery, judge, print_leaf, print_query
from tocsin.text.meaning import Document
from tocsin.text.settings import NoDictionary

EVENTS: list[dict[str, object]] = [
    {"kind": "a", "body": "a golf trophy"},
    {"kind": "b", "body": "David and Lee"},
    {"kind": "b", "body": ["golf", "tin"]},
    {"kind": "a"},
]


def lines(condition: str, events: Sequence[Mapping[str, object]] = EVENTS) -> list[str]:
    run = tocsin.backtest([("r", condition)], events, rule="r")
    return [] if run.why is None else run.why.lines()


def test_words_that_never_occur_never_together_and_the_best_score() -> None:
    assert lines("""contains(body, '"David Lee" & gulf & trophy & tin')""") == [
        "words that never occur in 3 texts: gulf",
        'a phrase that never occurs so: "david lee"',
        "words that never occur together: trophy, tin",
        "the best score reached is 0: the query of its contains holds for no text",
        "event 0 comes nearest, with 1 of 4 words and phrases",
    ]
    assert lines("contains(body, 'golf, trophy, tin', 1.5)") == [
        "words that never occur together: trophy, tin",
        "the best score its contains reached is 1.4142, in event 0",
    ]
    assert lines("contains(body, 'golf, trophy, tin', 1.4)") == []


def test_what_stands_in_the_way_of_the_text() -> None:
    assert lines("kind = 'b' and contains(body, 'trophy')") == [
        "never together: kind = 'b' and contains(body, 'trophy', 0)",
        "the best score its contains reached is 1.0000, in event 0",
    ]
    assert lines("kind = 'c' and contains(other, 'trophy')") == [
        "kind = 'c' never holds: there are only 'a', 'b'",
        "no event has the field other",
        "no event has a text where its contains looks",
    ]


def test_rules_without_a_text() -> None:
    assert lines("kind = 'a' and kind = 'b'") == ["never together: kind = 'a' and kind = 'b'"]
    assert lines("age > 3 and kind = 'b'") == ["no event has the field age"]
    assert lines("(kind = 'a' and kind = 'b') or false") == ["kind = 'a' and kind = 'b' or false never holds"]
    three = [{"a": 1, "b": 1}, {"a": 1, "c": 1}, {"b": 1, "c": 1}]
    assert lines("a = 1 and b = 1 and c = 1", three) == ["never together: a = 1 and b = 1 and c = 1"]


def test_a_word_that_always_comes_with_what_must_not_be_there() -> None:
    assert lines("contains(body, 'golf & !golf')")[0] == "words that never occur together: golf, !golf"


def parts_of(query: TextQuery) -> list[TextQuery]:
    """The query of each step."""
    first: list[int] = []
    for place, taken in enumerate(query.operands()):
        first.append(first[taken[0]] if taken else place)
    return [TextQuery(query.steps[start : place + 1]) for place, start in enumerate(first)]


def holds(part: TextQuery, texts: list[str]) -> bool:
    if isinstance(part.steps[-1], Leaf):
        return Document(texts).occurs(part.steps[-1]) != part.steps[-1].negated
    return judge(part, texts, NoDictionary()).holds


def named(part: TextQuery) -> str:
    step = part.steps[-1]
    return print_leaf(step) if isinstance(step, Leaf) else f"({print_query(part)})"


@settings(max_examples=150, deadline=None)
@given(query_texts(), st.lists(documents(longest=6), max_size=6))
def test_words_are_what_the_documents_hold(written: tuple[str, TextQuery], texts: list[list[str]]) -> None:
    text, query = written
    condition = "contains(d, '" + text.replace("'", "''") + "', 100)"
    run = tocsin.backtest([("r", condition)], [{"d": each} for each in texts], rule="r")
    why = run.why
    assert why is not None
    texts = [each for each in texts if each]
    counts = dict(why.words)
    for leaf in query.leaves():
        plain = Leaf(leaf.words, leaf.gap)
        for each in (plain, *(Leaf((word,)) for word in leaf.words)):
            assert counts.pop(print_leaf(each), None) in (
                None,
                sum(Document(one).occurs(each) for one in texts),
            )
    assert counts == {}
    assert why.documents == len(texts)
    best = [judge(query, one, NoDictionary()) for one in texts]
    reached = [each.score for each in best if each.holds]
    assert (None if why.best is None else why.best[0]) == max(reached, default=None)
    expected: set[tuple[str, ...]] = set()
    parts = parts_of(query)
    for place, step in enumerate(query.steps):
        if not isinstance(step, Group) or step.operation is Operation.OR:
            continue
        operands = [parts[each] for each in query.operands()[place]]
        truths = [[holds(each, one) for one in texts] for each in operands]
        pairs = {
            (named(operands[one]), named(operands[other]))
            for one, other in combinations(range(len(operands)), 2)
            if any(truths[one])
            and any(truths[other])
            and not any(a and b for a, b in zip(truths[one], truths[other], strict=True))
        }
        expected |= pairs
        never = not any(all(column) for column in zip(*truths, strict=True))
        is_whole = step.operation is Operation.AND and not pairs and len(operands) > 2
        if is_whole and never and all(map(any, truths)):
            expected.add(tuple(map(named, operands)))
    assert {apart for apart in why.words_apart if len(apart) > 1} == expected
    for (phrase,) in (apart for apart in why.words_apart if len(apart) == 1):
        assert dict(why.words)[phrase] == 0


@settings(max_examples=60, deadline=None)
@given(rule_sets(most=3), st.lists(drawn_events(), max_size=8))
def test_parts_are_what_the_events_satisfy(rules: Any, events: list[Any]) -> None:
    for rule, condition in rules:
        text = print_condition(condition)
        run = tocsin.backtest([(rule, text)], events, rule=rule)
        hits = sum(matches(condition, event) for event in events)
        if run.query is not None:
            continue
        assert (run.hits, run.why is None) == (hits, hits > 0)
        if run.why is None:
            continue
        truths = {
            part: [matches(parse_condition(part), event) for event in events]
            for part in conjunct_texts(parse_condition(text))
        }
        assert dict(run.why.parts) == {part: sum(truth) for part, truth in truths.items()}
        for apart in run.why.parts_apart:
            assert not any(all(truth) for truth in zip(*(truths[part] for part in apart), strict=True))
