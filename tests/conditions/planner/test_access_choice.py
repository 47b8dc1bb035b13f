"""Ways into rules, against Figure 9 of the TriggerMan paper written out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import Choices
from tests.strategies import Drawn

from tocsin import Rules
from tocsin.conditions.graph import read_conditions
from tocsin.conditions.kernels.access_choice import (
    AUTO,
    DEFERRED,
    TEXT,
    WAY_IN,
    Conjuncts,
    LeafEstimates,
    conjuncts_of,
)
from tocsin.conditions.planner import Costs, Planner, RulePlan, plan_rules
from tocsin.conditions.planner.planner import plan_conditions
from tocsin.errors import UsageError
from tocsin.text import TextBase

SHARES = (1e-6, 0.001, 0.1, 0.5, 0.9, 1.0)
NANOSECONDS = (0.01, 0.5, 1.0, 100.0, 5000.0)


def figure_9(selectivity: list[float], found: list[float], asked: list[float]) -> int:
    """The conjunct of least rank: FindPredicateToIndex, with Cost_brute_force_predArray."""

    def cost_of_rest(rest: list[int]) -> float:
        ordered = sorted(rest, key=lambda i: (selectivity[i] - 1) / asked[i])
        cost, needed = 0.0, 1.0
        for i in ordered:
            cost += needed * asked[i]
            needed *= selectivity[i]
        return cost

    def rank(i: int) -> float:
        rest = cost_of_rest([j for j in range(len(selectivity)) if j != i])
        return (selectivity[i] - 1) / (found[i] + selectivity[i] * rest)

    ranks = [rank(i) for i in range(len(selectivity))]
    return min(range(len(ranks)), key=lambda i: (round(ranks[i], 9), i))


@st.composite
def estimates(draw: st.DrawFn) -> tuple[list[float], list[float], list[float], list[bool]]:
    choices: Choices = Drawn(draw)
    count = choices.randint(1, 6)
    return (
        [choices.choice(SHARES) for _ in range(count)],
        [choices.choice(NANOSECONDS) for _ in range(count)],
        [choices.choice(NANOSECONDS) for _ in range(count)],
        [choices.choice((False, True)) for _ in range(count)],
    )


def chosen(
    selectivity: list[float], found: list[float], asked: list[float], is_text: list[bool], mode: int
) -> Conjuncts:
    """The conjuncts of `p0 and p1 and ...`, leaf i being predicate i."""
    count = len(selectivity)
    text = " and ".join(f"p{i} = {i}" for i in range(count))
    part = read_conditions(pa.array([text], pa.large_string()), {}).parts[0]
    leaves = LeafEstimates(
        np.array(selectivity),
        1 - np.array(selectivity),
        np.array(found),
        np.array(asked),
        np.where(is_text, np.arange(count), -1).astype(np.int32),
    )
    return conjuncts_of(part.start, part.step, part.ref, leaves, mode)


@given(estimates())
def test_the_way_in_is_the_conjunct_of_least_rank(
    case: tuple[list[float], list[float], list[float], list[bool]],
) -> None:
    selectivity, found, asked, is_text = case
    result = chosen(selectivity, found, asked, is_text, AUTO)
    (way_in,) = np.flatnonzero(result.role == WAY_IN).tolist()
    best = figure_9(selectivity, found, asked)

    def rank(i: int) -> float:
        others = [j for j in range(len(selectivity)) if j != i]
        ordered = sorted(others, key=lambda j: (selectivity[j] - 1) / asked[j])
        cost, needed = 0.0, 1.0
        for j in ordered:
            cost += needed * asked[j]
            needed *= selectivity[j]
        return (selectivity[i] - 1) / (found[i] + selectivity[i] * cost)

    assert rank(way_in) == pytest.approx(rank(best), rel=1e-6, abs=1e-9)


@given(estimates())
def test_other_text_queries_are_asked_last_in_the_order_of_their_rank(
    case: tuple[list[float], list[float], list[float], list[bool]],
) -> None:
    selectivity, found, asked, is_text = case
    result = chosen(selectivity, found, asked, is_text, AUTO)
    deferred = np.flatnonzero(result.role == DEFERRED)
    assert set(deferred) == {i for i, text in enumerate(is_text) if text and result.role[i] != WAY_IN}
    in_order = deferred[np.argsort(result.place[deferred])]
    assert result.place[in_order].tolist() == list(range(len(in_order)))
    ranks = [(selectivity[i] - 1) / asked[i] for i in in_order]
    assert ranks == sorted(ranks)


@given(estimates())
def test_a_kind_can_be_preferred(case: tuple[list[float], list[float], list[float], list[bool]]) -> None:
    selectivity, found, asked, is_text = case
    result = chosen(selectivity, found, asked, is_text, TEXT)
    (way_in,) = np.flatnonzero(result.role == WAY_IN).tolist()
    assert is_text[way_in] or not any(is_text)


def plans(*conditions: str, access: str = "auto") -> list[RulePlan]:
    rules = Rules.of([(str(number), when) for number, when in enumerate(conditions)])
    return plan_rules(rules, TextBase(), Planner(access, costs=Costs()))


def test_conjuncts_are_cut_as_they_are_written() -> None:
    (plan,) = plans(
        "a = 1 and (b = 2 and (c = 3 or d = 4)) and not contains(t, 'x') and not (e = 1 and f = 2)"
    )
    assert [each.text for each in plan.conjuncts] == [
        "a = 1",
        "b = 2",
        "c = 3 or d = 4",
        "not contains(t, 'x')",
        "not (e = 1 and f = 2)",
    ]
    assert [each.role for each in plan.conjuncts].count("way in") == 1


def test_a_rule_that_is_no_conjunction_is_found_as_a_whole() -> None:
    (plan,) = plans("a = 1 or contains(t, 'x')")
    assert [(each.text, each.role) for each in plan.conjuncts] == [("a = 1 or contains(t, 'x')", "way in")]


def test_text_that_is_not_the_way_in_is_asked_last() -> None:
    (plan,) = plans("a = 1 and contains(t, 'x')", access="structured")
    assert [each.role for each in plan.conjuncts] == ["way in", "asked last"]
    (plan,) = plans("a = 1 and contains(t, 'x')", access="text")
    assert [each.role for each in plan.conjuncts] == ["asked", "way in"]


def test_very_many_conjuncts_are_no_problem() -> None:
    many = " and ".join(f"a{number} = 1" for number in range(20_000))
    (plan,) = plans(f"{many} and contains(t, 'x') and contains(u, 'y')")
    assert len(plan.conjuncts) == 20_002
    assert sum(each.role == "asked last" for each in plan.conjuncts) >= 1


def test_an_unknown_access_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no access 'best'"):
        Planner("best")


def test_nothing_is_deferred_without_free_text() -> None:
    part = read_conditions(pa.array(["a = 1 and b = 2"], pa.large_string()), {}).parts
    half = np.full(2, 0.5)
    leaves = LeafEstimates(half, half, half, half, np.full(2, -1, np.int32))
    left, deferred = plan_conditions(part, leaves, "auto")
    assert [each.step.tolist() for each in left] == [each.step.tolist() for each in part]
    assert not len(deferred.rule)
