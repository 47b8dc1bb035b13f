"""The optimiser's constants: measured, kept, and refused when the file is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tocsin.conditions.planner import Costs, costs, keep_costs
from tocsin.conditions.planner.costs import known_costs
from tocsin.errors import InputError
from tocsin_lab import calibration
from tocsin_lab.calibration import calibrated, costs_of


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    file = tmp_path / "costs.json"
    monkeypatch.setattr(costs, "costs_file", lambda: file)
    known_costs.cache_clear()
    yield file
    known_costs.cache_clear()


def test_every_constant_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, small in (("QUERIES", 300), ("DOCUMENTS", 30), ("EVENTS", 500), ("RUNS", 1)):
        monkeypatch.setattr(calibration, name, small)
    measured = dict(calibrated())
    assert list(measured) == list(asdict(Costs()))
    assert all(value > 0 for value in asdict(costs_of(measured)).values())


def test_what_was_kept_is_known_again(kept: Path) -> None:
    assert known_costs() == Costs()
    measured = Costs(*(float(number) for number in range(1, 7)))
    assert keep_costs(measured) == kept
    assert known_costs() == measured


@pytest.mark.parametrize("text", ["", "[]", '{"text_found": 1.0, "no_such": 2.0}', '{"text_found": -1.0}'])
def test_a_damaged_file_is_refused(kept: Path, text: str) -> None:
    kept.write_text(text)
    with pytest.raises(InputError, match="is damaged"):
        known_costs()
