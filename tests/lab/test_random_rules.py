"""Random rules and events: the same for the same seed, and of the kinds that are promised."""

from __future__ import annotations

from tocsin.grammar.conditions import parse_condition
from tocsin.grammar.tree import Connective, Operator
from tocsin.lab.random_rules import LISTED, PAIRS_OF_AN_EVENT, random_events, random_rules


def test_the_same_seed_gives_the_same_and_another_gives_another():
    assert random_rules(200, seed=3).equals(random_rules(200, seed=3))
    assert not random_rules(200, seed=3).equals(random_rules(200, seed=4))
    assert random_events(20, seed=3) == random_events(20, seed=3) != random_events(20, seed=4)


def test_every_rule_is_a_condition_and_every_connective_is_used():
    conditions = [parse_condition(text) for text in random_rules(500)["when"].to_pylist()]
    used = {step.connective for each in conditions for step in each.steps if isinstance(step, Operator)}
    assert used == set(Connective)


def test_the_last_digit_of_a_field_is_its_kind():
    for event in random_events(200):
        assert 1 <= len(event) <= PAIRS_OF_AN_EVENT
        for name, value in event.items():
            kind = int(name[-1])
            expected = int if kind <= 5 else str if kind <= 7 else bool if kind == 8 else list
            assert type(value) is expected
            assert (expected is list) == ((name,) in LISTED)
