"""What the engines dewey and interval have in common: places in order, and none too few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.expressions import (
    expected_matches,
    expressions,
    expressions_from,
    held_literals,
    lists_of,
    plain_lists,
)
from tests.trees import engine_of

from tocsin.engines import labelled_trees
from tocsin.engines.dewey import DeweyEngine
from tocsin.engines.interval import IntervalEngine
from tocsin.engines.labelled_trees import AnnotatedTrees

engines = pytest.mark.parametrize("engine", [DeweyEngine, IntervalEngine])


@engines
@pytest.mark.parametrize("most_places", [0, 2, 4_096])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_leaving_out_places_changes_no_match(
    engine: type[AnnotatedTrees], most_places: int, data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few or many opening places there are, and however large a rule."""
    monkeypatch.setattr(labelled_trees, "_FEW_OPENING", 0)
    monkeypatch.setattr(labelled_trees, "_MOST_PLACES", most_places)
    made = data.draw(expressions(most_rules=12))
    held = data.draw(held_literals(made.literals))
    assert plain_lists(engine.of(made).match(held)) == expected_matches(made, held)


@engines
def test_places_of_rules_that_cannot_hold_are_left_out(engine: type[AnnotatedTrees]) -> None:
    """Each rule needs a literal of its own, and one of many that others have, too."""
    rules, shared = 60, 40
    nodes: list[tuple[bool, list[int]]] = [(False, list(range(shared)))]
    literals = shared + rules
    nodes += [(True, [shared + rule, literals]) for rule in range(rules)]
    made = engine.of(expressions_from(literals, nodes, list(range(literals + 1, literals + 1 + rules))))
    both = made.search(lists_of([[*range(shared), shared + 7], list(range(shared))]))
    places = plain_lists(made.sort(both))
    assert places[1] == [], "no rule has its own literal"
    assert set(range(7 * 41, 8 * 41)) <= set(places[0])
    assert len(places[0]) <= 41 + 2 * 64, "those of the rule, and some of its neighbours"
    assert places[0] == sorted(places[0])
    assert plain_lists(made.evaluate(made.sort(both))) == [[7], []]


@engines
def test_steps_for_many_events_are_those_for_each(engine: type[AnnotatedTrees]) -> None:
    made = engine_of(engine, ("and", 0, ("or", 1, 2)), 1, ("or", ("and", 0, 2), 3))
    rng = np.random.default_rng(5)
    events = [np.flatnonzero(rng.random(4) < 0.5).tolist() for _ in range(200)]
    found = made.search(lists_of(events))
    places = made.sort(found)
    rules = plain_lists(made.evaluate(places))
    for event, held in enumerate(events):
        alone = made.search(lists_of([held]))
        assert plain_lists(alone) == [plain_lists(found)[event]]
        assert plain_lists(made.sort(alone)) == [plain_lists(places)[event]]
        assert plain_lists(made.match(lists_of([held]))) == [rules[event]]
