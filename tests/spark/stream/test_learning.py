"""Streams that learn: each batch is scored by the documents of those before it, whoever was killed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession
from tests.learning import learnt
from tests.spark.stream.test_stream import Heard
from tests.text_rules import FIELDS, Settings, expected_scores, make_condition, make_event

import tocsin
import tocsin.spark as ts
from tocsin import Dictionary
from tocsin.cli import main
from tocsin.conditions.live import Preparation
from tocsin.errors import TocsinError, UsageError
from tocsin.spark.sinks.folder_sink import FolderSink
from tocsin.spark.stream.checkpoint import Checkpoint
from tocsin.spark.stream.word_history import WordHistory


class Crash(Exception):
    """A process that ends here."""


class Newsroom:
    """Files of events, one for each batch, and rules with free text; `every` matches every event."""

    def __init__(self, folder: Path, seed: int, batches: int = 4) -> None:
        choices = random.Random(seed)
        self.folder = folder
        self.rules = [("every", "not kind = 'no such kind'"), ("none", "kind is null")]
        self.rules += [(f"r{number}", make_condition(choices)) for number in range(12)]
        self.events = [[{**make_event(choices), "kind": "a"} for _ in range(12)] for _ in range(batches)]
        (folder / "events").mkdir()
        for number, events in enumerate(self.events):
            lines = "".join(json.dumps(event) + "\n" for event in events)
            (folder / "events" / f"{number}.jsonl").write_text(lines + "garbage\n")
        self.write_rules(self.rules)

    def write_rules(self, rules: list[tuple[str, str]]) -> None:
        draft = self.folder / ".rules"
        draft.write_text("".join(json.dumps({"id": name, "when": when}) + "\n" for name, when in rules))
        draft.replace(self.folder / "rules.jsonl")

    def run(self, alerts: str, sinks: Any = None, **settings: Any) -> Heard:
        heard: Heard = settings.pop("listener", None) or Heard()
        ts.stream(
            f"{self.folder / 'events'}?files=1",
            settings.pop("rules", self.folder / "rules.jsonl"),
            sinks or str(self.folder / alerts),
            checkpoint=self.folder / f"{alerts}.checkpoint",
            once=True,
            learn=settings.pop("learn", True),
            listener=heard,
            **settings,
        ).wait()
        return heard

    def sent(self, alerts: str) -> list[dict[str, Any]]:
        rows = ds.dataset(self.folder / alerts, partitioning="hive").to_table().to_pylist()
        return sorted(rows, key=lambda row: (row["key"], row["rule"]))

    def check(
        self, rows: list[dict[str, Any]], rules: dict[int, list[tuple[str, str]]], given: Settings
    ) -> None:
        """The alerts are those that the evaluator finds with the dictionaries of their batch."""
        file_of = {row["batch"]: int(row["key"].split(".")[0]) for row in rows}
        setting, version = given, 1
        assert len(file_of) == len(self.events)
        for batch, file in sorted(file_of.items()):
            some = [row for row in rows if row["batch"] == batch]
            assert {row["dictionary"] for row in some} == {version}
            (of_rules,) = {row["version"] for row in some}
            wanted = {
                (f"{file}.jsonl:{row}", name): score
                for row, name, score in expected_scores(rules[of_rules], self.events[file], setting)
            }
            assert {(row["key"], row["rule"]): row["score"] for row in some} == wanted
            setting, version = learnt(setting, self.events[file], FIELDS), version + 1


@pytest.mark.parametrize("sinks", ["parquet", "both"])
def test_each_batch_is_scored_by_those_before(spark: SparkSession, tmp_path: Path, sinks: str) -> None:
    room = Newsroom(tmp_path, 7)
    second = [FolderSink(tmp_path / "alerts"), FolderSink(tmp_path / "lines", "jsonl")]
    heard = room.run("alerts", second if sinks == "both" else None)
    rows = room.sent("alerts")
    room.check(rows, {1: room.rules}, Settings())
    assert [report.dictionary for report in heard.batches] == [1, 2, 3, 4]
    if sinks == "both":
        lines = [json.loads(line) for file in (tmp_path / "lines").rglob("*.jsonl") for line in file.open()]
        told = {(line["alert"], line["dictionary"], line["score"]) for line in lines}
        assert told == {(row["alert"], row["dictionary"], row["score"]) for row in rows}
    words = tmp_path / "alerts.checkpoint" / "words"
    newest = json.loads((words / "00000005.json").read_text())
    body = next(each for each in newest["fields"] if each["field"] == ["body"])
    every = [event for events in room.events for event in events]
    assert Dictionary.open(words / body["file"]) == learnt(Settings(), every, FIELDS).dictionaries["body"]


def test_a_crash_at_any_step_changes_no_score(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Newsroom(tmp_path, 8)
    room.run("calm")
    calm = room.sent("calm")
    room.check(calm, {1: room.rules}, Settings())

    def crash_in(owner: Any, name: str, batch: int, *, after: bool = False) -> None:
        real = getattr(owner, name)
        calls = 0

        def crashing(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls <= batch:
                return real(*arguments, **named)
            if after:
                real(*arguments, **named)
            raise Crash("here")

        with monkeypatch.context() as patched:
            patched.setattr(owner, name, crashing)
            with pytest.raises(TocsinError, match="has stopped: here"):
                room.run("alerts")

    crash_in(Checkpoint, "decide", 0)
    crash_in(Checkpoint, "decide", 0, after=True)
    crash_in(FolderSink, "draft", 1)
    crash_in(FolderSink, "write", 1, after=True)
    crash_in(WordHistory, "learn", 1)
    crash_in(WordHistory, "learn", 0, after=True)
    crash_in(WordHistory, "learn", 1, after=True)
    crash_in(WordHistory, "purge", 1)
    room.run("alerts")
    again = room.sent("alerts")
    room.check(again, {1: room.rules}, Settings())
    assert [{**row, "time": None} for row in again] == [{**row, "time": None} for row in calm]


def test_rules_that_change_keep_what_was_learnt(spark: SparkSession, tmp_path: Path) -> None:
    room = Newsroom(tmp_path, 9)
    choices = random.Random(10)
    versions = {1: room.rules}

    class Changing(Heard):
        def batch(self, report: Any) -> None:
            super().batch(report)
            versions[report.batch + 2] = [*room.rules[:4], ("new", make_condition(choices))]
            versions[report.batch + 2] += [
                ("body", "contains(body, 'a, golf')"),
                ("title", "contains(title, 'a')"),
            ]
            room.write_rules(versions[report.batch + 2])

    given = Settings({"body": Dictionary.count(["a golf", "golf"])}, ("b",))
    preparation = Preparation.of(None, given.dictionaries, given.stop_words)
    room.run("alerts", listener=Changing(), preparation=preparation)
    room.check(room.sent("alerts"), versions, given)


def test_a_stream_that_learns_goes_on_learning(spark: SparkSession, tmp_path: Path) -> None:
    room = Newsroom(tmp_path, 11, batches=1)
    room.run("alerts")
    with pytest.raises(UsageError, match="another learn"):
        room.run("alerts", learn=False)
    plain = tmp_path / "plain"
    plain.mkdir()
    other = Newsroom(plain, 11, batches=1)
    other.run("alerts", learn=False)
    assert "dictionary" not in other.sent("alerts")[0]
    with pytest.raises(UsageError, match="another learn"):
        other.run("alerts")
    with pytest.raises(UsageError, match="their own dictionary"):
        room.run("others", keep=["dictionary"])


def test_a_saved_index_with_weights_cannot_learn(spark: SparkSession, tmp_path: Path) -> None:
    room = Newsroom(tmp_path, 12, batches=1)
    counted, plain = tmp_path / "counted.tocsin", tmp_path / "plain.tocsin"
    tocsin.build(room.rules, dictionaries={"body": Dictionary.count(["a"])}).save(counted)
    tocsin.build(room.rules).save(plain)
    with pytest.raises(UsageError, match="in how many documents"):
        room.run("alerts", rules=counted)
    room.run("others", rules=plain)
    room.check(room.sent("others"), {1: room.rules}, Settings())


def test_the_command(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    room = Newsroom(tmp_path, 13, batches=2)
    source = f"{tmp_path / 'events'}?files=1"
    rules, sink = str(tmp_path / "rules.jsonl"), str(tmp_path / "alerts")
    assert main(["stream", rules, "--source", source, "--sink", sink, "--learn", "--once"]) == 0
    assert "dictionary version 2" in capsys.readouterr().err
    room.check(room.sent("alerts"), {1: room.rules}, Settings())
