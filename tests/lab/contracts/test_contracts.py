"""The first paper's contracts: its distributions, and one meaning as rules, as expressions and as bits."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.expressions import expected_matches, plain_lists

import tocsin
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin.engines import BUILDERS, ENGINES, RefusedRules
from tocsin.engines.kernels.conjunction_leaves import with_conjunction_leaves
from tocsin_lab import contracts as lab
from tocsin_lab.contracts.__main__ import main
from tocsin_lab.contracts.targets import targets_of

FEW = (
    lab.Attribute("a", 0.5, 0.7, {"1": 1, "2": 2}, {("1",): 2, ("2",): 1, ("1", "2"): 1}),
    lab.Attribute("b", 0.3, 0.5, {"1": 1, "2": 1, "3": 3}, {("1", "3"): 1, ("2",): 1}),
    lab.Attribute("c", 0.2, 1.0, {"1": 1}, {("1",): 1}),
    lab.Attribute("never asked", 0.0, 1.0, {"1": 1}, {("1",): 1}),
)
"""Few enough that everything happens among a few contracts and visits."""

SETTING = lab.ContractSetting(contracts=20_000, max_depth=3)
VISITS = lab.make_visits(500)


def leaf_sizes(contracts: lab.Contracts) -> Counter[int]:
    sizes: Counter[int] = Counter()
    for level in contracts:
        sizes.update(np.diff(level.predicate_start).tolist())
    del sizes[0]
    return sizes


def same(one: lab.Contracts, other: lab.Contracts) -> bool:
    arrays = [[array for level in contracts for array in level] for contracts in (one, other)]
    return all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


def test_the_same_seed_gives_the_same_and_another_gives_another():
    other = replace(SETTING, seed=2)
    assert same(lab.make_contracts(SETTING), lab.make_contracts(SETTING))
    assert not same(lab.make_contracts(SETTING), lab.make_contracts(other))
    assert np.array_equal(lab.make_visits(500).value, VISITS.value)
    assert not np.array_equal(lab.make_visits(500, seed=2).value, VISITS.value)


def test_trees_are_those_of_the_paper():
    levels = lab.make_contracts(SETTING)
    assert len(levels) == 4
    assert levels[0].size == 20_000
    children = Counter(count for level in levels[:-1] for count in np.diff(level.child_start).tolist())
    assert set(children) == {1, 2, 3, 4}
    for count, share in ((1, 0.05), (2, 0.7), (3, 0.2), (4, 0.05)):
        assert children[count] / children.total() == pytest.approx(share, abs=0.005)
    assert [len(level.predicate) for level in levels[:-1]] == [0, 0, 0]


def test_leaves_are_between_the_depths_when_nodes_may_stop():
    children = {**SETTING.children, 0: 1.0}
    levels = lab.make_contracts(replace(SETTING, min_depth=1, children=children))
    stopped = [(np.diff(level.child_start) == 0).mean() for level in levels]
    assert stopped == pytest.approx([0, 0.5, 0.5, 1], abs=0.01)
    assert all(
        np.array_equal(np.diff(each.child_start) == 0, np.diff(each.predicate_start) > 0) for each in levels
    )


def test_conjunctions_are_of_the_sizes_and_attributes_that_are_set():
    setting = replace(SETTING, max_depth=0, min_depth=0, contracts=50_000, attributes=FEW, sizes={1: 1, 2: 3})
    (level,) = lab.make_contracts(setting)
    sizes = np.diff(level.predicate_start)
    assert (sizes == 2).mean() == pytest.approx(0.75, abs=0.01)
    start = targets_of(FEW).start
    attribute = np.searchsorted(start, level.predicate >> 1, side="right") - 1
    alone = attribute[level.predicate_start[:-1][sizes == 1]]
    assert np.bincount(alone, minlength=4) / len(alone) == pytest.approx([0.5, 0.3, 0.2, 0], abs=0.02)
    pairs = level.predicate_start[:-1][sizes == 2]
    both = Counter(zip(attribute[pairs].tolist(), attribute[pairs + 1].tolist(), strict=True))
    assert not any(first == second for first, second in both)
    assert both[0, 1] / len(pairs) == pytest.approx(0.5 * 0.3 / 0.5, abs=0.02)
    assert both[2, 1] / len(pairs) == pytest.approx(0.2 * 0.3 / 0.8, abs=0.02)
    target = np.bincount(level.predicate[attribute == 0] >> 1)
    assert target / target.sum() == pytest.approx([0.5, 0.25, 0.25], abs=0.02)


def test_a_share_of_the_predicates_is_negated():
    levels = lab.make_contracts(replace(SETTING, not_in=0.2))
    negated = np.concatenate([level.predicate & 1 for level in levels])
    assert negated.mean() == pytest.approx(0.2, abs=0.01)


def test_visits_tell_attributes_and_values_by_their_shares():
    value = lab.make_visits(20_000, FEW).value
    assert (value >= 0).mean(axis=0) == pytest.approx([0.7, 0.5, 1, 1], abs=0.02)
    assert np.bincount(value[value[:, 1] >= 0, 1]) / 10_000 == pytest.approx([0.2, 0.2, 0.6], abs=0.03)


def test_rows_and_table_tell_the_same():
    table = lab.table_of(VISITS).to_pylist()
    assert lab.rows_of(VISITS) == [{name: it for name, it in row.items() if it is not None} for row in table]


@pytest.mark.parametrize(
    ("depth", "least", "most"), [(1, 0.15, 0.3), (2, 0.5, 0.6), (3, 0.1, 0.2), (4, 0.45, 0.65)]
)
def test_selectivities_are_of_the_papers_order(depth: int, least: float, most: float):
    contracts = lab.make_contracts(replace(SETTING, max_depth=depth, contracts=3_000))
    assert least < lab.selectivity(contracts, VISITS) < most


@st.composite
def workloads(draw: st.DrawFn) -> tuple[lab.ContractSetting, lab.Contracts, lab.Visits]:
    depth = draw(st.integers(0, 5))
    setting = lab.ContractSetting(
        contracts=draw(st.integers(1, 12)),
        min_depth=draw(st.integers(0, depth)),
        max_depth=depth,
        children=draw(
            st.sampled_from([{2: 0.7, 3: 0.2, 1: 0.05, 4: 0.05}, {0: 1, 1: 1, 2: 1}, {0: 1, 3: 1}])
        ),
        sizes=draw(st.sampled_from([{1: 1}, {1: 1, 2: 1, 3: 1}])),
        not_in=draw(st.sampled_from([0, 0.5])),
        attributes=FEW,
        seed=draw(st.integers(0, 1_000_000)),
    )
    return setting, lab.make_contracts(setting), lab.make_visits(draw(st.integers(0, 70)), FEW, setting.seed)


def rules_matched(contracts: lab.Contracts, visits: lab.Visits) -> list[list[int]]:
    return [np.flatnonzero(column).tolist() for column in lab.matching(contracts, visits).T]


@given(workloads())
def test_rules_mean_what_the_bits_say(workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits]):
    _, contracts, visits = workload
    conditions = [parse_condition(when) for when in lab.rules_of(contracts, FEW)["when"].to_pylist()]
    assert rules_matched(contracts, visits) == [
        [rule for rule, condition in enumerate(conditions) if matches(condition, row)]
        for row in lab.rows_of(visits)
    ]


@given(workloads())
def test_expressions_mean_what_the_bits_say(workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits]):
    _, contracts, visits = workload
    expressions = lab.expressions_of(contracts, FEW)
    held = lab.held_literals(visits, expressions.literals)
    assert all(np.all(np.diff(each) > 0) for each in plain_lists(held) if each)
    assert expected_matches(expressions, held) == rules_matched(contracts, visits)


@given(workloads())
def test_every_conjunction_is_a_leaf(workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits]):
    _, contracts, _ = workload
    over, conjunctions = with_conjunction_leaves(lab.expressions_of(contracts, FEW))
    assert set(np.diff(conjunctions.start).tolist()) == set(leaf_sizes(contracts))
    leaves = sum(leaf_sizes(contracts).values())
    among_children = int((over.child < over.literals).sum())
    assert among_children + int((over.root < over.literals).sum()) == leaves


@pytest.mark.parametrize("engine", BUILDERS)
@settings(max_examples=20)
@given(workload=workloads())
def test_engines_over_expressions_agree(
    engine: str, workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits]
):
    _, contracts, visits = workload
    expressions = lab.expressions_of(contracts, FEW)
    held = lab.held_literals(visits, expressions.literals)
    try:
        built = BUILDERS[engine](expressions)
    except RefusedRules:
        assume(False)
    assert plain_lists(built.match(held)) == rules_matched(contracts, visits)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_over_rules_agree(engine: str):
    setting = lab.ContractSetting(contracts=300, max_depth=3, not_in=0.2)
    contracts = lab.make_contracts(setting)
    visits = lab.make_visits(30)
    index = tocsin.build(lab.rules_of(contracts, setting.attributes), engine=engine)
    found = [[int(match.rule[1:]) - 1 for match in index.match(row)] for row in lab.rows_of(visits)]
    assert found == rules_matched(contracts, visits)


@settings(max_examples=50)
@given(workloads())
def test_in_the_papers_convention_what_is_not_told_satisfies_not_in(
    workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits],
):
    _, contracts, visits = workload
    expressions = lab.expressions_of(contracts, FEW)
    held = lab.held_literals(visits, expressions.literals, untold_satisfies_not_in=True)
    nowhere = {"a": "0", "b": "0", "c": "0"}  # a value that no target has
    conditions = [parse_condition(when) for when in lab.rules_of(contracts, FEW)["when"].to_pylist()]
    expected = [
        [rule for rule, condition in enumerate(conditions) if matches(condition, {**nowhere, **row})]
        for row in lab.rows_of(visits)
    ]
    assert expected_matches(expressions, held) == expected


@given(workloads(), st.data())
def test_some_of_the_contracts_and_several_parts(
    workload: tuple[lab.ContractSetting, lab.Contracts, lab.Visits], data: st.DataObject
):
    _, contracts, _ = workload
    rows = np.array(data.draw(st.lists(st.integers(0, contracts[0].size - 1))), np.int64)
    texts = lab.rules_of(contracts, FEW)["when"].to_pylist()
    some = lab.taken(contracts, rows)
    assert lab.rules_of(some, FEW)["when"].to_pylist() == [texts[row] for row in rows]
    both = lab.joined([some, contracts])
    assert lab.rules_of(both, FEW)["when"].to_pylist() == [texts[row] for row in rows] + texts


@pytest.mark.parametrize(("depth", "share"), [(2, 0.5), (3, 0.12), (3, 0.02)])
def test_contracts_of_a_wanted_selectivity(depth: int, share: float):
    setting = lab.ContractSetting(contracts=2_000, max_depth=depth)
    contracts = lab.contracts_of_selectivity(setting, VISITS, share)
    assert contracts[0].size == 2_000
    assert lab.selectivity(contracts, VISITS) == pytest.approx(share, abs=1 / 2_000)
    assert same(contracts, lab.contracts_of_selectivity(setting, VISITS, share))
    drawn = set(lab.rules_of(lab.make_contracts(setting), setting.attributes)["when"].to_pylist())
    counts = lab.match_counts(contracts, VISITS)
    added = [
        count
        for count, when in zip(
            counts, lab.rules_of(contracts, setting.attributes)["when"].to_pylist(), strict=True
        )
        if when not in drawn
    ]
    assert added
    assert not any(added)


def test_contracts_that_match_nothing_may_be_of_another_kind():
    setting = lab.ContractSetting(contracts=1_000, max_depth=3)
    narrow = replace(setting, sizes={6: 1})
    contracts = lab.contracts_of_selectivity(setting, VISITS, 0.02, narrow)
    is_narrow = np.diff(contracts[3].predicate_start) == 6
    top = np.repeat(np.arange(1_000), np.diff(contracts[0].child_start))
    middle = np.repeat(top, np.diff(contracts[1].child_start))
    of_leaf = np.repeat(middle, np.diff(contracts[2].child_start))
    counts = lab.match_counts(contracts, VISITS)
    assert counts.sum() == pytest.approx(0.02 * 1_000 * VISITS.size, rel=0.05)
    assert not counts[of_leaf[is_narrow]].any()
    assert is_narrow.mean() > 0.8


def test_a_selectivity_that_cannot_be_had():
    setting = lab.ContractSetting(contracts=1_000, max_depth=3)
    with pytest.raises(tocsin.UsageError, match=r"match 1\d\.\d% of the visits, so not 90\.0%"):
        lab.contracts_of_selectivity(setting, VISITS, 0.9)
    told = lab.make_visits(200, FEW[2:3])
    always = lab.ContractSetting(contracts=100, attributes=FEW[2:3], sizes={1: 1})
    with pytest.raises(tocsin.UsageError, match="of 100 contracts only 0 match none"):
        lab.contracts_of_selectivity(always, told, 0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"contracts": 0},
        {"min_depth": 3, "max_depth": 2},
        {"min_depth": -1},
        {"children": {}},
        {"children": {0: 1.0}},
        {"children": {-1: 1.0}},
        {"sizes": {0: 1.0}},
        {"sizes": {1: -1.0, 2: 2.0}},
        {"sizes": {99: 1.0}},
        {"not_in": 1.5},
    ],
)
def test_settings_that_make_no_sense(changes: dict[str, Any]):
    with pytest.raises(tocsin.UsageError):
        lab.ContractSetting(**changes)


@pytest.mark.parametrize(
    "changes", [{"known": 2}, {"asked": -1}, {"values": {}, "targets": {}}, {"targets": {("9",): 1}}]
)
def test_attributes_that_make_no_sense(changes: dict[str, Any]):
    with pytest.raises(tocsin.UsageError):
        replace(FEW[0], **changes)


def test_the_command_writes_rules_and_visits(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    given = shlex.split("--contracts 300 --depth 3 --visits 50 --selectivity 0.1 --not-in 0.1")
    assert main([*given, "--out", str(tmp_path)]) == 0
    assert "a visit matches 10." in capsys.readouterr().err
    rules = pq.read_table(tmp_path / "rules.parquet")
    index = tocsin.build(rules)
    rows = [json.loads(line) for line in (tmp_path / "visits.jsonl").read_text().splitlines()]
    found = sum(len(index.match(row)) for row in rows)
    assert found / (300 * 50) == pytest.approx(0.1, abs=0.01)
    assert tocsin.read_rules(tmp_path / "rules.jsonl").whens.to_pylist() == rules["when"].to_pylist()
    assert pq.read_table(tmp_path / "visits.parquet").num_rows == 50


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--contracts", "0", "--out", str(tmp_path)]) == 2
    assert "one at least" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["--contracts", "5", "--visits", "5", "--out", str(tmp_path / "file")]) == 2
    assert "cannot make the folder" in capsys.readouterr().err
