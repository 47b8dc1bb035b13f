"""Every design of the paper's A-Tree gives the oracle's answer, whatever the order of inserts and deletes."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.atree_invariants import check_invariants
from tests.cases import make_event, make_rule_set
from tests.strategies import events, rule_sets

from tocsin.conditions.language import Condition
from tocsin.conditions.meaning import matches
from tocsin.errors import UsageError
from tocsin_lab.atree.paper_atree import Design, PaperAtree


def _allowed(design: Design) -> bool:
    try:
        design.check()
    except UsageError:
        return False
    return True


DESIGNS = [
    design
    for on in product([True, False], repeat=7)
    for plain in [Design(on[0], on[1], on[2], on[3], on[4], on[5], on[6])]
    for design in [plain, plain._replace(access="random")]
    if _allowed(design) and (design.on_demand or design.access == "selectivity")
]


def test_all_designs_are_here():
    """5 ways to build with two forms, and zero suppression, on demand (two accesses) or neither; stamps."""
    assert len(DESIGNS) == 5 * 2 * 4 * 2
    assert len(set(DESIGNS)) == len(DESIGNS)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: "-".join(map(str, design)))
def test_a_seeded_history(design):
    rng = random.Random(str(design))
    history(rng, make_rule_set(rng, 14), [make_event(rng) for _ in range(3)], design)


@given(rule_sets(most=10), events(), st.sampled_from(DESIGNS), st.integers(0, 1_000))
@settings(max_examples=150)
def test_any_history(rules, event, design, seed):
    history(random.Random(seed), rules, [event], design)


def history(rng, rules, some_events, design):
    """Insert and delete in any order; after each step the tree is whole and matches as the oracle."""
    atree = PaperAtree(design=design)
    present: dict[str, Condition] = {}
    waiting = list(rules)
    while waiting or present:
        if waiting and (not present or rng.random() < 0.6):
            rule, condition = waiting.pop(rng.randrange(len(waiting)))
            atree.insert(rule, condition)
            present[rule] = condition
        else:
            rule = rng.choice(list(present))
            atree.delete(rule)
            condition = present.pop(rule)
            if rng.random() < 0.2:
                waiting.append((rule, condition))
        check_invariants(atree.atree, atree.roots.tolist())
        for event in some_events:
            expected = [rule for rule, condition in present.items() if matches(condition, event)]
            assert atree.match(event) == expected
    assert len(atree.atree) == 0
    assert atree.atree.edges == 0


def test_a_design_that_contradicts_itself_is_refused():
    with pytest.raises(UsageError, match="need sharing"):
        PaperAtree(design=Design(sharing=False))
    with pytest.raises(UsageError, match="needs zero_suppression"):
        PaperAtree(design=Design(zero_suppression=False))


def test_ids_are_unique_and_deleting_needs_one():
    atree = PaperAtree([("r", "a = 1 and b = 2")])
    with pytest.raises(UsageError, match="there is a rule 'r' already"):
        atree.insert("r", "c = 3")
    with pytest.raises(UsageError, match="there is no rule 's'"):
        atree.delete("s")
    assert atree.match({"a": 1, "b": 2}) == ["r"]


def test_asking_for_unknown_expressions_does_no_harm() -> None:
    atree = PaperAtree([("a", "x = 1 and y = 2")])
    atree.match({})
    for value in range(10, 200):
        with pytest.raises(KeyError):
            atree.node(f"x = {value}")
    assert list(atree.match({"x": 1, "y": 2})) == ["a"]


def test_the_access_child_is_chosen_in_a_known_way() -> None:
    with pytest.raises(UsageError, match="by 'selectivity' or at 'random', not by 'foo'"):
        PaperAtree(design=Design(access="foo"))  # type: ignore[arg-type]
