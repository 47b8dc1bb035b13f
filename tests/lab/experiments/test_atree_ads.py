"""Table 4 on few rules: its rows, the paper's figures in them, and what would stop it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.lab.experiments.cells import rows

from tocsin.errors import TocsinError
from tocsin_lab.experiments import atree_ads
from tocsin_lab.experiments.doors import Offer, open_door
from tocsin_lab.experiments.experiment import Run

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


class Told:
    """What a run tells of its steps."""

    def __init__(self):
        self.count = 0
        self.begun = []

    def steps(self, count):
        self.count = count

    def step(self, doing):
        self.begun.append(doing)

    def skip(self, count):
        raise AssertionError("nothing was measured before")


def test_every_engine_has_a_row_with_the_papers_figures(monkeypatch):
    monkeypatch.setattr(atree_ads, "EVENTS", 5)
    monkeypatch.setattr(atree_ads, "EVENTS_IN_BLOCKS", 10)
    monkeypatch.setattr(atree_ads, "ROUNDS", 1)
    monkeypatch.setattr(atree_ads, "REBUILDS", 1)
    told = Told()
    outcome = atree_ads.measure(Run(0.0001, engines=("scan", "scan-conj", "atree"), progress=told))
    assert told.count == len(told.begun) == 8
    headline, phases = outcome.tables
    by_engine = {row[0]: row for row in rows(headline)}
    assert list(by_engine) == ["atree", "atree in blocks", "scan", "scan-conj"]
    place = {column.heading: number for number, column in enumerate(headline.columns)}
    papers = [place[f"paper, {unit}"] for unit in ("ms", "times", "s", "MB")]
    assert [by_engine["atree"][each] for each in papers] == ["1.6", "1", "2.9", "205"]
    assert [by_engine["scan"][each] for each in papers] == ["529.1", "331", "-", "-"]
    assert [by_engine["scan-conj"][each] for each in papers] == ["-"] * 4
    ratio, match = place["of atree, times"], place["match, ms"]
    assert by_engine["atree"][ratio] == 1
    assert by_engine["scan"][ratio] == pytest.approx(by_engine["scan"][match] / by_engine["atree"][match])
    for name in ("atree", "scan", "scan-conj"):
        assert 0 < by_engine[name][match] <= by_engine[name][place["slowest, ms"]]
        assert 0 < by_engine[name][place["construct, s"]] <= by_engine[name][place["slowest, s"]]
        assert by_engine[name][place["reading, ms"]] > 0
    assert all(len(row) == len(headline.columns) for row in headline.rows)
    assert len({column.heading for column in headline.columns}) == len(headline.columns)
    assert [row[0] for row in phases.rows] == ["atree", "scan", "scan-conj"]
    assert [panel.title for panel in outcome.plots[0].panels] == [
        "matching an event that is read",
        "construction",
        "memory",
    ]


def test_blocks_are_held_to_single_events():
    rules = pa.table({"id": ["a", "b"], "when": ["x > 1", "x > 2"]})
    judge = open_door(Offer.of(rules), "atree")
    table = pa.table({"x": [1, 2, 3]})
    atree_ads.hold_blocks(judge, table, [0, 1])
    with pytest.raises(TocsinError, match="other matches in blocks"):
        atree_ads.hold_blocks(judge, table, [0, 2])


def test_the_papers_two_parts_are_added_for_the_plot():
    assert atree_ads._total("dnf", "memory") == 320 + 4_592
    assert atree_ads._total("scan", "memory") is None
    assert atree_ads._total("scan-conj", "construction") is None
