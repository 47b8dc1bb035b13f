"""A-Tree alone, from a file: its row, and what stands there when memory is not enough."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool

import pytest
from tests.lab.experiments.cells import rows

from tocsin_lab.experiments import atree_largest
from tocsin_lab.experiments.experiment import Run

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


def test_a_row_has_what_both_processes_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atree_largest, "SIZES", (1_000_000,))
    (table,) = atree_largest.measure_largest(Run(0.0005)).tables
    ((count, *others),) = rows(table)
    assert count == 500
    assert min(others) > 0
    at_most = [column.heading for column in table.columns].index("memory of both at most, MB")
    assert rows(table)[0][at_most] > 50


def test_what_cannot_be_held_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(atree_largest, "SIZES", (1_000_000,))
    monkeypatch.setattr(atree_largest, "in_a_process", killed)
    (table,) = atree_largest.measure_largest(Run(0.0005)).tables
    assert rows(table) == [[500, atree_largest.NOT_HELD, *[None] * 8]]
    assert len(table.columns) == 10
