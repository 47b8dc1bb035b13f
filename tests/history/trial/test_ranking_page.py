"""The page of one rule: whole, safe whatever it shows, and the same numbers as the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.history.overview.test_page import HOSTILE, read

import tocsin
from tocsin.history.trial.ranking_page import ranking_page

EVENTS = [
    {"at": f"2026-01-{day:02}T00:00:00Z", "body": f"golf{' trophy' * (day % 3)} {HOSTILE}"}
    for day in range(1, 10)
]


@pytest.mark.parametrize("threshold", [None, 1.1])
@pytest.mark.parametrize(
    "when", ["contains(body, 'golf, trophy', 1.2)", "body like 'golf%'", "contains(body, 'gulf & <i>')"]
)
def test_what_comes_from_outside_stays_text(when: str, threshold: float | None) -> None:
    run = tocsin.backtest([(HOSTILE, when)], EVENTS, rule=HOSTILE)
    if run.query is None and threshold is not None:
        return
    checked = read(ranking_page(run, threshold))
    assert checked.tags.count("script") == 1
    assert not {"img", "i"} & set(checked.tags) - ({"i"} if run.days else set())
    assert not any(name.startswith("on") for name in checked.attributes)
    assert not {"src", "href"} & checked.attributes


def test_what_stands_below_the_threshold_is_faint(tmp_path: Path) -> None:
    run = tocsin.backtest([("r", "contains(body, 'golf, trophy', 1.2)")], EVENTS, rule="r", top=8)
    run.html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    scores = run.table["score"].to_pylist()[:8]
    assert page.count("<tr class=below>") == sum(score < 1.2 for score in scores) > 0
    assert page.count("<mark>golf</mark>") == 8
    for score, text in zip(scores, run.printed_scores(8), strict=True):
        assert f"data-value='{score!r}'>{text}</td>" in page
    assert "1 more, with lower scores or later" in page
    assert ranking_page(run, 1.0).count("<tr class=below>") == 0


def test_many_days_are_few_bars() -> None:
    events = [{"at": f"{year}-06-01T00:00:00Z", "body": "golf"} for year in range(1990, 2026)]
    checked = read(ranking_page(tocsin.backtest([("r", "contains(body, 'golf')")], events, rule="r")))
    assert "days each, UTC" in "".join(checked.texts)
    assert checked.tags.count("rect") < 300
