"""Rules in parts are asked by number as if they were in one index: the answers are the same."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import make_event, make_rule_set
from tests.sharded_rules import in_parts, shared_out
from tests.text_rules import make_condition
from tests.text_rules import make_event as make_text_event

import tocsin
from tocsin import Index, Rules
from tocsin.conditions.language import print_condition
from tocsin.conditions.live import Snapshot
from tocsin.conditions.live.sharded_index import sharded_index
from tocsin.conditions.matching import BatchMatches
from tocsin.events import EventBatch, FieldPlan

Answer = list[tuple[int, str, float | None]]
EVENTS = 200
"""More than three of the words of 64 events that slices are cut at."""


def cells(index: Index, events: list[dict[str, object]]) -> EventBatch:
    return FieldPlan(index.fields).batch(events)


def answer(version: Snapshot, found: BatchMatches, first: int = 0) -> Answer:
    """Event, rule and score of matches of events `first` on, sorted."""
    events = np.repeat(np.arange(first, first + len(found.per_event)), found.per_event)
    names = version.names.column(found.rule).to_pylist()
    scores = [None] * len(names) if found.score is None else found.score.tolist()
    known = [None if score is None or score != score else score for score in scores]
    return sorted(zip(events.tolist(), names, known, strict=True), key=repr)


def sliced(version: Snapshot, batch: EventBatch, most: int) -> tuple[Answer, int]:
    """The same by slices, and how many events they had."""
    first, rows = 0, []
    for found in version.match_slices(batch, most):
        rows += answer(version, found, first)
        first += len(found.per_event)
    return sorted(rows, key=repr), first


def made(rng: random.Random) -> tuple[Rules, list[dict[str, object]]]:
    """Rules with and without free text, some with metadata of their own, and events for all of them."""
    plain = [(name, print_condition(each)) for name, each in make_rule_set(rng, 60)]
    texts = [(f"text{number}", make_condition(rng)) for number in range(rng.choice((0, 20)))]
    pairs = [*plain, *texts]
    alerts = [f"at {name}" if rng.random() < 0.3 else None for name, _ in pairs]
    ids, whens = zip(*pairs, strict=True)
    rules = Rules.of(pa.table({"id": ids, "when": whens, "alert": pa.array(alerts, pa.string())}))
    events = [make_event(rng) if rng.random() < 0.5 else make_text_event(rng) for _ in range(EVENTS)]
    return rules, events


@pytest.mark.parametrize("seed", range(8))
def test_it_answers_as_one_index_of_the_same_rules(seed: int) -> None:
    rng = random.Random(seed)
    rules, events = made(rng)
    whole, parts = tocsin.build(rules), in_parts(rng, rules, rng.randint(1, 5))
    assert isinstance(whole, Index)
    one, several = whole.version, parts.version
    assert several.fields == parts.fields == sorted(whole.fields)
    batch = cells(parts, events)
    expected = answer(one, one.match_cells(cells(whole, events)))
    assert expected
    assert answer(several, several.match_cells(batch)) == expected
    for most in (1, 100, 1 << 20):
        assert sliced(several, batch, most) == (expected, EVENTS)
    numbers = several.numbers()
    assert several.count == len(numbers) == len(rules)
    by_id = dict(zip(rules.ids.to_pylist(), rules, strict=True))
    some = np.array(sorted(rng.sample(range(several.count), several.count // 2)), np.int64)
    ids, whens = several.ids_of(some).to_pylist(), several.whens_of(some).to_pylist()
    assert [by_id[name].when for name in ids] == whens
    assert several.names.column(some[::-1].astype(np.int32)).to_pylist() == ids[::-1]
    carried = several.metadata_of(some)
    alerts = [None] * len(ids) if carried is None else carried["alert"].to_pylist()
    assert alerts == [by_id[name].metadata.get("alert") for name in ids]


def test_it_stays_as_it_is_when_a_part_is_changed() -> None:
    parts = shared_out(random.Random(1), [(f"r{number}", f"n = {number % 3}") for number in range(30)], 3)
    index = sharded_index(parts)
    before = index.version
    parts[1].insert("new", "n = 1")
    parts[0].delete(parts[0].ids[0])
    batch = cells(index, [{"n": 1}])
    assert len(answer(before, before.match_cells(batch))) == 10
    names = [rule for _, rule, _ in answer(index.version, index.version.match_cells(batch))]
    assert "new" in names
    assert index.ids.to_pylist() == index.version.ids_of(index.version.numbers()).to_pylist()


def test_no_parts_and_no_events() -> None:
    nothing = sharded_index([]).version
    assert (nothing.count, nothing.fields, len(nothing.numbers())) == (0, [], 0)
    assert nothing.match_cells(EventBatch(3, {})).per_event.tolist() == [0, 0, 0]
    assert sliced(nothing, EventBatch(3, {}), 10) == ([], 3)
    some = in_parts(random.Random(1), [("a", "true")], 3).version
    assert sliced(some, EventBatch(0, {}), 10) == ([], 0)
    assert sliced(some, EventBatch(2, {}), 10) == ([(0, "a", None), (1, "a", None)], 2)
