"""Outcomes that are kept: the same when they are read again, and a run that was stopped goes on with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import experiments as written
from tests.lab.experiments.test_framework import OUTCOME, toy

from tocsin_lab.experiments import kept_outcomes
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.kept_outcomes import KeptOutcomes, source_digest
from tocsin_lab.experiments.outcome import (
    Axis,
    Bar,
    Bars,
    Column,
    Line,
    Lines,
    Outcome,
    Plot,
    Table,
    together,
)
from tocsin_lab.experiments.table_texts import markdown


def part(name: str) -> Outcome:
    """One panel, of an experiment that says something of each in a table of its own."""
    numbers = [Column("value"), Column("ms")]
    int_of_numpy: Any = np.int64(2)
    return Outcome(
        [
            Table(f"Panel {name}", numbers, [[1, np.float64(0.1)], [int_of_numpy, None]], name=name),
            Table("What the text says", [Column("panel")], [[name]], name="text"),
        ],
        [
            Plot(
                "A figure",
                [
                    Lines(
                        name, Axis("x"), Axis("y", log=True), [Line("atree", [(1, 2.5)], frozenset([1]), [3])]
                    ),
                    Bars(name, "", Axis("y"), ["a", "b"], [Bar("", [1, None], [2, None])], stacked=True),
                ],
            )
        ],
        ["measured", f"panel {name}"],
    )


def plain(outcome: Outcome) -> object:
    """Without the difference of lists and tuples."""
    return json.loads(json.dumps(asdict(outcome), default=kept_outcomes._plain))


@pytest.mark.parametrize("outcome", [OUTCOME, part("a"), Outcome([], [], [])])
def test_what_is_read_is_what_was_kept(tmp_path: Path, outcome: Outcome) -> None:
    kept = KeptOutcomes(tmp_path / "new")
    assert kept.find("a") is None
    kept.put("a", outcome)
    read = KeptOutcomes(tmp_path / "new").find("a")
    assert read is not None
    assert plain(read) == plain(outcome)
    assert [*map(markdown, read.tables)] == [*map(markdown, outcome.tables)]
    panels = [[[type(panel) for panel in plot.panels] for plot in each.plots] for each in (read, outcome)]
    assert panels[0] == panels[1]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.json"]


def test_a_file_that_is_not_whole_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptOutcomes(tmp_path)

    def stop(_self: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            kept.put("a", part("a"))
    assert kept.find("a") is None


def test_parts_are_one_outcome() -> None:
    whole = together([part("a"), part("b")])
    assert [table.title for table in whole.tables] == ["Panel a", "Panel b", "What the text says"]
    assert whole.tables[-1].rows == [["a"], ["b"]]
    (plot,) = whole.plots
    assert [panel.title for panel in plot.panels] == ["a", "a", "b", "b"]
    assert whole.notes == ["measured", "panel a", "panel b"]


def test_the_digest_is_that_of_what_an_experiment_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["tocsin_lab.experiments.dewey_depth", "tocsin_lab.experiments.atree_ads"]
    source = kept_outcomes._source

    def digests_with(changed: str) -> list[str]:
        def read(module: str) -> bytes | None:
            content = source(module)
            return content + b"\n" if content is not None and module == changed else content

        source_digest.cache_clear()
        monkeypatch.setattr(kept_outcomes, "_source", read)
        return [source_digest(name, ("atree", "scan-conj", "dewey")) for name in names]

    try:
        dewey, ads = digests_with("")
        with_steps = digests_with("tocsin_lab.experiments.event_steps")
        assert with_steps[0] == dewey
        assert with_steps[1] != ads
        with_kernel = digests_with("tocsin.engines.kernels.dewey_labels")
        assert with_kernel[0] != dewey
        assert with_kernel[1] != ads
    finally:
        source_digest.cache_clear()


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A document with a place for the toy, and nothing kept yet."""
    monkeypatch.setattr(written, "DOCUMENTS", tmp_path)
    monkeypatch.setattr(written, "PLOTS", tmp_path / "plots")
    monkeypatch.setattr(written, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(written, "write_claims", lambda: None)
    monkeypatch.setattr(written, "warm_up", lambda: None)
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: toy -->\n<!-- end: toy -->\n")
    return page


class Parts:
    """An experiment in three parts, which may be stopped at one of them."""

    def __init__(self) -> None:
        self.measured: list[str] = []
        self.stops_at = ""

    def measure(self, run: Run) -> Outcome:
        run.progress.steps(3)
        return together([run.part(name, 1, self.one(run, name)) for name in "abc"])

    def one(self, run: Run, name: str) -> Callable[[], Outcome]:
        def measure() -> Outcome:
            run.progress.step(f"part {name}")
            if name == self.stops_at:
                raise KeyboardInterrupt
            self.measured.append(name)
            return part(name)

        return measure


def test_a_run_that_was_stopped_goes_on(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = Parts()
    monkeypatch.setattr(written, "chosen", lambda _: [toy(parts.measure)])
    parts.stops_at = "c"
    with pytest.raises(KeyboardInterrupt):
        written.main(["toy=0.25"])
    assert parts.measured == ["a", "b"]
    assert "Panel b" in page.read_text(), "each panel is written when it is done"
    assert "Panel c" not in page.read_text()
    assert "![A figure](experiments/toy.png)" in page.read_text()
    parts.stops_at = ""
    capsys.readouterr()
    assert written.main(["toy=0.25"]) == 0
    assert parts.measured == ["a", "b", "c"]
    assert "toy 3/3" in capsys.readouterr().err
    whole = page.read_text()
    assert all(f"Panel {name}" in whole for name in "abc")
    assert written.main(["toy=0.25"]) == 0
    assert parts.measured == ["a", "b", "c"]
    assert page.read_text() == whole
    assert written.main(["toy=0.5"]) == 0
    assert parts.measured == [*"abcabc"], "of another scale nothing is taken"


def test_what_other_source_measured_is_not_taken(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts()
    monkeypatch.setattr(written, "chosen", lambda _: [toy(parts.measure)])
    for digest in ("one", "other", "one"):
        monkeypatch.setattr(written, "source_digest", lambda *_, digest=digest: digest)
        assert written.main(["toy"]) == 0
    assert parts.measured == [*"abcabc"]
    assert json.loads(next((page.parent / "kept").rglob("whole.json")).read_text())["notes"]
