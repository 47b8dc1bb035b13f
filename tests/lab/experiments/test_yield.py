"""The Yield-index paper's experiments, at small sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tocsin.datalog.machine import ClosureGraph
from tocsin.errors import TocsinError
from tocsin_lab.experiments import catalogue, yield_activation, yield_building, yield_recursion
from tocsin_lab.experiments.experiment import Paper, Run
from tocsin_lab.experiments.outcome import Table
from tocsin_lab.experiments.yield_activation import YI, accesses
from tocsin_lab.experiments.yield_cases import CASES
from tocsin_lab.yield_index import Counted, Workload, activate_all_with_tocsin

RUN = Run(scale=0.01)
NAMES = [case.name for case in CASES]


def column(table: Table, heading: str) -> list[object]:
    place = [each.heading for each in table.columns].index(heading)
    return [row[place] for row in table.rows]


def test_every_experiment_of_the_paper_is_there() -> None:
    places = {each.place for each in catalogue.EXPERIMENTS.values() if each.paper is Paper.YIELD}
    assert places == {"Table 1", *(f"Figure {number}" for number in range(12, 20))}


def test_table_1_has_the_printed_figures_beside_ours() -> None:
    outcome = yield_activation.measure_table(RUN)
    table, starts = outcome.tables
    assert list(dict.fromkeys(column(table, "data"))) == NAMES
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["UCl", "AAI"][3] == rows["UCl", "AAI"][5] == "123,790"
    assert rows["CFs", YI][3:6:2] == ["50,086", "34"]
    assert rows["UCd", YI][3] == "not in the paper"
    for case in CASES:
        answers = rows[case.name, YI][6]
        read = rows[case.name, YI][4]
        assert isinstance(answers, int)
        assert isinstance(read, int)
        assert read <= 4 * answers
        for name in ("FAI", "AAI", "AMEM", "FI"):
            theirs = rows[case.name, name][4]
            assert isinstance(theirs, str) or (isinstance(theirs, int) and theirs >= read)
    assert [panel.title for panel in outcome.plots[0].panels] == ["UC", "CF", "RT"]
    assert column(starts, "from")[2] == "request(z, y)"


def test_counts_that_nobody_would_wait_for_are_marked() -> None:
    assert accesses(10**9) == 10**9
    assert accesses(125 * 10**12) == "1.25E+14*"


@pytest.mark.parametrize("name", ["yield-figure12", "yield-figure13", "yield-figure14", "yield-figure15"])
def test_figures_of_activation(name: str) -> None:
    (table,) = catalogue.EXPERIMENTS[name].measure(RUN).tables
    assert column(table, "data") == NAMES
    assert set(column(table, "in the paper")) == {"plotted only"}


def test_a_structure_with_other_answers_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def less(workload: Workload) -> Counted:
        return replace(activate_all_with_tocsin(workload), heads=np.full((1, 2), -1))

    monkeypatch.setattr(yield_activation, "activate_all_with_tocsin", less)
    with pytest.raises(TocsinError, match="YI and no index differ on UC"):
        yield_activation.measure_table(RUN)


def test_construction_and_size() -> None:
    (built,) = yield_building.measure_construction(RUN).tables
    rows = {row[0]: row for row in built.rows}
    assert rows["UCl"][1:4] == [3_000, 6_000, 0]
    (sizes,) = yield_building.measure_entries(RUN).tables
    assert len(sizes.rows) == 5 * len(CASES)
    for row in sizes.rows:
        keys, under, entries = row[2:5]
        assert isinstance(keys, int)
        assert isinstance(under, int)
        assert entries == keys + under


def test_closures() -> None:
    (entries,) = yield_recursion.measure_entries(Run(scale=0.05)).tables
    assert column(entries, "graph") == ["RG1", "RG2", "RG3", "RG4", "RG5"]
    for ours, theirs in zip(column(entries, "YI"), column(entries, "semi-naive"), strict=True):
        assert isinstance(ours, int)
        assert isinstance(theirs, int)
        assert ours < theirs
    (times,) = yield_recursion.measure_time(Run(scale=0.02)).tables
    assert len(times.rows) == 5


def test_closures_that_differ_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClosureGraph, "pairs", lambda _: np.empty((0, 2), np.int64))
    with pytest.raises(TocsinError, match="closures differ"):
        yield_recursion.measure_entries(Run(scale=0.02))
