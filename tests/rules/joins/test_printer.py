from __future__ import annotations

import random

from tests.watches.making import make_trigger

from tocsin.rules import print_joined
from tocsin.rules.joins.parser import parse_joined
from tocsin.rules.rule_files import rules_of_triggers


def test_what_is_printed_reads_as_the_same() -> None:
    texts = []
    for seed in range(300):
        rules = rules_of_triggers(make_trigger(random.Random(seed), "r"))
        if rules.refusal(0) is not None:
            trigger = rules.triggers[0]
            condition = trigger.joined()
            texts.append(print_joined(condition, trigger.old_of))
            assert trigger.joined(texts[-1]) == condition
    assert len(texts) > 100
    assert any("old." in text for text in texts)


def test_negated_comparisons() -> None:
    for text in ("a.x != b.x and b.y = 1", "not (a.x < b.x or b.y = 1)", "not a.x < b.x", 'a.x >= b."or"'):
        assert print_joined(parse_joined(text, ("a", "b"))) == text


def test_an_empty_alias_is_not_written() -> None:
    text = "old.x < x and old.y = 1"
    assert print_joined(parse_joined(text, ("",), "")) == text
