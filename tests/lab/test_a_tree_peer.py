"""Rules on their way to the a-tree crate keep their meaning."""

from __future__ import annotations

import pytest
from benchmarks.peers.a_tree.compare import both_can_say, event_line, for_the_crate, table

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import condition_truth
from tocsin_lab import abe_gen


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("d6 in ('v1', 'v2')", "(d6 = 'v1' or d6 = 'v2')"),
        ("(not d17 not in ('v1'))", "(not (not (d17 = 'v1')))"),
        ("d1 in (1, 2) and d6 = 'v1'", "d1 in (1, 2) and d6 = 'v1'"),
    ],
)
def test_lists_of_strings_become_equalities(text: str, plain: str):
    assert both_can_say(text) == plain


def test_the_meaning_stays():
    setting = abe_gen.Setting(expressions=200)
    rows = [{}, *abe_gen.rows_of(abe_gen.events(setting, 20))]
    for text in abe_gen.rules(setting)["when"].to_pylist():
        before, after = parse_condition(text), parse_condition(both_can_say(text))
        assert [condition_truth(before, row) for row in rows] == [condition_truth(after, row) for row in rows]


def test_fields_that_hold_lists_have_words_of_their_own():
    assert for_the_crate("d9 in (1, 2) or d19 not in (3) or d91 in (4)") == (
        "d9 one of (1, 2) or d19 none of (3) or d91 in (4)"
    )


def test_events_are_lines():
    assert event_line({"d0": 5, "d6": "v1", "d8": True, "d9": [1, 2]}) == "d0\t5\td6\tv1\td8\ttrue\td9\t1,2"


def test_the_table_tells_the_ratios():
    figures = {
        "rules": 10, "matches": 1.0, "peer_event": 0.5, "single": 0.05, "blocks": 0.0005,
        "peer_build": 20.0, "build": 2.0,
    }  # fmt: skip
    machine = {"cores": "2", "processor": "any", "python": "3", "numba": "1"}
    text = table({"machine": machine, "workloads": {"small": figures}})
    assert "| **blocks are faster by** | 1,000 times |" in text
    assert "| **single events are faster by** | 10 times |" in text
    assert "| matches an event | 1 (10 %) |" in text
