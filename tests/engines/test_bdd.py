"""Decision diagrams: reduced, canonical, within their limits; and the forest that they are matched in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions import (
    MOST_LITERALS,
    expected_matches,
    expressions,
    expressions_from,
    lists_of,
    matching_rules,
    plain_lists,
)

from tocsin.engines import Expressions, RefusedRules
from tocsin.engines.bdd import BddEngine
from tocsin.engines.kernels.bdd_construction import build_diagrams
from tocsin.engines.kernels.bdd_nodes import FALSE, MOST_NODES, NO_ROOM, TOO_LARGE, TRUE, Diagrams
from tocsin.engines.kernels.bdd_order import order_of_literals

STEPS = 1 << 16


def every_event(literals: int) -> list[list[int]]:
    return [list(held) for size in range(literals + 1) for held in combinations(range(literals), size)]


def walk(diagrams: Diagrams, rule: int, variables: set[int]) -> bool:
    """Whether a rule holds, from the top down as the paper has it."""
    at = int(diagrams.root[rule])
    while at not in (FALSE, TRUE):
        variable, low, high = diagrams.node[at].tolist()
        at = high if variable in variables else low
    return at == TRUE


@given(expressions(), st.permutations(range(MOST_LITERALS)))
def test_diagrams_are_reduced_ordered_and_monotone(made: Expressions, order: list[int]) -> None:
    variable = np.array([each for each in order if each < made.literals], np.int32)
    node = build_diagrams(made, variable, STEPS, MOST_NODES).node
    inner = node[2:].tolist()
    assert len(set(map(tuple, inner))) == len(inner)
    for number, (variable_of, low, high) in enumerate(inner, 2):
        assert low != high
        assert max(low, high) < number
        assert variable_of < min(node[low, 0], node[high, 0])
        assert low != TRUE
        assert high != FALSE


@given(expressions(), st.permutations(range(MOST_LITERALS)))
def test_one_node_for_one_function(made: Expressions, order: list[int]) -> None:
    """Rules that hold in the same events have the same root, and others have another."""
    variable = np.array([each for each in order if each < made.literals], np.int32)
    diagrams = build_diagrams(made, variable, STEPS, MOST_NODES)
    events = every_event(made.literals)
    answers = [set(matching_rules(made, held)) for held in events]
    for rule in range(len(made.root)):
        assert [walk(diagrams, rule, {int(variable[each]) for each in held}) for held in events] == [
            rule in answer for answer in answers
        ]
    for one, other in combinations(range(len(made.root)), 2):
        alike = all((one in answer) == (other in answer) for answer in answers)
        assert (diagrams.root[one] == diagrams.root[other]) == alike


@given(expressions())
def test_every_event(made: Expressions) -> None:
    events = lists_of(every_event(made.literals))
    assert plain_lists(BddEngine.of(made).match(events)) == expected_matches(made, events)


@given(expressions())
def test_literals_have_different_places(made: Expressions) -> None:
    assert sorted(order_of_literals(made).tolist()) == list(range(made.literals))


@pytest.mark.parametrize("count", [2, 30, 33, 64, 65, 200])
def test_rows_of_many_rules(count: int) -> None:
    """Rule k holds when literal k or a later one does: the last literal makes all of them true at once."""
    nodes: list[tuple[bool, Sequence[int]]] = [(False, range(first, count)) for first in range(count)]
    nodes += [(True, [count, 2 * count - 1 - first]) for first in range(0, count, 3)]
    made = expressions_from(count, nodes, range(count, 2 * count + (count + 2) // 3))
    held = lists_of([[each] for each in range(count)] + [[0, count - 1], list(range(count)), []])
    assert plain_lists(BddEngine.of(made).match(held)) == expected_matches(made, held)


# ---- Order


def alternating(pairs: int) -> Expressions:
    """Whether an odd number of predicates is true: predicate i is literal 2i, and its falsehood 2i + 1."""
    nodes: list[tuple[bool, list[int]]] = []
    odd, even = 0, 1
    for true in range(2, 2 * pairs, 2):
        first = 2 * pairs + len(nodes)
        nodes += [(True, [odd, true + 1]), (True, [even, true]), (False, [first, first + 1])]
        nodes += [(True, [odd, true]), (True, [even, true + 1]), (False, [first + 3, first + 4])]
        odd, even = first + 2, first + 5
    return expressions_from(2 * pairs, nodes, [odd])


def test_a_predicate_is_asked_next_to_its_falsehood():
    """Otherwise every predicate would double the diagram, and 60 of them would be refused."""
    made = alternating(60)
    engine = BddEngine.of(made, most_steps=1_000)
    assert len(engine.forest.plain) + len(engine.forest.guarded) < 60 * 10


# ---- Limits


def equal_pairs(pairs: int) -> list[tuple[bool, list[int]]]:
    """(0 and n) or (1 and n+1) or ...: large when all of the first are asked before all of the second."""
    return [(True, [each, each + pairs]) for each in range(pairs)]


def test_a_large_diagram_is_refused_and_leaves_no_trace():
    pairs = 12
    nodes = [*equal_pairs(pairs), (False, range(2 * pairs, 3 * pairs)), (True, [0, 3 * pairs])]
    small, large, above = range(2 * pairs, 3 * pairs), 3 * pairs, 3 * pairs + 1
    natural = np.arange(2 * pairs, dtype=np.int32)
    without = expressions_from(2 * pairs, nodes, [*small, 3])
    made = expressions_from(2 * pairs, nodes, [*small, large, above, 3])
    expected = build_diagrams(without, natural, STEPS, MOST_NODES)
    limited = build_diagrams(made, natural, 500, MOST_NODES)
    assert limited.root.tolist() == [*expected.root[:-1], TOO_LARGE, TOO_LARGE, expected.root[-1]]
    assert limited.node.tolist() == expected.node.tolist()
    whole = build_diagrams(made, natural, STEPS, MOST_NODES)
    assert (whole.root > TRUE).all()
    assert len(whole.node) > 1 << pairs


def test_refused_rules_have_reasons():
    made = alternating(10)
    with pytest.raises(RefusedRules) as refused:
        BddEngine.of(made._replace(root=np.append(made.root, 3).astype(np.int32)), most_steps=4)
    assert refused.value.reasons == {0: "its decision diagram takes more than 4 steps"}
    with pytest.raises(RefusedRules) as refused:
        BddEngine.of(made, most_nodes=16)
    assert refused.value.reasons == {
        0: "with the diagrams of the rules before it there are more than 16 nodes"
    }


@given(expressions(), st.integers(2, 12), st.integers(1, 6))
def test_limits_refuse_and_never_mislead(made: Expressions, most_nodes: int, most_steps: int) -> None:
    """What is not refused is right, and there are no more nodes than there may be."""
    variable = order_of_literals(made)
    limited = build_diagrams(made, variable, most_steps, most_nodes)
    whole = build_diagrams(made, variable, STEPS, MOST_NODES)
    assert len(limited.node) <= most_nodes
    for rule in range(len(made.root)):
        if limited.root[rule] < 0:
            assert limited.root[rule] in (TOO_LARGE, NO_ROOM)
            continue
        for held in every_event(min(made.literals, 5)):
            variables = {int(variable[each]) for each in held}
            assert walk(limited, rule, variables) == walk(whole, rule, variables)


def test_a_hundred_thousand_levels():
    depth = 100_000
    nodes = [(level % 2 == 0, [level % 3, 1 + level]) for level in range(1, depth)]
    made = expressions_from(3, nodes, [depth + 1])
    held = lists_of([[0, 1], [0, 1, 2], [2], []])
    assert plain_lists(BddEngine.of(made).match(held)) == expected_matches(made, held)


def test_a_hundred_thousand_literals_in_a_row():
    """The diagram is as deep as that."""
    count = 100_000
    made = expressions_from(count, [(True, range(count)), (False, range(count))], [count, count + 1])
    held = lists_of([range(count), range(1, count), [count - 1], []])
    assert plain_lists(BddEngine.of(made).match(held)) == [[0, 1], [1], [1], []]


def test_what_it_takes_is_what_its_arrays_take():
    made = expressions_from(3, [(True, [0, 1]), (False, [2, 3])], [4, 3])
    engine = BddEngine.of(made)
    arrays = [each for each in engine.forest if isinstance(each, np.ndarray)]
    assert sum(engine.bytes_of_parts().values()) == sum(array.nbytes for array in arrays)
