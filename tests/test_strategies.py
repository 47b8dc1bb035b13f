"""The random cases themselves: that they are valid, varied, and say the same in both forms."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from tests.cases import Event, make_event, make_predicate, make_rule_set, random_condition
from tests.pools import DECIMAL_TEXTS, FIELDS, LITERALS
from tests.strategies import conditions, json_events, rule_sets, typed_tables
from tests.typed_tables import make_table

from tocsin.conditions.language import (
    TEXT_TESTS,
    Condition,
    Connective,
    Operator,
    Path,
    Test,
    parse_condition,
    print_condition,
)
from tocsin.conditions.language.numerals import read_number
from tocsin.conditions.meaning import Truth, lookup, predicate_truth


def test_literals_are_in_the_parsers_form() -> None:
    assert [read_number(text) for text in DECIMAL_TEXTS] == DECIMAL_TEXTS
    assert all(literal.kind is kind for kind, literals in LITERALS.items() for literal in literals)


@given(conditions())
def test_conditions_are_whole(condition: Condition) -> None:
    height = 0
    for step in condition.steps:
        height += 1 - step.arity if isinstance(step, Operator) else 1
        assert height >= 1
    assert height == 1
    assert parse_condition(print_condition(condition)) == condition


@given(rule_sets(most=5))
def test_rule_sets_have_distinct_ids(rules: list[tuple[str, Condition]]) -> None:
    assert 1 <= len(rules) <= 5
    assert len({name for name, _ in rules}) == len(rules)


@given(json_events())
def test_json_events_survive_json(event: Event) -> None:
    assert json.loads(json.dumps(event, allow_nan=False)) == event


def scalars_at(event: Event, field: Path) -> object:
    """What is at a field, with every object the same: the fields within it are looked at on their own."""
    found = lookup(event, field)
    if isinstance(found, list):
        return ["object" if isinstance(element, dict) else element for element in found]
    return "object" if isinstance(found, dict) else found


@pytest.mark.filterwarnings("ignore:Encountered key")  # a map with a key twice: the last one wins
def test_typed_tables_agree_with_arrows_own_reading() -> None:
    compared = 0
    for seed in range(300):
        table, rows = make_table(random.Random(seed))
        try:
            read = table.to_pylist(maps_as_pydicts="lossy")
        except OverflowError:  # the year 10000 in some zone, which Python's datetime does not have
            continue
        assert len(read) == len(rows)
        for there, here in zip(read, rows, strict=True):
            for field in FIELDS:
                assert scalars_at(there, field) == scalars_at(here, field)
                compared += 1
    assert compared > 10_000


@given(typed_tables(most_rows=3))
def test_drawn_tables_have_as_many_rows_as_events(made: tuple[pa.Table, list[Event]]) -> None:
    table, rows = made
    assert table.num_rows == len(rows) <= 3
    assert all(set(row) <= set(table.column_names) for row in rows)


def test_everything_occurs() -> None:
    rng = random.Random(3)
    truths = {
        (p.test, predicate_truth(p, make_event(rng))) for p in (make_predicate(rng) for _ in range(8_000))
    }
    structured = set(Test) - TEXT_TESTS  # free text has makers of its own: text_rules.py
    known = {(test, truth) for test in structured for truth in (Truth.TRUE, Truth.FALSE)}
    assert known <= truths
    connectives = {
        step.connective
        for _ in range(200)
        for step in random_condition(rng).steps
        if isinstance(step, Operator)
    }
    assert connectives == set(Connective)
    types = {
        str(field.type).split("<")[0].split("[")[0]
        for _ in range(300)
        for field in make_table(rng, 1)[0].schema
    }
    assert {
        "map",
        "struct",
        "list",
        "large_list",
        "dictionary",
        "timestamp",
        "uint64",
        "date32",
        "null",
    } <= types


def test_rules_share_parts() -> None:
    rng = random.Random(5)
    shared = 0
    for _ in range(50):
        rules = make_rule_set(rng)
        leaves = [set(condition.predicates()) for _, condition in rules]
        shared += len(leaves) > 1 and any(a & b for a, b in pairwise(leaves))
    assert shared > 25
