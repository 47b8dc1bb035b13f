"""The benchmark of the paper's figures on a small workload: its scan and its checks, not its figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks import atree_paper

from tocsin.index.atree_groups import Grouping
from tocsin.kernels.atree_updates import Groups
from tocsin.lab import abe_gen

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


def workload(rules: int, events: int) -> atree_paper.Workload:
    return atree_paper.workload_of("a few rules", abe_gen.Setting(expressions=rules), events)


def test_all_designs_of_the_figures_are_measured(tmp_path, monkeypatch):
    report = atree_paper.measure(workload(rules=120, events=30), repeat=1)
    assert [(each.figure, each.design) for each in report.measured] == [
        ("8", "scan"),
        *(("8", name) for name in atree_paper.FIGURE_8),
        *(("9", name) for name in atree_paper.FIGURE_9),
        *(("10", name) for name in atree_paper.FIGURE_10),
    ]
    nodes = {each.design: each.nodes or 0 for each in report.measured if each.figure == "9"}
    edges = {each.design: each.edges or 0 for each in report.measured if each.figure == "9"}
    assert 0 < nodes["unique nodes"] < nodes["no optimisation"]
    assert 0 < edges["and self-adjusted"] < edges["unique nodes"]
    monkeypatch.setattr(atree_paper, "RESULTS", tmp_path)
    monkeypatch.setattr(atree_paper, "DOCUMENTS", ())
    atree_paper.write_down([report])
    assert json.loads((tmp_path / "atree_paper.json").read_text())[0]["rules"] == 120
    assert "and on demand, access child by selectivity" in atree_paper.tables(report)


def test_a_wrong_design_is_found():
    prepared = atree_paper.Prepared(workload(rules=60, events=20))
    prepared.matches[7] += 1
    with pytest.raises(SystemExit, match="scan: the numbers of matches are not those"):
        atree_paper.time_scan(prepared, 1)
    with pytest.raises(SystemExit, match=r"Design.*: the numbers of matches are not those"):
        atree_paper.measure_design(prepared, atree_paper.BUILT, 1)


def test_lots_of_groups_are_joined():
    prepared = atree_paper.Prepared(workload(rules=60, events=20))
    whole = prepared.groups(Grouping())
    halves = [prepared.read(prepared.texts[:25], Grouping()), prepared.read(prepared.texts[25:], Grouping())]
    joined = atree_paper.joined(halves)
    assert all(np.array_equal(getattr(whole, name), getattr(joined, name)) for name in Groups._fields)
