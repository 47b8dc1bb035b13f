"""The paper's rules in tocsin's own index: the same answers, and no more tuples read than answers ask for."""

from __future__ import annotations

import numpy as np
import pytest

from tocsin_lab.yield_index import (
    AAI,
    STRUCTURES,
    activate_all,
    activate_all_with_tocsin,
    activate_arrivals,
    activate_arrivals_with_tocsin,
    build,
    build_with_tocsin,
    can_use,
    flights,
    routing,
    stored_at,
)

WORKLOADS = {
    "UC": can_use(400, values=4_000),
    "dense UC": can_use(400, values=40),
    "CF": flights(400, persons=800),
    "dense CF": flights(400, persons=20),
    "RT": routing(400, nodes=160),
    "RT@": stored_at(400, nodes=160),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_whole_relations(name: str) -> None:
    workload = WORKLOADS[name]
    ours = activate_all_with_tocsin(workload)
    theirs = [activate_all(workload.rule, workload.relations, each) for each in STRUCTURES]
    for each in theirs:
        assert np.array_equal(ours.heads, each.heads)
        assert ours.assignments == each.assignments
        assert ours.tuple_accesses <= each.tuple_accesses
    most = len(workload.rule.body) * ours.assignments + 0.01 * len(workload.relations[workload.live])
    assert ours.tuple_accesses <= most


@pytest.mark.parametrize("name", WORKLOADS)
def test_arrivals(name: str) -> None:
    workload = WORKLOADS[name]
    ours = activate_arrivals_with_tocsin(workload)
    _, arriving = workload.halves()
    for each in STRUCTURES:
        theirs = activate_arrivals(workload.rule, workload.relations, each, workload.live, arriving)
        assert np.array_equal(ours.heads, theirs.heads)
        assert (ours.assignments, ours.started) == (theirs.assignments, theirs.started)
    assert ours.tuple_accesses <= len(workload.rule.body) * ours.assignments


@pytest.mark.parametrize("name", WORKLOADS)
def test_construction(name: str) -> None:
    workload = WORKLOADS[name]
    built = build_with_tocsin(workload)
    assert 0 < built.keys <= built.entries
    assert built.entries == built.index_accesses
    assert built.entries <= build(workload.rule, workload.relations, AAI).entries
