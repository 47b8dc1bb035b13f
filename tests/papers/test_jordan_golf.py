"""The trigger JordanGolf of the TriggerMan paper: single quotes, a number for THRESH, an alert for action."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tocsin

EXAMPLE = Path(__file__).parents[2] / "examples" / "video"
TEXT = "Michael Jordan plays golf"


def test_it_fires_as_the_paper_says() -> None:
    watch = tocsin.watch(EXAMPLE / "jordan_golf.sql")
    sports = {"vid": 1, "title": "Swing", "date": "1999-01-01", "category": "Sports", "description": ""}
    assert watch.insert("video", sports) == []
    assert watch.insert("video", {**sports, "vid": 2, "category": "News"}) == []
    bob = {"vid": 1, "name": "Bob", "timestamp": "1999-02-01", "comments": TEXT}
    (alert,) = watch.insert("viewed_by", bob)
    assert alert.rule == "JordanGolf"
    assert alert.rows == {"v": sports, "b": bob}
    assert alert.score == tocsin.tm_score(TEXT, "Michael, Jordan, golf")
    assert alert.text == f"Bob on Swing: {TEXT} ({alert.score})"


@pytest.mark.parametrize(
    "change", [{"vid": 2}, {"vid": 3}, {"name": "Ann"}, {"comments": "golf"}, {"comments": ""}, {"vid": None}]
)
def test_each_part_of_the_condition_counts(change: dict[str, object]) -> None:
    watch = tocsin.watch(EXAMPLE / "jordan_golf.sql")
    for vid, category in ((1, "Sports"), (2, "News")):
        watch.insert("video", {"vid": vid, "category": category})
    assert watch.insert("viewed_by", {"vid": 1, "name": "Bob", "comments": TEXT, **change}) == []


def test_a_video_that_comes_after_its_comment_fires_nothing() -> None:
    watch = tocsin.watch(EXAMPLE / "jordan_golf.sql")
    watch.insert("viewed_by", {"vid": 1, "name": "Bob", "comments": TEXT})
    assert watch.insert("video", {"vid": 1, "category": "Sports"}) == []


def test_the_other_triggers_of_the_example() -> None:
    watch = tocsin.watch(EXAMPLE / "more.sql")
    told = []
    with (EXAMPLE / "video.csv").open(newline="") as videos:
        for row in csv.DictReader(videos):
            told += watch.insert("video", {**row, "vid": int(row["vid"]), "series": row["series"] or None})
    for line in (EXAMPLE / "viewed_by.jsonl").read_text().splitlines():
        told += watch.insert("viewed_by", json.loads(line))
    assert [(alert.rule, alert.text) for alert in told] == [
        ("too_early", "Eve saw Jazz at Noon at 2026-03-04T21:30:00Z, before 2026-03-20T00:00:00Z"),
        ("hooked", "Bob goes on with Fairways: Air and Iron after Swing Thoughts"),
        ("hooked", "Bob goes on with Fairways: Air and Iron after Swing Thoughts"),
        ("long_comment", None),
    ]


def test_the_test_run_ranks_the_joined_rows_and_a_line_drawn_at_one_is_the_threshold(tmp_path: Path) -> None:
    """The paper's query over both tables, ordered by tm_score; THRESH is the score of the chosen row."""
    file = tmp_path / "jordan_golf.sql"
    file.write_bytes((EXAMPLE / "jordan_golf.sql").read_bytes())
    tables = {"video": EXAMPLE / "video.csv", "viewed_by": EXAMPLE / "viewed_by.jsonl"}
    comments = [json.loads(line) for line in (EXAMPLE / "viewed_by.jsonl").read_text().splitlines()]
    run = tocsin.backtest(file, tables, rule="JordanGolf")
    ranked = run.table.to_pylist()
    assert [(row["rows"]["v"], row["rows"]["b"]) for row in ranked] == [(0, 0), (1, 5), (1, 4)]
    for row in ranked:
        comment = comments[row["event"]]["comments"]
        assert row["score"] == tocsin.tm_score(comment, "Michael, Jordan, golf")
    run.write(run.pick(5))
    assert f"'Michael, Jordan, golf', {ranked[1]['score']!r})" in file.read_text()
    watch = tocsin.watch(file)
    with (EXAMPLE / "video.csv").open(newline="") as videos:
        for row in csv.DictReader(videos):
            watch.insert("video", {**row, "vid": int(row["vid"])})
    fired = [at for at, comment in enumerate(comments) if watch.insert("viewed_by", comment)]
    assert fired == [0, 5]
