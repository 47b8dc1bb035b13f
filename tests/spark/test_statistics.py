"""ts.statistics: the same counts as a plain loop over the events, merged runs, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import tocsin.spark as ts
from tocsin import History
from tocsin.cli import main
from tocsin.errors import InputError, TocsinError, TocsinWarning, UsageError
from tocsin.events import Kind, plan_slices
from tocsin.history.statistics import Plan, StatisticsJob, local_statistics
from tocsin.history.statistics.statistics_folder import read_contents, read_facts, read_words
from tocsin.spark.statistics import statistics_of_slices
from tocsin.text import words_of

statistics_module = sys.modules[statistics_of_slices.__module__]  # ts.statistics is the function

SCHEMA = (
    "id long, state string, body string, tags array<string>, at timestamp, price decimal(10,2),"
    " user struct<age: int, bio: string, raw: binary>, orders array<struct<sum: double>>,"
    " labels map<string, string>"
)
ROWS = 300


def plan_for(folder: Path, **options: Any) -> Plan:
    return partial(StatisticsJob.plan, folder, **options)


def rows(seed: int) -> list[tuple[object, ...]]:
    chosen = random.Random(seed)
    words = ["golf", "Golf", "tennis", "日本", "trophy", "a"]
    return [
        (
            number,
            chosen.choice(["CA", "NY", None]),
            None if chosen.random() < 0.1 else " ".join(chosen.choices(words, k=chosen.randrange(5))),
            chosen.choice([None, [], ["golf day", None, "day"], ["x"]]),
            dt.datetime(2026, 1, 1 + number % 9),
            Decimal(number % 4) / 2,
            (number % 7, "likes golf", b"\0") if number % 3 else None,
            [(0.5,), (1.5,)] if number % 2 else None,
            {"k": "v"},
        )
        for number in range(ROWS)
    ]


def frame(spark: SparkSession, seed: int = 1) -> DataFrame:
    return spark.createDataFrame(rows(seed), SCHEMA).repartition(3)


def counted(documents: list[object]) -> tuple[dict[str, int], int]:
    """Documents with each word, and documents."""
    counts: Counter[str] = Counter()
    present = [document for document in documents if document is not None]
    for document in present:
        texts = [document] if isinstance(document, str) else document
        assert isinstance(texts, list)
        counts.update({word for text in texts if text is not None for word in words_of(text)})
    return dict(counts), len(present)


def words(history: History, field: str) -> tuple[dict[str, int], int]:
    dictionary = history.dictionary(field)
    return {word: dictionary.documents_with(word) for word in dictionary}, dictionary.documents


def test_counts_as_a_plain_loop_does(spark: SparkSession, tmp_path: Path) -> None:
    events = rows(1)
    history = ts.statistics(frame(spark), tmp_path / "history")
    assert (history.rows, history.version, history.rejects) == (ROWS, 1, 0)
    assert history.text_fields == (("body",), ("state",), ("tags",), ("user", "bio"))
    assert set(history.fields) == {
        *((name,) for name in ("id", "state", "body", "tags", "at", "price", "user", "orders", "labels")),
        ("user", "age"),
        ("user", "bio"),
        ("orders", "sum"),
    }
    assert words(history, "body") == counted([row[2] for row in events])
    assert words(history, "tags") == counted([row[3] for row in events])
    states = Counter(row[1] for row in events)
    state = history.field("state")
    assert state.present == ROWS - states.pop(None)
    assert dict(state.kinds[Kind.STRING].most_frequent()) == states
    assert history.field("user.age").kinds[Kind.NUMBER].distinct == 7
    assert history.field("orders.sum").kinds[Kind.NUMBER].cells == ROWS
    assert history.field("price").kinds[Kind.NUMBER].most_frequent(1) == [(0, 75)]
    assert history.field("at").kinds[Kind.TIMESTAMP].distinct == 9
    assert history.field("labels").present == ROWS
    again = History.open(tmp_path / "history")
    assert words(again, "body") == words(history, "body")


def test_sketches_are_the_least_hashes(spark: SparkSession, tmp_path: Path) -> None:
    """A word's sketch in parts of the history, put together, is that of the whole."""
    history = ts.statistics(frame(spark), tmp_path / "history", text=["body"], sketch=8)
    large = ts.statistics(frame(spark), tmp_path / "large", text=["body"], sketch=4096)
    small, whole = history.sketches("body"), large.sketches("body")
    for place in range(len(whole.dictionary)):
        hashes = whole.at(place).hashes
        assert len(hashes) == whole.dictionary.arrays.documents[place] == len(set(hashes.tolist()))
        assert small.at(place).hashes.tolist() == sorted(hashes.tolist())[:8]


def test_merging_counts_both_runs(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    first = ts.statistics(frame(spark, 1), folder, text=["body", "tags"], sketch=32)
    second = ts.statistics(frame(spark, 2).drop("tags"), folder, text=["body", "state"], merge=True)
    both = [*rows(1), *rows(2)]
    assert (first.version, second.version, second.rows) == (1, 2, 2 * ROWS)
    assert words(second, "body") == counted([row[2] for row in both])
    assert words(second, "tags") == counted([row[3] for row in rows(1)])
    assert words(second, "state") == counted([row[1] for row in rows(2)])
    assert dict(second.field("state").kinds[Kind.STRING].most_frequent()) == Counter(
        row[1] for row in both if row[1] is not None
    )
    golf = second.sketches("body").at(second.dictionary("body").place_of("golf") or 0)
    assert len(set(golf.hashes.tolist())) == 32, "rows of another run are other documents"
    replaced = ts.statistics(frame(spark, 2), folder, text=[["user", "bio"]])
    assert (replaced.version, replaced.rows, replaced.text_fields) == (3, ROWS, (("user", "bio"),))
    assert sorted(each.name.partition("-")[0] for each in folder.iterdir()) == [
        "fields",
        "statistics.json",
        "words",
    ]


def test_no_events_and_no_fields(spark: SparkSession, tmp_path: Path) -> None:
    empty = ts.statistics(spark.createDataFrame([], "body string"), tmp_path / "empty")
    assert (empty.rows, empty.dictionary("body").documents) == (0, 0)
    nothing = ts.statistics(spark.createDataFrame([(b"x",)], "raw binary"), tmp_path / "nothing")
    assert (nothing.rows, nothing.fields) == (1, ())


def test_what_is_refused_before_a_job(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([("golf",)], "body string")
    with pytest.raises(UsageError, match="not str"):
        ts.statistics("events", tmp_path / "h")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="stream"):
        ts.statistics(spark.readStream.format("rate").load(), tmp_path / "h")
    with pytest.raises(UsageError, match="no field 'title'"):
        ts.statistics(events, tmp_path / "h", text=["title"])
    with pytest.raises(UsageError, match="list of fields"):
        ts.statistics(events, tmp_path / "h", text="body")
    with pytest.raises(UsageError, match="from 8 to"):
        ts.statistics(events, tmp_path / "h", sketch=1)
    with pytest.raises(UsageError, match="a text, not 20261116"):
        ts.statistics(events, tmp_path / "h", part=20261116)  # type: ignore[arg-type]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="this is a file"):
        ts.statistics(events, tmp_path / "file")
    with pytest.raises(InputError, match="something else"):
        ts.statistics(events, tmp_path)
    ts.statistics(events, tmp_path / "h")
    with pytest.raises(UsageError, match="cannot be merged"):
        ts.statistics(events, tmp_path / "h", merge=True, sketch=16)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "h"]


def test_failed_run_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    ts.statistics(spark.createDataFrame([("golf",)], "body string"), folder)
    before = sorted(each.name for each in folder.iterdir())
    broken = spark.createDataFrame([(b"\xff",)], "raw binary").selectExpr("cast(raw as string) as body")
    with pytest.raises(TocsinError, match="not valid UTF-8"):
        ts.statistics(broken, folder, merge=True)
    assert sorted(each.name for each in folder.iterdir()) == before
    assert words(History.open(folder), "body") == ({"golf": 1}, 1)
    with pytest.raises(TocsinError, match="not valid UTF-8"):
        ts.statistics(broken, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_names_are_written_as_conditions_write_them(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("golf", ("tennis",), "x", {"k": 1}), ("golf", ("day",), None, {"k": 2})]
    schema = "`a.b` string, a struct<b: string>, `my field` string, labels map<string, int>"
    events = spark.createDataFrame(rows, schema)
    history = ts.statistics(
        events, tmp_path / "history", fields=['"a.b"', ("a", "b"), "my field", "labels.k", "nowhere"]
    )
    assert history.fields == (("a.b",), ("a", "b"), ("my field",), ("labels", "k"))
    assert words(history, '"a.b"') == ({"golf": 2}, 2)
    assert words(history, "a.b") == ({"tennis": 1, "day": 1}, 2)
    assert history.field("my field").missing == 0.5
    assert history.field("labels.k").kinds[Kind.NUMBER].distinct == 2
    assert history.field("nowhere").missing == 1.0
    with pytest.raises(UsageError, match=r"no field 'a\.c'"):
        ts.statistics(events, tmp_path / "other", text=["a.c"])


def test_a_part_of_a_history_counts_once(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    events = spark.createDataFrame([("golf",)], "body string")
    ts.statistics(events, folder, part="monday")
    ts.statistics(events, folder, part="tuesday", merge=True)
    with pytest.warns(TocsinWarning, match="'monday' is in it already"):
        again = ts.statistics(events, folder, part="monday", merge=True)
    assert (again.rows, again.version, again.parts) == (2, 2, ("monday", "tuesday"))
    replaced = ts.statistics(events, folder, part="monday")
    assert (replaced.rows, replaced.parts) == (1, ("monday",))
    with pytest.raises(InputError, match="by now it holds version 3: open it again"):
        again.dictionary("body")


def test_what_a_killed_run_left_is_no_hindrance(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    for name in ("partials-1-dead", "words-1-dead"):
        (folder / name).mkdir(parents=True)
        (folder / name / "part-0.parquet").write_bytes(b"PAR1")
        os.utime(folder / name, (0, 0))
    events = spark.createDataFrame([("golf",)], "body string")
    assert ts.statistics(events, folder).rows == 1
    assert len(list(folder.iterdir())) == 3


def test_two_runs_at_once_do_not_lose_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "history"
    events = spark.createDataFrame([("golf",)], "body string")
    ts.statistics(events, folder)
    merged_facts: Callable[..., pa.Table] = statistics_module._merged_facts

    def merge_after_another(*arguments: Any) -> pa.Table:
        monkeypatch.setattr(statistics_module, "_merged_facts", merged_facts)
        assert ts.statistics(events, folder, merge=True).rows == 2
        return merged_facts(*arguments)

    monkeypatch.setattr(statistics_module, "_merged_facts", merge_after_another)
    with pytest.raises(TocsinError, match="another run has written here meanwhile"):
        ts.statistics(events, folder, merge=True)
    assert words(History.open(folder), "body") == ({"golf": 2}, 2)


EVENTS = """{"body": "golf day", "n": 1, "user": {"bio": "a golfer"}}
{"body": ["golf", "tennis"], "n": "one"}
no event
{"body": 7}
"""


def test_files_are_read_as_matching_reads_them(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "0.jsonl").write_text(EVENTS)
    (tmp_path / "events" / "1.jsonl").write_text('{"body": "day", "late": true}\n')
    history = statistics_of_slices(spark, plan_slices(tmp_path / "events"), plan_for(tmp_path / "history"))
    assert (history.rows, history.rejects) == (4, 1)
    assert words(history, "body") == ({"golf": 2, "day": 2, "tennis": 1}, 3)
    assert {kind: each.cells for kind, each in history.field("body").kinds.items()} == {
        Kind.NUMBER: 1,
        Kind.STRING: 4,
    }
    assert ("user", "bio") in history.text_fields
    assert history.field("late").present == 1


def test_files_of_tables(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("n,body\n1,golf day\n2,\n3,golf\n")
    history = statistics_of_slices(
        spark, plan_slices(tmp_path / "events.csv"), plan_for(tmp_path / "history")
    )
    assert history.text_fields == (("body",),)
    assert words(history, "body")[0] == {"golf": 2, "day": 1}
    assert history.field("n").kinds[Kind.NUMBER].distinct == 3


def contents(folder: Path) -> tuple[list[str], list[str], object]:
    """Everything that a folder of statistics says."""
    said = read_contents(folder)
    assert said is not None
    facts, words = read_facts(folder, said), read_words(folder, said)
    return (
        sorted(map(repr, facts.to_pylist())),
        sorted(map(repr, words.to_pylist())),
        replace(said, fields_file="", words_folder=""),
    )


def test_the_same_as_in_this_process(spark: SparkSession, tmp_path: Path) -> None:
    """The same facts, sketches and samples; and either goes on with what the other has counted."""
    for name, seed in (("first", 1), ("second", 2)):
        (tmp_path / name).mkdir()
        for part in range(3):
            lines = [
                json.dumps(
                    {"id": row[0], "state": row[1], "body": row[2], "tags": row[3], "n": len(str(row[0]))}
                )
                for row in rows(seed)[part::3]
            ]
            (tmp_path / name / f"{part}.jsonl").write_text("\n".join([*lines, "none"]))
    (tmp_path / "third.csv").write_text("n,body\n1,golf day\n2,\n3,golf\n")
    slices = [plan_slices(tmp_path / name) for name in ("first", "second", "third.csv")]
    for place, piece in enumerate(slices):
        spark_plan, here_plan, turns_plan = (
            plan_for(tmp_path / name, merge=place > 0, part=f"part {place}")
            for name in ("spark", "here", "turns")
        )
        statistics_of_slices(spark, piece, spark_plan)
        here = local_statistics.statistics_of_slices(piece, here_plan)
        assert contents(tmp_path / "spark") == contents(tmp_path / "here")
        by_turns: list[Callable[..., History]] = [
            partial(statistics_of_slices, spark),
            local_statistics.statistics_of_slices,
        ]
        by_turns[place % 2](piece, turns_plan)
        assert contents(tmp_path / "turns") == contents(tmp_path / "here")
    assert (here.rows, here.rejects, here.version) == (2 * ROWS + 3, 6, 3)


def test_command(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events, folder = tmp_path / "events.jsonl", tmp_path / "history"
    events.write_text(EVENTS)
    arguments = ["statistics", "--spark", "--events", str(events), "-o", str(folder)]
    arguments += ["--text", "body", "user.bio"]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "warning: 1 record is not a valid event and was left out" in said.err
    assert "3 events, 4 fields" in said.err
    assert "2 words" in said.err
    assert "(version 1)" in said.err
    assert main([*arguments, "--merge"]) == 0
    assert "(version 2)" in capsys.readouterr().err
    assert words(History.open(folder), "body") == ({"golf": 4, "day": 2, "tennis": 2}, 4)
    assert main([*arguments[:-1], "nowhere"]) == 2
    assert "no field 'nowhere'" in capsys.readouterr().err
