"""The first paper's experiments: engines are held to what contracts mean, and outcomes are whole."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from tocsin.arrays.lists import Lists
from tocsin.engines import BUILDERS, Engine, Expressions, RefusedRules
from tocsin.errors import TocsinError, UsageError
from tocsin_lab.contracts import Contracts, ContractSetting, make_contracts, make_visits
from tocsin_lab.experiments import dewey_delta, dewey_depth, dewey_engines, dewey_growth
from tocsin_lab.experiments.catalogue import EXPERIMENTS
from tocsin_lab.experiments.dewey_engines import Workload, readings
from tocsin_lab.experiments.dewey_expansion import expansions
from tocsin_lab.experiments.experiment import Paper, Run
from tocsin_lab.experiments.outcome import PLOTTED_ONLY, REFUSED, Lines, Outcome

WORKLOAD = Workload(make_contracts(ContractSetting(contracts=60, max_depth=3)), make_visits(45))
SCANS = ("scan", "scan-conj")
NAMES = [name for name, each in EXPERIMENTS.items() if each.paper is Paper.DEWEY]


class Steps:
    """An engine in three steps, of which only the last does something."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, held: Lists) -> Lists:
        return held

    def sort(self, conjunctions: Lists) -> Lists:
        return conjunctions

    def evaluate(self, places: Lists) -> Lists:
        return self._engine.match(places)

    def match(self, held: Lists) -> Lists:
        return self.evaluate(self.sort(self.search(held)))

    def bytes_of_parts(self) -> Mapping[str, int]:
        return {"one": 1_000, "other": 234}


class Forgetful(Steps):
    """An engine that leaves out the last match of the last visit of each call."""

    def match(self, held: Lists) -> Lists:
        found = super().match(held)
        return Lists(np.append(found.start[:-1], found.start[-1] - 1), found.item[:-1])


def refusing_all(expressions: Expressions) -> Engine:
    raise RefusedRules(dict.fromkeys(range(len(expressions.root)), "it is too large"))


def refusing_some(expressions: Expressions) -> Engine:
    """Refuses three rules, then one of the others."""
    if len(expressions.root) == len(WORKLOAD.contracts[0].child_start) - 1:
        raise RefusedRules({3: "it is too large", 5: "it is too large", 8: "it is odd"})
    if len(expressions.root) == len(WORKLOAD.contracts[0].child_start) - 4:
        raise RefusedRules({0: "it is odd"})
    return Steps(BUILDERS["scan"](expressions))


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines under the paper's names that need no compiler."""
    scan = BUILDERS["scan"]
    for name in dewey_depth.ALL_ENGINES:
        monkeypatch.setitem(BUILDERS, name, lambda expressions: Steps(scan(expressions)))
    monkeypatch.setitem(BUILDERS, "dnf", refusing_all)
    monkeypatch.setitem(BUILDERS, "picky", refusing_some)
    monkeypatch.setitem(BUILDERS, "forgetful", lambda expressions: Forgetful(scan(expressions)))


@pytest.mark.parametrize("at_once", [1, 10**9])
def test_engines_are_measured(at_once: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dewey_engines, "PLACES_AT_ONCE", at_once)
    found = readings(WORKLOAD, SCANS)
    for name in SCANS:
        steps = found[name].steps
        assert steps is not None
        assert steps.total > 0
        assert not found[name].why
    assert found["scan"].bytes is not None


def test_steps_are_timed_apart(engines: None):
    reading = readings(WORKLOAD, ["dewey"])["dewey"]
    assert reading.steps is not None
    single = [each for each in reading.steps[1:] if each is not None]
    assert reading.steps.total == pytest.approx(math.fsum(single))
    assert len(single) == 3
    assert reading.bytes == 1_234


def test_what_is_not_to_be_timed_is_not(engines: None):
    assert readings(WORKLOAD, ["dewey"], is_timed=False)["dewey"].steps is None


def test_an_engine_that_refuses_says_why(engines: None):
    reading = readings(WORKLOAD, ["dnf"])["dnf"]
    assert reading.why == "refused 60 of 60: it is too large"
    assert reading.bytes is None
    assert reading.steps is None


def test_an_engine_that_refuses_some_is_measured_on_the_others(engines: None):
    reading = readings(WORKLOAD, ["picky"])["picky"]
    assert reading.why == "refused 4 of 60: it is too large; it is odd"
    assert reading.bytes == 1_234
    assert reading.steps is not None


@pytest.mark.parametrize("at_once", [1, 10**9])
def test_a_wrong_answer_stops_everything(engines: None, at_once: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dewey_engines, "PLACES_AT_ONCE", at_once)
    with pytest.raises(TocsinError, match="the engine forgetful is wrong about the matches of visit"):
        readings(WORKLOAD, ["dewey", "forgetful"])


def test_an_engine_that_takes_no_expressions(engines: None):
    with pytest.raises(UsageError, match="contracts are not for atree: choose from"):
        readings(WORKLOAD, ["atree"])


def expanded(contracts: Contracts, depth: int, node: int) -> list[list[int]]:
    """A node in DNF, by definition."""
    level = contracts[depth]
    terms = level.predicate[level.predicate_start[node] : level.predicate_start[node + 1]]
    if len(terms):
        return [terms.tolist()]
    below = [
        expanded(contracts, depth + 1, child)
        for child in range(level.child_start[node], level.child_start[node + 1])
    ]
    if depth % 2:
        return [each for part in below for each in part]
    product: list[list[int]] = [[]]
    for part in below:
        product = [[*left, *right] for left in product for right in part]
    return product


@pytest.mark.parametrize("children", [{2: 0.7, 3: 0.2, 1: 0.1}, {0: 1.0, 1: 1.0, 2: 1.0}])
def test_expansions_are_counted_right(children: dict[int, float]):
    setting = ContractSetting(contracts=40, min_depth=0, max_depth=3, children=children)
    contracts = make_contracts(setting)
    conjunctions, predicates = expansions(contracts)
    made = [expanded(contracts, 0, number) for number in range(40)]
    assert conjunctions.tolist() == [len(each) for each in made]
    assert predicates == pytest.approx([sum(map(len, each)) for each in made])


def test_every_table_and_figure_of_the_paper_is_there():
    of_the_paper = [f"dewey-table{n}" for n in (2, 3, 4)] + [f"dewey-figure{n}" for n in range(7, 15)]
    assert [*of_the_paper, "dewey-delta"] == NAMES


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dewey_depth, "VISITS", 30)
    monkeypatch.setattr(dewey_engines, "FEWEST_VISITS", 30)
    monkeypatch.setattr(dewey_growth, "FEWEST", 200)
    monkeypatch.setattr(dewey_delta, "FEWEST", 200)


def outcome_of(name: str) -> Outcome:
    experiment = EXPERIMENTS[name]
    return experiment.measure(Run(scale=1e-6, engines=experiment.engines))


@pytest.mark.parametrize("name", NAMES)
def test_outcomes_are_whole(engines: None, small: None, name: str):
    outcome = outcome_of(name)
    assert outcome.notes
    for table in outcome.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(cell is not None for row in table.rows for cell in row)
    assert outcome.plots


def test_the_papers_own_figures_stand_beside_ours(engines: None, small: None):
    outcome = outcome_of("dewey-table4")
    (panel,) = outcome.plots[0].panels
    assert isinstance(panel, Lines)
    assert panel.lines[-1].name == "the paper"
    assert [y for _, y in panel.lines[-1].points] == [1.1, 2.0, 4.7, 9.1, 14]
    table = outcome.tables[0]
    assert [row[-1] for row in table.rows] == ["1.1", "2.0", "4.7", "9.1", "14"]
    table = outcome_of("dewey-table3").tables[0]
    assert [row[-1] for row in table.rows] == ["22.85", "57.97", "10.97", "49.23"]
    outcome = outcome_of("dewey-table2")
    _, printed = outcome.plots[0].panels
    assert isinstance(printed, Lines)
    drawn = {line.name: line.points for line in printed.lines}
    assert drawn["dnf"] == [(1, 55), (2, 501)]
    assert drawn["interval"] == [(1, 9.5), (2, 18), (3, 35), (4, 70)]
    table = outcome.tables[0]
    headings = [column.heading for column in table.columns]
    memory = table.rows[1]
    assert memory[headings.index("scan-conj in the paper, MB")] == "854"
    assert memory[headings.index("dnf, MB")] == REFUSED
    assert "depth 2: dnf refused 100 of 100: it is too large" in table.notes
    rows = outcome_of("dewey-figure12").tables[0].rows
    assert {row[-1] for row in rows} == {PLOTTED_ONLY}


def test_deltas_are_measured_with_the_rules_that_are_in_them(small: None):
    table = outcome_of("dewey-delta").tables[0]
    headings = [column.heading for column in table.columns]
    shown = {(row[0], row[1]): dict(zip(headings, row, strict=True)) for row in table.rows}
    assert {share: shown[share, "dewey"]["rules in the delta"] for share in ("0%", "1%", "10%")} == {
        "0%": 0,
        "1%": 2,
        "10%": 20,
    }
    assert all((row["layers"] == 1) == (row["rules in the delta"] == 0) for row in shown.values())
    assert all((row["folding, s"] == 0) == (row["rules in the delta"] == 0) for row in shown.values())


def test_a_wrong_match_beside_a_delta_is_told(small: None, monkeypatch: pytest.MonkeyPatch):
    scan = BUILDERS["scan"]
    monkeypatch.setitem(BUILDERS, "dewey", lambda expressions: Forgetful(scan(expressions)))
    with pytest.raises(TocsinError, match="dewey is wrong with 0%"):
        outcome_of("dewey-delta")
