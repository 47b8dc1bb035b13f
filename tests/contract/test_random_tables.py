"""Random typed tables: every engine gives on a table what the meaning gives on its rows."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from tests.cases import Event, make_conditions, make_rule_set
from tests.contract.doors import RuleSet, built, by_event, by_reader, by_table, counted, expected, taken
from tests.strategies import rule_sets, typed_tables
from tests.typed_tables import make_table

from tocsin.engines import ENGINES

pytestmark = [
    pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning"),  # tables lack fields at random
    pytest.mark.filterwarnings("ignore:Encountered key"),  # a map with a key twice: the last one wins
]


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(rules=rule_sets(), made=typed_tables())
def test_typed_tables(rules: RuleSet, made: tuple[pa.Table, list[Event]]) -> None:
    table, events = made
    for engine in ENGINES:
        index, its_rules = taken(rules, engine)
        assert by_table(index, table) == expected(its_rules, events), engine


@pytest.mark.parametrize("seed", range(60))
def test_thousands_of_rows(seed: int) -> None:
    _compare_tables(["atree"], seed)


@pytest.mark.parametrize("seed", range(100, 110))
def test_hundreds_of_rows(seed: int) -> None:
    _compare_tables(ENGINES, seed)


def _compare_tables(engines: Iterable[str], seed: int) -> None:
    rng = random.Random(seed)
    rules = make_rule_set(rng, 30)
    made = [make_table(rng, 12) for _ in range(4)]
    for engine in engines:
        index, its_rules = taken(rules, engine)
        for table, events in made:
            found = expected(its_rules, events)
            assert by_table(index, table) == found, engine
            assert by_event(index, events) == found, engine


@pytest.mark.parametrize("seed", range(8))
def test_every_form_of_a_table(engine: str, seed: int) -> None:
    rng = random.Random(seed)
    index, rules = taken(make_rule_set(rng, 30), engine)
    table, events = make_table(rng, 40)
    found = expected(rules, events)
    assert by_table(index, table.combine_chunks()) == found
    assert by_reader(index, table, batch_rows=7) == found
    for batch in table.combine_chunks().to_batches():
        assert by_table(index, batch) == found
    start, size = rng.randint(0, len(events)), rng.randint(0, 10)
    assert by_table(index, table.slice(start, size)) == expected(rules, events[start : start + size])
    counts = index.match_table(table, count=True)
    assert (counts.per_event.to_pylist(), counts.per_rule.to_pylist()) == counted(rules, len(events), found)


@pytest.mark.parametrize("rows", [1_023, 1_025, 3_000])
def test_rows_beyond_a_block(rows: int) -> None:
    rng = random.Random(rows)
    rules = [(f"r{number}", each) for number, each in enumerate(make_conditions(rng, 60))]
    table, events, found = _long_table(rng, rules, rows)
    index = built(rules)
    assert by_table(index, table) == found
    assert by_reader(index, table, batch_rows=1_000) == found
    counts = index.match_table(table, count=True)
    assert (counts.per_event.to_pylist(), counts.per_rule.to_pylist()) == counted(rules, len(events), found)


def test_rows_beyond_a_piece() -> None:
    rng = random.Random(9)
    rules = [(f"r{number}", each) for number, each in enumerate(make_conditions(rng, 12))]
    table, _, found = _long_table(rng, rules, 17_500)
    index = built(rules)
    assert by_table(index, table.combine_chunks()) == found
    assert by_reader(index, table.combine_chunks(), batch_rows=20_000) == found
    assert index.match_table(table, count=True).per_event.to_pylist() == _per_event(found, 17_500)


def _long_table(rng: random.Random, rules: RuleSet, rows: int) -> tuple[pa.Table, list[Event], list]:
    """A table that repeats the rows of a short one at random, and what is expected of it."""
    short, events = make_table(rng, 60)
    while len(events) < 20:
        short, events = make_table(rng, 60)
    taken = [rng.randrange(len(events)) for _ in range(rows)]
    of_event: dict[int, list[str]] = {number: [] for number in range(len(events))}
    for number, rule in expected(rules, events):
        of_event[number].append(rule)
    found = [(row, rule) for row, number in enumerate(taken) for rule in of_event[number]]
    pieces = [short.slice(number, 1) for number in taken]
    return pa.concat_tables(pieces).combine_chunks(), [events[number] for number in taken], found


def _per_event(found: list[tuple[int, str]], events: int) -> list[int]:
    counts = [0] * events
    for event, _ in found:
        counts[event] += 1
    return counts
