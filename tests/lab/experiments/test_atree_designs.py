"""Designs of the paper's A-Tree on small workloads: what is compared and checked, not how fast it is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lab.experiments.cells import by_first

from tocsin.conditions.language import Connective, Operator, Predicate, parse_condition
from tocsin.errors import TocsinError
from tocsin_lab import abe_gen
from tocsin_lab.atree.atree_groups import Grouping
from tocsin_lab.experiments import atree_designs
from tocsin_lab.experiments.atree_parameters import conjunctive
from tocsin_lab.experiments.atree_prepared import Prepared, Scan, grow, joined, workload_of
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.kernels.atree_updates import Groups

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.fixture
def few_events(monkeypatch):
    monkeypatch.setattr(atree_designs, "EVENTS", 20)
    monkeypatch.setattr(atree_designs, "ROUNDS", 1)


def prepared(rules: int = 60, events: int = 20) -> Prepared:
    return Prepared(workload_of(abe_gen.Setting(expressions=rules), events))


def test_figure_8_compares_three_designs_with_a_scan(few_events, monkeypatch):
    monkeypatch.setattr(atree_designs, "SHARING", (1.0, 4.33))
    outcome = atree_designs.measure_figure_8(Run(0.0001))
    sharing, ads = outcome.tables
    names = ["scan", *atree_designs.DESIGNS_8]
    assert [row[0] for row in sharing.rows] == [1.0, 4.33]
    assert [column.title for column in sharing.columns[1:-2]] == names
    assert [row[0] for row in ads.rows] == names
    (plot,) = outcome.plots
    assert len(plot.panels) == 2


def test_figure_9_has_the_four_designs_and_the_orders_of_arrival(few_events):
    building, orders = atree_designs.measure_figure_9(Run(0.0001)).tables
    nodes, edges = (by_first(building, heading) for heading in ("nodes", "edges"))
    assert list(nodes) == list(atree_designs.DESIGNS_9) == [row[0] for row in orders.rows]
    assert 0 < nodes["unique nodes"] < nodes["no optimisation"]
    assert 0 < edges["and self-adjusted"] <= edges["and reorganised"] <= edges["unique nodes"]
    for end in ("fewest", "most"):
        assert by_first(orders, f"edges, {end}")["unique nodes"] == edges["unique nodes"]


def test_figure_10_has_its_workloads_and_conjunctions(few_events):
    outcome = atree_designs.measure_figure_10(Run(0.0001))
    for table in outcome.tables:
        visited = by_first(table, "visited")
        assert list(visited) == list(atree_designs.DESIGNS_10)
        assert list(visited.values()) == sorted(visited.values(), reverse=True)
    assert [table.name for table in outcome.tables] == [
        "synthesised",
        "ads",
        "conjunctions-4",
        "conjunctions-8",
    ]
    (plot,) = outcome.plots
    assert [panel.title[:3] for panel in plot.panels] == ["(a)", "(b)", "(c)", "(d)"]


def test_conjunctions_have_as_many_predicates_as_asked_for():
    setting = conjunctive(abe_gen.Setting(expressions=300), 6)
    predicates = []
    for text in abe_gen.rules(setting)["when"].to_pylist():
        condition = parse_condition(text)
        operators = {step.connective for step in condition.steps if isinstance(step, Operator)}
        assert operators <= {Connective.AND, Connective.NOT}
        predicates.append(sum(isinstance(step, Predicate) for step in condition.steps))
    assert np.mean(predicates) == pytest.approx(6, abs=0.5)


def test_a_wrong_design_is_found():
    some = prepared()
    some.matches[7] += 1
    with pytest.raises(TocsinError, match="scan: the numbers of matches are not those"):
        Scan(some)
    with pytest.raises(TocsinError, match=r"Design.*: the numbers of matches are not those"):
        grow(some, atree_designs.BUILT)


def test_lots_of_groups_are_joined():
    some = prepared()
    whole = some.groups(Grouping())
    halves = [some.read(some.texts[:25], Grouping()), some.read(some.texts[25:], Grouping())]
    assert all(np.array_equal(getattr(whole, name), getattr(joined(halves), name)) for name in Groups._fields)
