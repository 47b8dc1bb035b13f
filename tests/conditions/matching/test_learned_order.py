"""A sample of events changes which child of an AND is asked first, and no match."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import events, rule_sets

import tocsin
from tocsin import Index
from tocsin.conditions.language import print_condition


def graph_of(index: object) -> tuple[Index, np.ndarray]:
    assert isinstance(index, Index)
    return index, index.version.layers[0].compiled.graph.child


@given(rule_sets(), st.lists(events(), min_size=1, max_size=5), st.lists(events(), max_size=5))
def test_no_match_changes(rules, given_events, sample) -> None:
    pairs = [(name, print_condition(condition)) for name, condition in rules]
    plain, learned = tocsin.build(pairs), tocsin.build(pairs, sample=sample)
    for event in given_events:
        assert list(learned.match(event)) == list(plain.match(event))


def test_the_child_that_seldom_holds_comes_first() -> None:
    often_x = [{"x": 1, "y": number % 7} for number in range(700)]
    often_y = [{"x": number % 7, "y": 1} for number in range(700)]
    rules = [("a", "x = 1 and y = 1")]
    _, by_x = graph_of(tocsin.build(rules, sample=often_x))
    _, by_y = graph_of(tocsin.build(rules, sample=pa.Table.from_pylist(often_y)))
    assert by_x.tolist() == by_y.tolist()[::-1]
    assert by_x[0] == 1, "leaves are in the order of their fields, and y = 1 seldom holds"


def test_what_is_no_sample() -> None:
    with pytest.raises(tocsin.UsageError, match="a sample is a table or a list of dictionaries"):
        tocsin.build([("a", "x = 1")], sample=3)  # type: ignore[arg-type]
    with pytest.raises(tocsin.UsageError, match="the engine scan has no use for a sample"):
        tocsin.build([("a", "x = 1")], engine="scan", sample=[])
