"""The organised graph says what the conditions say, with fewer edges."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import make_event, make_rule_set
from tests.conftest import examples
from tests.strategies import events, rule_sets

from tocsin.conditions.graph.condition_reader import read_conditions
from tocsin.conditions.graph.likelihood import Likelihood
from tocsin.conditions.graph.shared_graph import lay_out, share
from tocsin.conditions.kernels.shared_nodes import CHILDREN, NODES, SharedNodes
from tocsin.conditions.language.printer import print_condition
from tocsin.conditions.meaning import Truth, condition_truth, predicate_truth
from tocsin_lab import abe_gen
from tocsin_lab.atree.atree_graph import organise


def read(texts):
    return read_conditions(pa.array(texts, pa.large_string()), {})


def truths_of(nodes: SharedNodes, leaf_truth: list[Truth]) -> list[int]:
    """The truth of every node, by the definition of the graph."""
    truth = [1, *map(int, leaf_truth)]
    for node in range(len(truth), int(nodes.size[NODES])):
        begin, end = nodes.child_start[node : node + 2].tolist()
        refs = nodes.child[begin:end].tolist()
        assert refs == sorted(set(refs))
        assert len(refs) >= 2
        assert all(ref >> 1 < node for ref in refs), "children come before parents"
        truth.append(min(-truth[ref >> 1] if ref & 1 else truth[ref >> 1] for ref in refs))
    return truth


def check_organised(rules, event, reorganise, self_adjust):
    reading = read([print_condition(condition) for _, condition in rules])
    leaves = len(reading.predicates)
    nodes, root = organise(reading.parts, leaves, len(rules), reorganise=reorganise, self_adjust=self_adjust)
    leaf_truth = [predicate_truth(each, event) for each in reading.predicates]
    truth = truths_of(nodes, leaf_truth)
    even = np.full(leaves, 0.5)
    graph = lay_out(nodes, np.arange(leaves, dtype=np.int32), root, Likelihood(even, even))
    plane = [*(each is Truth.TRUE for each in leaf_truth)]
    plane += [leaf_truth[leaf] is Truth.FALSE for leaf in graph.false_leaf.tolist()]
    for inner, is_and in enumerate(graph.is_and.tolist()):
        held = [plane[child] for child in graph.child[slice(*graph.child_start[inner : inner + 2])].tolist()]
        plane.append(all(held) if is_and else any(held))
    plane += [True, False]
    for (_, condition), ref, place in zip(rules, root.tolist(), graph.root.tolist(), strict=True):
        expected = condition_truth(condition, event)
        assert (-truth[ref >> 1] if ref & 1 else truth[ref >> 1]) == expected
        assert plane[place] is (expected is Truth.TRUE)
    for node in np.flatnonzero(nodes.mate >= 0).tolist():
        mate = int(nodes.mate[node])
        assert truth[node] == (-truth[mate >> 1] if mate & 1 else truth[mate >> 1])


SWITCHES = [(True, True), (True, False), (False, True), (False, False)]


@given(rule_sets(), events(), st.sampled_from(SWITCHES))
@settings(max_examples=examples(60))
def test_rule_sets(rules, event, switches):
    check_organised(rules, event, *switches)


@pytest.mark.parametrize("switches", SWITCHES)
def test_seeded_rule_sets(switches):
    rng = random.Random(7)
    for _ in range(15):
        check_organised(make_rule_set(rng, 40), make_event(rng), *switches)


def test_no_conditions():
    nodes, root = organise([], 0, 0, reorganise=True, self_adjust=True)
    assert nodes.size.tolist() == [1, 0]
    assert root.tolist() == []


def test_a_condition_that_no_part_holds_keeps_minus_one():
    reading = read(["a = 1 and b = 2 and c = 3", "a = 1 and b ="])
    assert len(reading.errors) == 1
    _, root = organise(reading.parts, len(reading.predicates), 2, reorganise=True, self_adjust=True)
    assert root.tolist() == [2 * (len(reading.predicates) + 1), -1]


def test_both_forms_of_a_node_have_covers():
    """An or is the negated and of negations, so an or that is part of another is its child as well."""
    reading = read(["a = 1 or b = 2 or c = 3", "a = 1 or b = 2 or c = 3 or d = 4"])
    nodes, root = organise(reading.parts, 4, 2, reorganise=True, self_adjust=False)
    part, whole = root.tolist()
    begin, end = nodes.child_start[whole >> 1 : (whole >> 1) + 2].tolist()
    assert nodes.child[begin:end].tolist() == [2 * 4 + 1, part ^ 1]


def test_edges_are_saved_and_nodes_are_not_added():
    reading = read(abe_gen.rules(abe_gen.Setting(expressions=2_000))["when"].to_pylist())
    leaves = len(reading.predicates)
    plain, _ = share(reading.parts, leaves, 2_000)
    sizes = {}
    for reorganise, self_adjust in SWITCHES:
        nodes, _ = organise(reading.parts, leaves, 2_000, reorganise=reorganise, self_adjust=self_adjust)
        assert nodes.size[NODES] <= plain.size[NODES]
        sizes[reorganise, self_adjust] = int(nodes.size[CHILDREN])
    assert sizes[True, True] < sizes[True, False] < plain.size[CHILDREN]
    assert sizes[False, True] < sizes[False, False]


def truths_with(texts: list[str], event: dict[str, object]) -> list[int]:
    """The truth of each condition by the organised graph."""
    reading = read(texts)
    nodes, root = organise(
        reading.parts, len(reading.predicates), len(texts), reorganise=True, self_adjust=True
    )
    truth = truths_of(nodes, [predicate_truth(each, event) for each in reading.predicates])
    return [-truth[ref >> 1] if ref & 1 else truth[ref >> 1] for ref in root.tolist()]


@pytest.mark.parametrize("wide_first", [True, False])
def test_a_condition_wider_than_any_other(wide_first):
    """Wider than self-adjustment goes, with parts that come before it or after it."""
    wide = " or ".join(f"a = {number}" for number in range(3_000))
    parts = [f"a = {number} or a = {number + 1} or a = {number + 7}" for number in range(0, 3_000, 50)]
    texts = [wide, *parts] if wide_first else [*parts, wide]
    whole = 0 if wide_first else len(parts)
    for value in (100, 107, 51, 3_000):
        truths = truths_with(texts, {"a": value})
        expected = [int(value in (number, number + 1, number + 7)) or -1 for number in range(0, 3_000, 50)]
        expected.insert(whole, 1 if value < 3_000 else -1)
        assert truths == expected


def test_a_condition_deeper_than_any_other():
    """3,000 levels; a part at the bottom that comes later lifts all of them."""
    deep = "a = 1 and b = 2 and c = 3"
    for number in range(1_500):
        deep = f"(({deep}) or d = {number}) and e != {number}"
    texts = [deep, "a = 1 and b = 2"]
    assert truths_with(texts, {"a": 1, "b": 2, "c": 3, "d": -1, "e": -1}) == [1, 1]
    assert truths_with(texts, {"a": 1, "b": 2, "c": 4, "d": -1, "e": -1}) == [-1, 1]
    assert truths_with(texts, {"a": 1, "b": 2, "c": 4, "d": 1_499, "e": 0}) == [1, 1]
