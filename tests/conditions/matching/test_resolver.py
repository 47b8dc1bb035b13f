"""Cells of every kind, looked up for all groups at once, give what the meaning gives."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import Event
from tests.conftest import examples
from tests.contract.doors import RuleSet, built, by_cells, expected
from tests.pools import EXPRESSIONS, FOLDED_PATTERNS, LIKE_PATTERNS, LITERALS, NETWORKS, VALUES

from tocsin import Rules
from tocsin.conditions.graph import compile_rules
from tocsin.conditions.language import (
    Condition,
    Literal,
    Path,
    Predicate,
    Test,
    parse_condition,
    print_condition,
)
from tocsin.conditions.matching.resolver import Resolver
from tocsin.events import FieldPlan, Kind
from tocsin.text import EventDocuments

FIELDS: list[Path] = [("x",), ("y",), ("z",)]
"""Each is asked about as every kind, so that a field has a group of each."""


def predicates(field: Path) -> list[Predicate]:
    made = [Predicate(field, Test.NULL, ())]
    for literals in LITERALS.values():
        for number, literal in enumerate(literals):
            test = (Test.EQ, Test.LT, Test.GE, Test.LE, Test.GT)[number % 5]
            made.append(Predicate(field, test, (literal,)))
            made.append(Predicate(field, Test.IN, (literal, literals[number // 2])))
            made.append(Predicate(field, Test.BETWEEN, (literals[number // 2], literal)))
    on_texts = {
        Test.LIKE: LIKE_PATTERNS,
        Test.ILIKE: FOLDED_PATTERNS,
        Test.MATCHES: EXPRESSIONS,
        Test.CIDR: NETWORKS,
    }
    for test, texts in on_texts.items():
        made += [Predicate(field, test, (Literal(Kind.STRING, text),)) for text in texts[::2]]
    return made


@cache
def asked() -> tuple[Any, RuleSet]:
    """An index of every predicate and its negation."""
    rules: list[tuple[str, Condition]] = []
    for field in FIELDS:
        for predicate in predicates(field):
            positive = Condition((predicate,))
            rules.append((f"r{len(rules)}", positive))
            rules.append((f"r{len(rules)}", parse_condition(f"not ({print_condition(positive)})")))
    return built(rules), rules


def values(kind: Kind) -> st.SearchStrategy[object]:
    """Mostly of one kind, alone or in lists; missing, empty, of another kind or an object now and then."""
    own = st.sampled_from(VALUES[kind])
    others = st.sampled_from([value for each in VALUES.values() for value in each])
    mixed = st.lists(own | others | st.none(), max_size=3)
    return own | own | mixed | st.lists(own, max_size=3) | others | st.sampled_from([None, {"a": 1}, []])


@pytest.mark.parametrize("kind", list(Kind))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_kind_of_column(kind: Kind, data: st.DataObject) -> None:
    index, rules = asked()
    event = st.fixed_dictionaries({}, optional={name: values(kind) for (name,) in FIELDS})
    events = data.draw(st.lists(event, min_size=2, max_size=12))
    assert by_cells(index, events) == expected(rules, events)


def test_the_cells_of_groups_whose_values_come_from_several_sources() -> None:
    """Instants and strings that read as such, empty lists among values: each group ascends by event."""
    _, rules = asked()
    compiled = compile_rules(Rules.of([(name, print_condition(condition)) for name, condition in rules]))
    every = [value for pool in VALUES.values() for value in (*pool, [], [pool[0], pool[-1]], None)]
    events = [{"x": value, "y": other} for value, other in product(every, [[], 5, "2026-01-31"])]
    resolver = Resolver(compiled)
    batch = FieldPlan(resolver.fields).batch(events)
    cells = resolver.resolve(batch, EventDocuments(batch))
    several = 0
    for group in range(len(compiled.group_path)):
        stretch = slice(cells.group_start[group], cells.group_start[group + 1])
        assert (np.diff(cells.row[stretch]) >= 0).all()
        several += len(np.unique(cells.row[stretch])) > 1
    assert several >= len(Kind)
    assert (
        cells.group_start[-1] == len(cells.row) == len(cells.posting) == len(cells.slot) == len(cells.found)
    )


def test_a_batch_without_any_cell() -> None:
    index, rules = asked()
    events: list[Event] = [{"other": 1}, {}]
    assert by_cells(index, events) == expected(rules, events)
