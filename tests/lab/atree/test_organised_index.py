"""The organised graph gives the same matches as the shared one, with parts that cover each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, rule_sets

import tocsin
from tocsin import Index
from tocsin.conditions.language.printer import print_condition
from tocsin_lab.atree.organised_index import build_organised


@given(rule_sets(), st.lists(events(), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_same_matches(rules, given_events, reorganise, self_adjust) -> None:
    pairs = [(name, print_condition(condition)) for name, condition in rules]
    plain = tocsin.build(pairs)
    organised = build_organised(pairs, reorganise=reorganise, self_adjust=self_adjust)
    for event in given_events:
        assert list(organised.match(event)) == list(plain.match(event))


@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_inside_another_is_its_child(order: int) -> None:
    """Four edges instead of five, whichever comes first."""
    rules = [("inner", "a = 1 and b = 2"), ("outer", "a = 1 and b = 2 and c = 3")][::order]
    plain = tocsin.build(rules)
    assert isinstance(plain, Index)
    assert plain.stats().edges == 5
    assert build_organised(rules).stats().edges == 4
