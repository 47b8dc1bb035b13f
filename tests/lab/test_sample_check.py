"""A wrong or missing match is found, and a near miss is one."""

from __future__ import annotations

from tocsin import Index, build
from tocsin.conditions.meaning import Truth
from tocsin_lab.sample_check import near_miss, sample_rules, verify

CONDITIONS = {"small": "n < 5", "large": "n >= 5", "odd": "n in (1, 3, 5, 7, 9)"}
EVENTS = {10: {"n": 3}, 11: {"n": 8}}
FOUND = {10: {"small", "odd"}, 11: {"large"}}


def test_right_matches_have_no_difference():
    verdict = verify(FOUND, EVENTS, CONDITIONS)
    assert (verdict.checks, verdict.true, verdict.differences) == (6, 3, ())


def test_matches_of_rules_that_are_not_compared_do_not_count():
    assert verify({10: {"small", "odd", "unheard of"}, 11: {"large"}}, EVENTS, CONDITIONS).differences == ()


def test_a_wrong_match_and_a_lost_match_are_differences():
    verdict = verify({10: {"small", "large"}}, EVENTS, CONDITIONS)
    assert verdict.differences == ((10, "large"), (10, "odd"), (11, "large"))


def test_a_sample_has_all_needed_rules_and_keeps_the_order():
    ids = [f"r{number}" for number in range(100)]
    chosen = sample_rules(ids, {"r50", "r7"}, 10, seed=1)
    assert len(chosen) == 10
    assert {"r7", "r50"} <= set(chosen)
    assert chosen == [rule for rule in ids if rule in chosen]
    assert sample_rules(ids, {"r50", "r7"}, 1, seed=1) == ["r7", "r50"]
    assert sample_rules(ids, set(), 1_000, seed=1) == ids


def test_the_shortest_near_miss_is_told():
    parts = "a = 1 and b = 1 and c = 1 and d = 1"
    rules = {
        "match": f"{parts} and e = 1",
        "two fail": f"{parts} and e = 2 and f = 2",
        "long": f"{parts} and (e = 2 or e = 3)",
        "short": f"{parts} and missing = 1",
        "few parts": "a = 1 and e = 2",
        "or": "a = 2 or b = 2 or c = 2 or d = 2 or e = 1",
    }
    index = build(rules)
    assert isinstance(index, Index)
    event = dict.fromkeys("abcdef", 1)
    told = near_miss(index, event, list(rules))
    assert told is not None
    assert told.rule == "short"
    assert [part.truth for part in told.parts if part.depth == 1].count(Truth.TRUE) == 4
    assert near_miss(index, event, ["match", "two fail", "few parts", "or"]) is None
