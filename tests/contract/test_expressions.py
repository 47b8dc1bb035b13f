"""Every engine beside the A-Tree on random expressions, without predicates and events around them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions import (
    expected_matches,
    expressions,
    expressions_from,
    held_literals,
    lists_of,
    plain_lists,
)

from tocsin.arrays.lists import Lists
from tocsin.engines import BUILDERS, Expressions
from tocsin.engines.engine import EngineBuilder

Case = tuple[Expressions, Lists]

builders = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Expressions, and events for them."""
    made = draw(expressions())
    return made, draw(held_literals(made.literals))


@builders
@given(case=cases())
def test_random_expressions(build: EngineBuilder, case: Case) -> None:
    made, held = case
    assert plain_lists(build(made).match(held)) == expected_matches(made, held)


@builders
def test_events_one_by_one_and_together(build: EngineBuilder) -> None:
    """Scratch memory is left as it was found."""
    rng = np.random.default_rng(3)
    nodes = []
    for number in range(60):
        width = int(rng.integers(1, 5))
        nodes.append((bool(rng.integers(2)), rng.integers(0, 40 + number, width).tolist()))
    made = expressions_from(40, nodes, rng.integers(0, 102, 80).tolist())
    events = [sorted(set(rng.integers(0, 40, int(rng.integers(0, 30))).tolist())) for _ in range(50)]
    engine = build(made)
    together = plain_lists(engine.match(lists_of(events)))
    assert together == expected_matches(made, lists_of(events))
    assert [plain_lists(engine.match(lists_of([each])))[0] for each in events] == together


@builders
@pytest.mark.parametrize("depth", [1, 2, 3, 12, 40])
def test_a_chain_of_alternating_nodes(build: EngineBuilder, depth: int) -> None:
    """0 and (1 or (2 and (3 or ...)))."""
    nodes = [(bool(depth % 2), [depth - 1, depth])]
    for level in range(depth - 2, -1, -1):
        nodes.append((level % 2 == 0, [level, depth + len(nodes)]))
    made = expressions_from(depth + 1, nodes, [depth + len(nodes)])
    rng = np.random.default_rng(depth)
    events = [np.flatnonzero(rng.random(depth + 1) < 0.6).tolist() for _ in range(40)]
    events += [[], list(range(depth + 1))]
    assert plain_lists(build(made).match(lists_of(events))) == expected_matches(made, lists_of(events))


@builders
def test_no_rules_and_no_events(build: EngineBuilder) -> None:
    none = expressions_from(1, [], [])
    assert plain_lists(build(none).match(lists_of([[], [0]]))) == [[], []]
    assert plain_lists(build(none).match(lists_of([]))) == []


@builders
def test_an_engine_says_what_memory_it_takes(build: EngineBuilder) -> None:
    made = expressions_from(3, [(True, [0, 1]), (False, [2, 3])], [4])
    parts = build(made).bytes_of_parts()
    assert parts
    assert all(taken > 0 for taken in parts.values())
