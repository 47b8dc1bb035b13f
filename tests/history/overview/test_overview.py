"""tocsin.backtest without a rule: every number is the obvious evaluator's."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import Event, make_json_event, make_rule_set
from tests.history.overview.judging import check_overview
from tests.sharded_rules import in_parts, shared_out, write_in_parts

import tocsin
from tocsin.conditions.language import print_condition
from tocsin.errors import InputError, UsageError
from tocsin.history.overview import samples as samples_module
from tocsin.history.overview import tally as tally_module
from tocsin.history.overview.overview_result import LocalOverview

TEXTS = [
    ("golf", "contains(body, 'golf, trophy')"),
    ("high", "contains(body, 'golf, trophy', 1.2) or n = 1"),
    ("all", "true"),
    ("none", "not true"),
]


def history(rng: random.Random, count: int) -> tuple[list[Event], list[int | None]]:
    hours = [None if rng.random() < 0.1 else rng.choice([0, 5, rng.randrange(400_000)]) for _ in range(count)]
    events: list[Event] = []
    for number, hour in enumerate(hours):
        event = make_json_event(rng) | {
            "number": number,
            "body": rng.choice(["golf", "a golf trophy", "", "x"]),
        }
        if hour is not None:
            event["happened"] = (dt.datetime(1970, 1, 1) + dt.timedelta(hours=hour)).isoformat() + "Z"
        events.append(event)
    return events, hours


def made(rng: random.Random) -> list[tuple[str, str]]:
    return [(name, print_condition(condition)) for name, condition in make_rule_set(rng, 40)] + TEXTS


def tables(overview: Any) -> tuple[pa.Table, pa.Table, pa.Table]:
    return overview.rules, overview.over_time, overview.samples


@pytest.mark.parametrize("seed", range(12))
def test_against_the_obvious_evaluator(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    if seed % 2:  # put out what is held after almost every slice of matches
        monkeypatch.setattr(tally_module, "BYTES_OF_COUNTS", 10)
        monkeypatch.setattr(tally_module, "MOST_SAMPLES", 3)
        monkeypatch.setattr(tally_module, "MOST_SCORES", 2)
        monkeypatch.setattr(tally_module, "MATCHES_AT_ONCE", 16)
        monkeypatch.setattr(samples_module, "ENOUGH", 4)
    rules, (events, hours) = made(rng), history(rng, 40)
    samples = rng.randrange(4)
    file = tmp_path / "old.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    from_file = tocsin.backtest(rules, file, time="happened", samples=samples)
    check_overview(from_file, rules, events, hours, samples, tables(from_file))
    from_list = tocsin.backtest(tocsin.build(rules), events, time="happened", samples=samples)
    assert from_list.summary == from_file.summary
    assert from_list.rules.equals(from_file.rules)
    assert from_list.over_time.equals(from_file.over_time)
    assert from_list.samples.drop(["json"]).equals(from_file.samples.drop(["json"]))
    parts = tocsin.backtest(in_parts(rng, rules, 3), events, time="happened", samples=samples)
    assert parts.summary == from_list.summary
    for found, expected in zip(tables(parts), tables(from_list), strict=True):
        by = [(name, "ascending") for name in ("rule", "at", "event") if name in expected.column_names]
        assert found.sort_by(by).equals(expected.sort_by(by))


def test_a_table_of_events_and_a_chosen_width(tmp_path: Path) -> None:
    at = [dt.datetime(2026, 1, day, 12) for day in (1, 1, 3)]
    table = pa.table({"number": [0, 1, 2], "x": [1, 2, 2], "at": at, "d": [dt.date(2026, 1, 1)] * 3})
    found = tocsin.backtest([("two", "x = 2"), ("no", "y = 2")], table, bucket="1 day", keep=["x"])
    assert found.over_time.column("hits").to_pylist() == [1, 1]
    assert [each.isoformat() for each in found.times.column("at").to_pylist()] == [
        "2026-01-01T00:00:00+00:00",
        "2026-01-03T00:00:00+00:00",
    ]
    assert found.samples.to_pylist() == [{"rule": "two", "event": 1, "json": '{"x": 2}'}]
    assert found.summary.missing == ("y",)
    assert (found.summary.time, found.summary.width) == ("at", 86_400)
    pq.write_table(table, tmp_path / "old.parquet")
    again = tocsin.backtest(
        [("two", "x = 2"), ("no", "y = 2")], tmp_path / "old.parquet", bucket=dt.timedelta(1)
    )
    assert again.rules.equals(found.rules)
    assert again.samples.column("json")[0].as_py() == (
        '{"number": 1, "x": 2, "at": "2026-01-01T12:00:00Z", "d": "2026-01-01"}'
    )


def test_a_csv_of_events(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("id,x\n1,5\n123456789012345678901234567890,6\nbad\n")
    found = tocsin.backtest([("all", "x > 0")], tmp_path / "old.csv", keep=["id", "nowhere"])
    shown = [json.loads(row["json"])["id"] for row in found.samples.to_pylist()]
    assert sorted(shown) == [1, 123456789012345678901234567890]
    assert (found.summary.events, found.summary.rejects) == (2, 1)
    assert found.summary.time is None
    assert len(found.over_time) == len(found.times) == 0


def test_rules_of_every_form(tmp_path: Path) -> None:
    events = [{"x": 1}]
    (tmp_path / "rules.csv").write_text("id,when\nr,x = 1\n")
    index = tocsin.build([("r", "x = 1")])
    index.save(tmp_path / "rules.tocsin")
    write_in_parts(tmp_path / "parts.tocsin", shared_out(random.Random(1), [("r", "x = 1")], 2))
    files = [tmp_path / "rules.csv", str(tmp_path / "rules.tocsin"), tmp_path / "parts.tocsin"]
    every: list[Any] = [index, *files, tocsin.read_rules(tmp_path / "rules.csv")]
    for rules in every:
        assert tocsin.backtest(rules, events).rules.column("hits").to_pylist() == [1]
    index.insert("s", "x > 0")
    index.delete("r")
    found = tocsin.backtest(index, events)
    assert found.rules.select(["rule", "hits"]).to_pylist() == [{"rule": "s", "hits": 1}]


def test_no_events_and_no_rules() -> None:
    nothing = tocsin.backtest([("r", "x = 1")], [])
    assert nothing.rules.to_pylist()[0]["why"] == "there are no events"
    assert nothing.summary.always == 0
    assert "0 events" in repr(nothing)
    assert tocsin.backtest([], [{"x": 1}]).summary.events == 1


def test_what_makes_no_sense() -> None:
    for wrong in ({"samples": -1}, {"samples": True}, {"bucket": "1 day"}, {"time": "at", "bucket": "soon"}):
        with pytest.raises(UsageError):
            tocsin.backtest([("r", "x = 1")], [{"x": 1}], **wrong)
    with pytest.raises(UsageError, match="whole number of seconds"):
        tocsin.backtest([("r", "x = 1")], [{"x": 1}], time="at", bucket="5 ms")
    with pytest.raises(UsageError, match="top is from 0"):
        tocsin.backtest([("r", "x = 1")], [{"x": 1}]).digest(-1)


def test_tables_are_written_to_a_folder_of_their_own(tmp_path: Path) -> None:
    found = tocsin.backtest([("r", "x = 1"), ("s", "x = 2")], [{"x": 1, "at": "2026-01-01T00:00:00Z"}])
    assert isinstance(found, LocalOverview)
    found.write(tmp_path / "report")
    for name in ("rules", "over_time", "samples", "times"):
        written = pq.read_table(tmp_path / "report" / name)
        assert written.equals(getattr(found, name))
    with pytest.raises(InputError, match="a new folder"):
        found.write(tmp_path / "report")


def test_a_folder_of_tables_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tocsin.backtest([("r", "x = 1")], [{"x": 1}])
    (tmp_path / "empty").mkdir()
    real = pq.write_table

    def fail_late(table: pa.Table, file: Path, **options: Any) -> None:
        if "samples" in str(file):
            raise OSError("no space is left")
        real(table, file, **options)

    monkeypatch.setattr(pq, "write_table", fail_late)
    for name in ("report", "empty"):
        with pytest.raises(OSError, match="no space"):
            found.write(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]
    monkeypatch.undo()
    found.write(tmp_path / "empty")
    assert pq.read_table(tmp_path / "empty" / "rules").equals(found.rules)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        found.write(tmp_path / "file" / "report")
