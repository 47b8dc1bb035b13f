"""Random rules and events, alone and in blocks: every engine gives the meaning's answer.

Where drawing a case takes longer than an engine takes to answer, one test asks all engines.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import Event, make_conditions, make_event, make_rule_set
from tests.contract.doors import RuleSet, built, by_cells, by_event, expected, taken
from tests.strategies import conditions, events, rule_sets

from tocsin.conditions.language import Condition
from tocsin.conditions.meaning import Truth, condition_truth
from tocsin.engines import ENGINES


@settings(max_examples=80)
@given(rules=rule_sets(), given_events=st.lists(events(), min_size=1, max_size=4))
def test_rule_sets(rules: RuleSet, given_events: list[Event]) -> None:
    for engine in ENGINES:
        index, its_rules = taken(rules, engine)
        assert by_event(index, given_events) == expected(its_rules, given_events), engine


@settings(max_examples=80)
@given(condition=conditions(), event=events())
def test_a_rule_alone(condition: Condition, event: Event) -> None:
    for engine in ENGINES:
        index, its_rules = taken([("alone", condition)], engine)
        assert by_event(index, [event]) == expected(its_rules, [event]), engine


@pytest.mark.parametrize("seed", range(60))
def test_thousands_of_small_cases(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        rules = make_rule_set(rng, 30)
        given_events = [make_event(rng) for _ in range(10)]
        index, found = built(rules), expected(rules, given_events)
        assert by_event(index, given_events) == found
        assert by_cells(index, given_events) == found


@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_rules_in_one_index(seed: int) -> None:
    rng = random.Random(seed)
    rules = [(f"r{number}", each) for number, each in enumerate(make_conditions(rng, 200))]
    given_events = [make_event(rng) for _ in range(15)]
    found = expected(rules, given_events)
    assert len(found) > 200
    assert by_event(built(rules), given_events) == found


@settings(max_examples=50)
@given(condition=conditions(), event=events())
def test_an_explanation_gives_the_truth(condition: Condition, event: Event) -> None:
    truth = condition_truth(condition, event)
    for engine in ENGINES:
        index, its_rules = taken([("r", condition)], engine)
        if not its_rules:
            continue
        explained = index.explain("r", event)
        assert explained.parts[0].truth is truth, engine
        assert explained.matched == (truth is Truth.TRUE)
        assert str(explained).splitlines()[0] == ("r matches" if explained.matched else "r does not match")


def test_one_index_gives_the_same_whatever_came_before(engine: str) -> None:
    rng = random.Random(5)
    index, _ = taken(make_rule_set(rng, 40), engine)
    given_events = [make_event(rng) for _ in range(20)]
    first = [list(index.match(event)) for event in given_events]
    for event, found in random.Random(6).sample(list(zip(given_events, first, strict=True)), 20):
        assert list(index.match(event)) == found
