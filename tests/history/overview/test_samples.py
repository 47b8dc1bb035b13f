"""Samples: the events of least hash of every rule, whatever the order and the batches they come in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.events import FieldPlan
from tocsin.history.overview import samples as samples_module
from tocsin.history.overview.samples import Samples, event_hashes

Noted = list[tuple[int, list[int]]]
"""Events: the hash of each, and the rules that it satisfies."""

RULES = 4
noted_events = st.lists(
    st.tuples(st.integers(0, 12), st.lists(st.integers(0, RULES - 1), unique=True).map(sorted)), max_size=40
)


def taken(events: Noted, count: int, size: int) -> tuple[set[tuple[int, int, int]], dict[int, str | None]]:
    kept = Samples(RULES, count)
    for first in range(0, len(events), size):
        batch = events[first : first + size]
        row = np.repeat(np.arange(len(batch)), [len(rules) for _, rules in batch])
        rule = np.array([each for _, rules in batch for each in rules], np.int32)
        hashes = np.array([each for each, _ in batch], np.int64)
        place = np.arange(first, first + len(batch))

        def texts(rows: Sequence[int], first: int = first) -> list[str | None]:
            return [f"event {first + each}" for each in rows]

        kept.add(rule, row, hashes, place, texts)
    chosen = kept.take()
    return set(
        zip(chosen.rule.tolist(), chosen.hash.tolist(), chosen.place.tolist(), strict=True)
    ), chosen.texts


def by_rule(events: Noted) -> Noted:
    """As from an index: events that look alike satisfy the same rules."""
    first: dict[int, list[int]] = {}
    for each, rules in events:
        first.setdefault(each, rules)
    return [(each, first[each]) for each, _ in events]


@settings(max_examples=200)
@given(noted_events, st.integers(1, 3), st.integers(1, 9), st.sampled_from([2, 1 << 20]))
def test_the_least_of_each_rule(events: Noted, count: int, size: int, enough: int) -> None:
    given_events = by_rule(events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples_module, "ENOUGH", enough)
        patch.setattr(samples_module, "_FEW", 2)
        found, texts = taken(given_events, count, size)
    wanted = set()
    for rule in range(RULES):
        places: dict[int, int] = {}
        for place, (each, rules) in enumerate(given_events):
            if rule in rules:
                places.setdefault(each, place)
        wanted |= {(rule, each, places[each]) for each in sorted(places)[:count]}
    assert found == wanted
    assert {each: f"event {place}" for _, each, place in wanted} == texts


def test_a_hash_is_of_what_rules_see_and_of_nothing_else() -> None:
    events: list[dict[str, object]] = [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "x"},
        {"a": "1", "b": "x"},
        {"b": 1, "a": "x"},
        {"a": 1.0, "b": "x", "c": 5},
        {"a": None},
        {"a": []},
        {"a": [1, "x"]},
        {"a": ["x", 1]},
        {"a": True},
        {"a": {}},
    ]
    hashes = event_hashes(FieldPlan([("a",), ("b",)]).batch(events)).tolist()
    assert hashes[0] == hashes[4]
    assert hashes[7] == hashes[8]
    assert len(set(hashes)) == len(events) - 2
    alone = [event_hashes(FieldPlan([("b",), ("a",)]).batch([event])).tolist() for event in events]
    assert alone == [[each] for each in hashes]
    assert min(hashes) >= 0
