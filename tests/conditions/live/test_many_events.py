"""match_many gives what match gives for each event, in blocks or not, and names what it cannot read."""

from __future__ import annotations

import random
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import make_event, make_rule_set
from tests.contract.doors import built, expected, taken
from tests.sharded_rules import in_parts
from tests.text_rules import make_condition as make_text_condition
from tests.text_rules import make_event as make_text_event

import tocsin
from tocsin.conditions.live import many_events
from tocsin.engines import ENGINES
from tocsin.errors import EventError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.fixture(params=["blocks", "one by one", "either"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    fewest = {"blocks": -1_000, "one by one": 1_000_000, "either": 5}
    monkeypatch.setattr(many_events, "FEWEST", fewest[request.param])
    return str(request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("engine", ENGINES)
def test_the_meaning_of_each_event(engine: str) -> None:
    rng = random.Random(7)
    index, rules = taken(make_rule_set(rng, 30), engine)
    for count in (0, 1, 4, 5, 70):
        events = [make_event(rng) for _ in range(count)]
        found = index.match_many(iter(events))
        assert [(row, match.rule) for row, each in enumerate(found) for match in each] == expected(
            rules, events
        )
        assert found == [index.match(event) for event in events]
        assert all(each.rules().to_pylist() == [match.rule for match in each] for each in found)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(4))
def test_scores_changes_and_shards(seed: int) -> None:
    rng = random.Random(seed)
    rules = [(f"t{number}", make_text_condition(rng)) for number in range(20)]
    events = [make_text_event(rng) for _ in range(40)]
    index: Any = tocsin.build(rules)
    for some in (index, in_parts(rng, rules, 3)):
        each: Any = some
        assert each.match_many(events) == [each.match(event) for event in events]
    index.delete("t3")
    index.replace("t4", make_text_condition(rng))
    index.insert("new", "true")
    found = index.match_many(events)
    assert found == [index.match(event) for event in events]
    index.delete("new")
    assert all("new" in {match.rule for match in each} for each in found), "what was found stays"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 120))
def test_random_events(seed: int, count: int) -> None:
    rng = random.Random(seed)
    rules = make_rule_set(rng, 10)
    index = built(rules)
    events = [make_event(rng) for _ in range(count)]
    found = [(row, match.rule) for row, each in enumerate(index.match_many(events)) for match in each]
    assert found == expected(rules, events)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bad", [7, None, [("x", 1)], {"s": "\ud800"}, {"x": 1j}])
def test_the_first_bad_event_is_named(bad: Any) -> None:
    index: Any = tocsin.build([("a", "x > 1"), ("b", "s = 'x' or x < 0")])
    events: list[Any] = [{"x": 2, "s": "x"} for _ in range(12)]
    events[9] = {"s": "\udfff"}
    events[7] = bad
    with pytest.raises(EventError) as alone:
        index.match(bad)
    with pytest.raises(EventError, match=r"^event 7: ") as caught:
        index.match_many(events)
    assert caught.value.row == 7
    assert caught.value.reason == alone.value.reason
    assert [len(each) for each in index.match_many(events[:7])] == [2] * 7


@pytest.mark.parametrize("events", [{"x": 1}, "x", b"x"])
def test_what_is_no_list_of_events(events: Any) -> None:
    with pytest.raises(UsageError, match="match_many takes a list of events"):
        tocsin.build([("a", "x > 1")]).match_many(events)


@pytest.mark.usefixtures("way")
def test_other_mappings_and_other_threads() -> None:
    index: Any = tocsin.build(
        [(f"r{number}", f"x > {number} and s ilike '%{number}%'") for number in range(50)]
    )
    events: list[Any] = [{"x": row % 60, "s": f"text {row}"} for row in range(120)]
    right = [index.match(event) for event in events]
    assert index.match_many([UserDict(event) for event in events]) == right
    with ThreadPoolExecutor(4) as pool:
        many = pool.map(lambda _: index.match_many(events), range(12))
        one = pool.map(index.match, events * 4)
        assert list(many) == [right] * 12
        assert list(one) == right * 4
