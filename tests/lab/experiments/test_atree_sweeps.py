"""Figures 11 to 13 on few rules, and what is said of the paper's text."""

from __future__ import annotations

import pytest
from tests.lab.experiments.cells import rows

from tocsin_lab.experiments import atree_sweeps
from tocsin_lab.experiments.atree_claims import least_from, less_than_next, ranking, refuses_from
from tocsin_lab.experiments.atree_parameters import SWEEPS
from tocsin_lab.experiments.clocks import Seconds
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.outcome import PLOTTED_ONLY, REFUSED
from tocsin_lab.experiments.readings import Reading

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(atree_sweeps, "EVENTS", 5)
    monkeypatch.setattr(atree_sweeps, "EVENTS_TO_CHECK", 2)
    monkeypatch.setattr(atree_sweeps, "ROUNDS", 1)
    monkeypatch.setattr(atree_sweeps, "REBUILDS", 1)


def reading(match: float | None = None, refused: int = 0) -> Reading:
    """The slowest round takes twice as long as the best; reading an event takes 1 ms."""
    return Reading(
        offered=100,
        refused=refused,
        why="x refused them" if refused else "",
        read=None if match is None else Seconds.of([0.001]),
        match=None if match is None else Seconds.of([match, 2 * match]),
    )


def seconds(each: Reading) -> float | None:
    return None if each.match is None else each.match.best


PANEL = {
    1.0: {"atree": reading(4), "bop": reading(2), "bdd": reading(3), "scan": reading(9)},
    2.0: {"atree": reading(4), "bop": reading(5), "bdd": reading(6), "scan": reading(9)},
    3.0: {"atree": reading(4), "bop": reading(16), "bdd": reading(1, refused=3), "scan": reading(8)},
    4.0: {"atree": reading(4), "bop": reading(16), "bdd": reading(None, refused=50), "scan": reading(8)},
}


def test_engines_that_refused_rules_are_not_compared():
    assert less_than_next(PANEL, seconds) == "50 % less than scan"
    assert less_than_next({1.0: PANEL[1.0]}, seconds) == "100 % more than bop"
    assert least_from(PANEL, seconds) == "from 2 on"
    assert least_from({1.0: PANEL[1.0]}, seconds) == "not at the end"
    assert least_from({2.0: PANEL[2.0]}, seconds) == "always"
    assert ranking(PANEL, seconds) == "atree, scan, bop"
    assert ranking({1.0: PANEL[1.0]}, seconds) == "bop, bdd, atree, scan"


def test_what_was_refused_is_said():
    assert refuses_from("bdd", PANEL, seconds) == "refuses some from 3 on, 50 % at 4"
    assert refuses_from("bop", PANEL, seconds) == "takes all"
    assert refuses_from("dnf", PANEL, seconds) == "not measured"
    assert less_than_next({1.0: {"atree": reading(1)}}, seconds) == "nothing to compare"


def test_refusals_stand_in_the_table_and_in_the_plot():
    engines = ["atree", "bdd"]
    table = atree_sweeps.panel_table(atree_sweeps.MATCHING, SWEEPS["b"], PANEL, engines)
    assert [column.title for column in table.columns] == [
        "depth",
        "atree",
        "bdd",
        "reading an event, fewest",
        "most",
        "slowest to best round, at most",
        "bdd refused",
        "in the paper",
    ]
    assert table.rows[2] == [3.0, 4_000, 1_000, 1, 1, 2, "3 of 100", PLOTTED_ONLY]
    assert table.rows[3] == [4.0, 4_000, REFUSED, 1, 1, 2, "50 of 100", PLOTTED_ONLY]
    assert table.notes == ["depth 3: x refused them", "depth 4: x refused them"]
    panel = atree_sweeps.panel_plot(atree_sweeps.MATCHING, SWEEPS["b"], PANEL, engines)
    atree, bdd = panel.lines
    assert (len(atree.points), len(bdd.points)) == (4, 3)
    assert bdd.partial == {3.0, 4.0}
    assert bdd.slowest == [6_000, 12_000, 2_000]
    assert panel.note == "bdd refuses rules from 3 on"


@pytest.mark.slow
def test_a_figure_has_a_table_for_each_panel_and_one_for_the_text(small):
    figure = atree_sweeps.MEMORY
    outcome = atree_sweeps.measure(figure, Run(0.00001, engines=("atree", "scan")))
    assert [table.name for table in outcome.tables] == [*figure.letters, "text"]
    assert all(len(table.rows) == 6 for table in outcome.tables[1:-1])
    for table in outcome.tables[:-1]:
        assert all(min(row[1:3]) > 0 for row in rows(table))
    assert [panel.title[:3] for panel in outcome.plots[0].panels] == ["(a)", "(b)", "(c)", "(d)"]


def test_matching_is_timed_for_every_value(small):
    run = Run(0.0001, engines=("scan",))
    found = atree_sweeps.measure_panel(atree_sweeps.MATCHING, SWEEPS["h"], run)
    assert list(found) == [5, 10, 15, 20, 25, 30]
    assert all(set(readings) == {"scan"} for readings in found.values())
    for readings in found.values():
        own = readings["scan"]
        assert own.read is not None
        assert own.match is not None
        assert min(own.read.best, own.match.best) > 0


def test_construction_is_timed_for_every_value(small):
    run = Run(0.0001, engines=("atree", "scan"))
    found = atree_sweeps.measure_panel(atree_sweeps.CONSTRUCTION, SWEEPS["d"], run)
    built = [each[name].build for each in found.values() for name in run.engines]
    assert len(built) == 12
    assert all(each is not None and 0 < each.best <= each.slowest for each in built)
    assert all(each["atree"].match is None for each in found.values())


def test_conjunctions_stand_beside_the_engine_for_them_and_only_they(small):
    run = Run(0.0001, engines=("atree", "scan-conj"))
    outcome = atree_sweeps.measured_panel(atree_sweeps.MATCHING, SWEEPS["i"], run)
    table, text = outcome.tables
    assert [column.title for column in table.columns][:3] == [
        "predicates of a conjunction, on average",
        "atree",
        "scan-conj",
    ]
    assert [row[0] for row in table.rows] == [2, 4, 6, 8, 10, 12]
    assert [row[0] for row in text.rows] == ["(i)"]
    other = atree_sweeps.measured_panel(atree_sweeps.MATCHING, SWEEPS["h"], run)
    assert "scan-conj" not in [column.title for column in other.tables[0].columns]


def test_sizes_that_grow_are_not_in_memory_together():
    assert len(atree_sweeps._portions(atree_sweeps.CONSTRUCTION, SWEEPS["a"])) == 6
    assert len(atree_sweeps._portions(atree_sweeps.CONSTRUCTION, SWEEPS["b"])) == 1
