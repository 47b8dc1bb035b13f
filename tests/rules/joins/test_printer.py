from __future__ import annotations

import random

from tests.watches.making import make_trigger

from tocsin.rules.joins.parser import parse_joined
from tocsin.rules.joins.printer import print_joined
from tocsin.rules.rule_files import rules_of_triggers


def test_what_is_printed_reads_as_the_same() -> None:
    texts = []
    for seed in range(300):
        rules = rules_of_triggers(make_trigger(random.Random(seed), "r"))
        if rules.has_several_tables(0):
            trigger = rules.triggers[0]
            condition = parse_joined(trigger.when, trigger.aliases, trigger.old_of)
            texts.append(print_joined(condition))
            assert parse_joined(texts[-1], trigger.aliases, trigger.old_of) == condition
    assert len(texts) > 100


def test_negated_comparisons() -> None:
    for text in ("a.x != b.x and b.y = 1", "not (a.x < b.x or b.y = 1)", "not a.x < b.x", 'a.x >= b."or"'):
        assert print_joined(parse_joined(text, ("a", "b"))) == text
