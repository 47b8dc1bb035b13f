"""Blocks of any size, and slices of any size, give the matches that single events give."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tocsin import Rules
from tocsin.conditions.graph import compile_rules
from tocsin.conditions.graph.predicate_table import predicate_of
from tocsin.conditions.kernels.bitmap_store import BLOCK, WORDS
from tocsin.conditions.kernels.deferred_planes import DEFERRED_OR, kinds_of
from tocsin.conditions.matching import Matcher
from tocsin.conditions.meaning import Truth, predicate_truth
from tocsin.events import FieldPlan
from tocsin.text import EventDocuments
from tocsin_lab import abe_gen

SETTING = abe_gen.Setting(expressions=300)
EVENTS = abe_gen.rows_of(abe_gen.events(SETTING, BLOCK + 500))
DENSE = [
    ("small", "x < 40"),
    ("most", "x >= 3 and not (y in (1, 2))"),
    ("few", "x between 10 and 12 or y = 7"),
    ("either", "x > 50 xor y > 5"),
    ("nothing", "z is null and x != 8"),
    ("all", "true"),
    ("both", "(x < 30 or y = 3) and (z is not null or x > 60)"),
]


def dense_events(count: int) -> list[dict[str, Any]]:
    """Every field has a value nearly always; some numbers are decimals."""
    return [
        {
            "x": Decimal(number % 97) if number % 11 == 0 else number % 97,
            "y": number % 13,
            **({"z": 1} if number % 5 == 0 else {}),
        }
        for number in range(count)
    ]


WORKLOADS = {
    "sparse": (abe_gen.rules(SETTING), EVENTS),
    "dense": (DENSE, dense_events(BLOCK + 500)),
}


@pytest.fixture(scope="module", params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> tuple[Any, Any, list[list[int]]]:
    """A compiled index, a batch, and each event's rules as found one event at a time."""
    rules, events = WORKLOADS[request.param]
    compiled = compile_rules(Rules.of(rules))
    matcher = Matcher(compiled)
    plan = FieldPlan(matcher.fields)
    alone = [matcher.match_event(event, EventDocuments()).tolist() for event in events]
    return compiled, plan.batch(events), alone


def listed(rule: np.ndarray, per_event: np.ndarray) -> list[list[int]]:
    return [part.tolist() for part in np.split(rule, np.cumsum(per_event)[:-1])]


@pytest.mark.parametrize("words", [1, 2, 8, 21, WORDS])
def test_blocks_of_any_size(workload: Any, words: int) -> None:
    compiled, batch, alone = workload
    widest = Matcher(compiled)
    for_planes = widest.most_scratch - 16 * compiled.rule_count
    matcher = Matcher(compiled, scratch_bytes=for_planes * (words + 3) // (WORDS + 3))
    assert matcher.block == 64 * words
    assert matcher.most_scratch <= widest.most_scratch
    per_rule = np.zeros(compiled.rule_count, np.int64)
    found = matcher.match_batch(batch, per_rule=per_rule)
    assert listed(found.rule, found.per_event) == alone
    assert per_rule.tolist() == np.bincount(found.rule, minlength=compiled.rule_count).tolist()
    counted = matcher.match_batch(batch, write=False)
    assert counted.per_event.tolist() == found.per_event.tolist()
    assert not len(counted.rule)


@pytest.mark.parametrize("most_matches", [1, 1000, 30_000])
def test_slices_of_any_size(workload: Any, most_matches: int) -> None:
    compiled, batch, alone = workload
    found: list[list[int]] = []
    for part in Matcher(compiled).match_slices(batch, most_matches=most_matches):
        assert len(part.per_event) <= 64 or len(part.rule) <= most_matches
        found.extend(listed(part.rule, part.per_event))
    assert found == alone


def test_a_matcher_may_need_little_memory() -> None:
    assert Matcher(compile_rules(Rules.of(DENSE)), scratch_bytes=0).block == 64


def test_decimals_beside_other_numbers_have_room() -> None:
    """Every range then needs two planes, and nothing else takes room here that could be lent."""
    events = [{"x": Decimal(50 + number % 3) if number % 40 == 0 else number % 90} for number in range(BLOCK)]
    compiled = compile_rules(Rules.of([(f"r{bound}", f"x > {bound}") for bound in range(20)]))
    matcher = Matcher(compiled)
    found = matcher.match_batch(FieldPlan(matcher.fields).batch(events))
    assert found.per_event.tolist() == [min(20, max(0, int(event["x"]))) for event in events]


def test_two_batches_in_turn(workload: Any) -> None:
    """A slice is not disturbed by another batch that is matched before the next slice is asked for."""
    compiled, batch, alone = workload
    matcher = Matcher(compiled)
    one, other = (matcher.match_slices(batch, most_matches=700) for _ in range(2))
    found: list[list[int]] = []
    for mine, theirs in zip(one, other, strict=True):
        assert mine.rule.tolist() == theirs.rule.tolist()
        found.extend(listed(mine.rule, mine.per_event))
    assert found == alone


def test_how_often_every_plane_holds() -> None:
    """Also planes that a block does not store: falsehoods, and ORs that only ANDs ask for."""
    compiled = compile_rules(Rules.of(DENSE))
    events = dense_events(BLOCK + 500)
    graph = compiled.graph
    predicates = [predicate_of(compiled.leaf_text, leaf) for leaf in range(compiled.leaf_count)]
    truth = [[predicate_truth(each, event) for event in events] for each in predicates]
    planes = [np.array([each is Truth.TRUE for each in row]) for row in truth]
    planes += [np.array([each is Truth.FALSE for each in truth[leaf]]) for leaf in graph.false_leaf.tolist()]
    for inner, is_and in enumerate(graph.is_and.tolist()):
        children = graph.child[graph.child_start[inner] : graph.child_start[inner + 1]].tolist()
        combine = np.logical_and if is_and else np.logical_or
        planes.append(combine.reduce([planes[child] for child in children]))
    assert DEFERRED_OR in kinds_of(graph, compiled.leaf_count + len(graph.false_leaf))
    matcher = Matcher(compiled)
    found = matcher.frequencies(FieldPlan(matcher.fields).batch(events))
    assert found.tolist() == [int(plane.sum()) for plane in planes]
