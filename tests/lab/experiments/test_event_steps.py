"""The steps of matching an event: every engine has them, and together they are the whole."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tocsin.engines import ENGINES
from tocsin.engines.build import build
from tocsin.errors import TocsinError
from tocsin_lab import abe_gen
from tocsin_lab.experiments.event_steps import step_times

SETTING = abe_gen.Setting(expressions=40)
EVENTS = abe_gen.rows_of(abe_gen.events(SETTING, 5))


@pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")
def test_every_engine_is_timed_step_by_step() -> None:
    rules = abe_gen.rules(SETTING)
    indexes = {name: build(rules, name) for name in ENGINES}
    taken = step_times(indexes, dict.fromkeys(indexes, EVENTS), 2)
    assert set(taken) == set(ENGINES)
    for steps in taken.values():
        assert 0 < steps.read.best <= steps.read.slowest
        assert 0 < steps.match.best <= steps.match.slowest


def test_steps_that_give_other_matches_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    index = build(pa.table({"id": ["a"], "when": ["x > 1"]}), "scan")
    whole = index.match

    monkeypatch.setattr(index, "match", lambda event: whole({"x": 0}), raising=False)
    with pytest.raises(TocsinError, match="scan: its steps give other matches than the whole"):
        step_times({"scan": index}, {"scan": [{"x": 2}]}, 1)
