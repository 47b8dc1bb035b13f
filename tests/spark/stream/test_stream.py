"""Streams on folders: the matches of `tocsin match`, once each, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import tocsin
import tocsin.spark as ts
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import InputError, RuleError, TocsinError, UsageError
from tocsin.spark.sinks.folder_sink import Draft, FolderSink
from tocsin.spark.stream.micro_batch import BatchReport

RULES = {
    "nine": "n = 9",
    "small": "n < 3 and not tag = 'drill'",
    "named": "user.name like 'u1%'",
    "odd": "n in (1, 3, 5, 7) xor tag = 'drill'",
}


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.batches: list[BatchReport] = []
        self.refusals: list[Sequence[TocsinError]] = []
        self.warnings: list[str] = []

    def batch(self, report: BatchReport) -> None:
        self.batches.append(report)

    def refused(self, errors: Sequence[TocsinError]) -> None:
        self.refusals.append(errors)

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class Place:
    """A folder for events, rules and alerts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events = folder / "events"
        self.alerts = folder / "alerts"
        self.rules = folder / "rules.jsonl"
        self.events.mkdir()
        self.write_rules(RULES)

    def write_rules(self, rules: dict[str, str], disabled: dict[str, str] | None = None) -> None:
        rows: list[dict[str, object]] = [{"id": name, "when": when} for name, when in rules.items()]
        rows += [{"id": name, "when": when, "enabled": False} for name, when in (disabled or {}).items()]
        draft = self.folder / "draft"
        draft.write_text("".join(json.dumps(row) + "\n" for row in rows))
        draft.replace(self.rules)

    def put(self, name: str, events: Sequence[dict[str, Any]]) -> None:
        (self.events / name).write_text("".join(json.dumps(event) + "\n" for event in events))

    def run(self, source: Any = None, sink: Any = None, **settings: Any) -> Heard:
        """Everything that is there, through the stream."""
        heard = Heard()
        ts.stream(
            source or str(self.events),
            self.rules,
            sink or str(self.alerts),
            once=True,
            listener=heard,
            **settings,
        ).wait()
        return heard

    def sent(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = ds.dataset(self.alerts, partitioning="hive").to_table().to_pylist()
        return rows

    def rejects(self) -> list[dict[str, Any]]:
        files = sorted((self.folder / "alerts.checkpoint" / "rejects").rglob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def drawn_events(count: int, seed: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)
    return [
        {
            "n": dice.randrange(12),
            "tag": dice.choice(["drill", "real", None]),
            "user": {"name": f"u{dice.randrange(30)}"},
            "at": f"2026-01-01T00:00:{dice.randrange(60):02d}Z",
        }
        for _ in range(count)
    ]


def expected(files: dict[str, list[dict[str, Any]]], rules: dict[str, str]) -> Counter[tuple[str, str]]:
    """Key and rule of every match, by the obvious evaluator."""
    read = {name: parse_condition(when) for name, when in rules.items()}
    return Counter(
        (f"{file}:{row}", name)
        for file, events in files.items()
        for row, event in enumerate(events)
        for name, condition in read.items()
        if matches(condition, event)
    )


def keys_and_rules(rows: Sequence[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((row["key"], row["rule"]) for row in rows)


def test_a_folder_with_garbage_in_it(spark: SparkSession, place: Place) -> None:
    files = {f"part {number} %41#+ü.jsonl": drawn_events(300, number) for number in range(3)}
    for name, events in files.items():
        place.put(name, events)
    (place.events / "below").mkdir()
    files["below/z.jsonl.gz"] = drawn_events(50, 9)
    with gzip.open(place.events / "below/z.jsonl.gz", "wt") as packed:
        packed.writelines(json.dumps(event) + "\n" for event in files["below/z.jsonl.gz"])
    table = [{"n": event["n"], "tag": event["tag"]} for event in drawn_events(40, 10)]
    files |= {"t.parquet": table, "t.csv": table}
    pq.write_table(pa.Table.from_pylist(table), place.events / "t.parquet")
    (place.events / "t.csv").write_text(
        "n,tag\n" + "".join(f"{event['n']},{event['tag'] or ''}\n" for event in table)
    )
    good = {"n": 9, "tag": "real"}
    lines = [
        b'{"n": 9',
        json.dumps(good).encode(),
        b'{"n": "\xff"}',
        b"[1, 2]",
        b"",
        json.dumps(good).encode(),
    ]
    (place.events / "mixed.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    whole = gzip.compress(b'{"n": 9, "tag": "real"}\n' * 10_000 + bytes(range(128, 228)))
    (place.events / "cut.jsonl.gz").write_bytes(whole[:-40])
    (place.events / "open.csv").write_text('n,tag\n9,real\n9,"real\n9,real\n')
    parquet = (place.events / "t.parquet").read_bytes()
    (place.events / "cut.parquet").write_bytes(parquet[: len(parquet) // 2])
    (place.events / "notes.txt").write_text("hello")
    (place.events / ".hidden.jsonl").write_text('{"n": 9}\n')

    heard = place.run(sink=[str(place.alerts), f"jsonl:{place.folder}/lines"], keep=["n", "user"])

    found = keys_and_rules(place.sent())
    cut = {key for key in found if key[0].startswith("cut.jsonl.gz")}
    assert len(cut) == 10_000  # what could be read of it
    mixed = Counter({("mixed.jsonl:1", "nine"): 1, ("mixed.jsonl:4", "nine"): 1, ("open.csv:0", "nine"): 1})
    assert Counter({key: found[key] for key in found if key not in cut}) == expected(files, RULES) + mixed
    reasons = {reject["place"]: reject["reason"] for reject in place.rejects()}
    assert {name: next(word for word in WORDS if word in reason) for name, reason in reasons.items()} == {
        "mixed.jsonl:0": "not valid JSON",
        "mixed.jsonl:2": "not valid UTF-8",
        "mixed.jsonl:3": "not an object",
        "cut.jsonl.gz": "from row 10000 on: cannot be read",
        "open.csv": "from row 1 on: line 3: a quote is never closed",
        "cut.parquet": "cannot be read",
        "notes.txt": "no event file",
    }
    assert [reject["text"] for reject in place.rejects() if reject["place"] == "mixed.jsonl:0"] == ['{"n": 9']
    (report,) = heard.batches
    assert (report.rejects, report.matches, report.version) == (7, sum(found.values()), 1)

    lines_sent = [
        json.loads(line)
        for file in (place.folder / "lines").rglob("*.jsonl")
        for line in file.read_text().splitlines()
    ]
    assert keys_and_rules(lines_sent) == found
    of_files = {key: event for name, events in files.items() for key, event in numbered(name, events)}
    for line in lines_sent:
        if line["key"] in of_files:
            assert line["n"] == of_files[line["key"]]["n"]
            assert line["user"] == of_files[line["key"]].get("user")
    texts = {row["user"] for row in place.sent() if row["key"] in of_files}
    assert '{"name": "u1"}' in texts
    assert len({row["alert"] for row in place.sent()}) == sum(found.values())


def test_events_are_counted_once(spark: SparkSession, place: Place) -> None:
    (place.events / "a.jsonl").write_text('{"n": 9}\ngarbage\n{"n": 4}\n')
    (report,) = place.run(sink=f"jsonl:{place.alerts}").batches
    assert (report.events, report.matches, report.rejects) == (2, 1, 1)
    assert [reject["place"] for reject in place.rejects()] == ["a.jsonl:1"]


WORDS = (
    "not valid JSON",
    "not valid UTF-8",
    "not an object",
    "from row 10000 on: cannot be read",
    "from row 1 on: line 3: a quote is never closed",
    "cannot be read",
    "no event file",
)


def numbered(name: str, events: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((f"{name}:{row}", event) for row, event in enumerate(events))


class Crash(Exception):
    """A process that ends here."""


class Crashing:
    """A folder sink that crashes at one step of one batch, once."""

    def __init__(self, sink: FolderSink, step: str) -> None:
        self.sink = sink
        self.step = step

    name = property(lambda self: self.sink.name)
    exactly_once = True

    def identity(self) -> dict[str, Any]:
        return self.sink.identity()

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:
        self.sink.open(session, stream, schema)

    def write(self, alerts: DataFrame, batch: int) -> None:
        if batch == 1 and self.step == "before":
            raise Crash("here")
        self.sink.write(alerts, batch)
        if batch == 1 and self.step == "after":
            raise Crash("here")

    def close(self) -> None:
        self.sink.close()


def test_a_crash_at_any_step_loses_nothing_and_sends_nothing_twice(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tocsin.spark.stream import micro_batch
    from tocsin.spark.stream.checkpoint import Checkpoint

    files: dict[str, list[dict[str, Any]]] = {}
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        files[name] = drawn_events(40, len(files))
        place.put(name, files[name])
        with (place.events / name).open("a") as more:
            more.write("garbage\n")
    second = FolderSink(place.folder / "second", "jsonl")

    def run(first: str, other: str) -> None:
        sinks = [Crashing(FolderSink(place.alerts), first), Crashing(second, other)]
        checkpoint = place.folder / "alerts.checkpoint"
        place.run(f"{place.events}?files=1", sinks, time="at", checkpoint=checkpoint)

    def crash(*_: Any) -> None:
        raise Crash("here")

    def crash_in(owner: Any, name: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, crash)
            with pytest.raises(TocsinError, match="has stopped: here"):
                run("", "")

    crash_in(Checkpoint, "decide")
    for first, other in (("before", ""), ("after", ""), ("", "before"), ("", "after")):
        with pytest.raises(TocsinError, match="has stopped: here"):
            run(first, other)
    crash_in(micro_batch, "rejects_of")
    crash_in(micro_batch, "alerts_of")
    run("", "")

    want = expected(files, RULES)
    assert keys_and_rules(place.sent()) == want
    lines = [json.loads(line) for file in second.folder.rglob("*.jsonl") for line in file.open()]
    assert keys_and_rules(lines) == want
    assert {row["alert"] for row in place.sent()} == {line["alert"] for line in lines}
    assert sorted(reject["place"] for reject in place.rejects()) == ["a.jsonl:40", "b.jsonl:40", "c.jsonl:40"]
    times = {line["key"]: line["time"] for line in lines}
    for name, events in files.items():
        for key, event in numbered(name, events):
            if key in times:
                assert times[key] == event["at"].replace("Z", ".000000Z")
    assert not list(place.alerts.glob(".*"))


def test_rules_that_change_with_every_batch(spark: SparkSession, place: Place) -> None:
    files = {f"{number}.jsonl": drawn_events(60, number) for number in range(9)}
    for name, events in files.items():
        place.put(name, events)
    versions = {1: {"one": "n > 0"}}
    place.write_rules(versions[1])

    class Changing(Heard):
        def batch(self, report: BatchReport) -> None:
            super().batch(report)
            if report.batch % 3 == 2:
                place.rules.write_text('{"id": "broken", "when": "n >"}\n')
            else:
                versions[max(versions) + 1] = {
                    "one": f"n > {report.batch}",
                    f"r{report.batch}": "tag = 'real'",
                }
                switched = {"switched": "n > 0"}
                if report.batch % 3:
                    versions[max(versions)] |= switched
                place.write_rules(versions[max(versions)], {} if report.batch % 3 else switched)

    heard = Changing()
    ts.stream(f"{place.events}?files=1", place.rules, str(place.alerts), once=True, listener=heard).wait()

    assert [report.version for report in heard.batches] == [1, 2, 3, 3, 4, 5, 5, 6, 7]
    assert len(heard.refusals) == 2
    refused = (place.folder / "alerts.checkpoint" / "refused.jsonl").read_text().splitlines()
    assert [json.loads(line)["rule"] for line in refused] == ["broken", "broken"]
    rows = place.sent()
    batch_of = {(row["key"].split(":")[0]): row["batch"] for row in rows}
    for file, events in files.items():
        version = heard.batches[batch_of[file]].version
        of_file = [row for row in rows if row["key"].split(":")[0] == file]
        assert {row["version"] for row in of_file} == {version}
        assert keys_and_rules(of_file) == expected({file: events}, versions[version])


def test_alert_texts_keys_and_times(
    spark: SparkSession, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.rules = place.folder / "rules.sql"
    place.rules.write_text(
        "create trigger nine from visits as v when v.n = 9 do alert '{v.user.name}: {n} of {list}, {score}';"
        "create trigger golf when contains(body, 'golf') do alert '{score}';"
        "create trigger silent when n = 9;"
    )
    events = [
        {"id": "x", "n": 9, "user": {"name": "ada"}, "list": [1, "b"], "at": "2026-01-01T00:00:00.5+01:00"},
        {"id": 7, "n": 9, "body": "a golf trophy", "at": "2026-01-01T00:00:01Z"},
        {"n": 9, "at": "2026-01-01T00:00:02Z"},
        {"id": "y", "n": 9, "at": 5},
        {"id": "z", "n": 0},
    ]
    place.put("a.jsonl", events)
    heard = place.run(sink=[str(place.alerts), "console:"], key="id", time="at")
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert keys_and_rules(told) == keys_and_rules(place.sent())
    assert {each["alert"] for each in told} == {row["alert"] for row in place.sent()}
    golf = tocsin.score("a golf trophy", "golf")
    found = {(row["key"], row["rule"]): (row["text"], row["score"]) for row in place.sent()}
    assert found == {
        ("x", "nine"): ('ada: 9 of [1, "b"], null', None),
        ("x", "silent"): (None, None),
        ("7", "nine"): ("null: 9 of null, null", None),
        ("7", "silent"): (None, None),
        ("7", "golf"): (repr(golf), golf),
    }
    at = {row["key"]: row["time"].isoformat() for row in place.sent()}
    assert at == {"x": "2025-12-31T23:00:00.500000+00:00", "7": "2026-01-01T00:00:01+00:00"}
    reasons = {reject["place"]: reject["reason"] for reject in place.rejects()}
    assert reasons == {
        "a.jsonl:2": "the field id, which is to be the key, is missing",
        "a.jsonl:3": "the field at, which is to be the time, holds no timestamp: RFC 3339 is expected",
        "a.jsonl:4": "the field at, which is to be the time, is missing",
    }
    assert heard.batches[0].events == 2


def test_fields_that_no_event_has_had_are_warned_of(spark: SparkSession, place: Place) -> None:
    place.write_rules({"a": "n = 1 and nowhere = 2", "b": "never.here = 'x'"})
    place.put("a.jsonl", drawn_events(5, 1))
    assert place.run().warnings == ["rules name fields that no event so far has had: never.here, nowhere"]


def test_files_that_spark_passes_over_are_warned_of(spark: SparkSession, place: Place) -> None:
    place.put("é.jsonl", [{"n": 9}])
    (place.events / "gone.jsonl").symlink_to("nowhere")
    place.put(os.fsdecode(b"bad\xff.jsonl"), [{"n": 9}])
    assert sorted(text.split(" in the folder")[0] for text in place.run().warnings) == [
        "bad\\xff.jsonl",
        "gone.jsonl",
        "rules name fields that no event so far has had: tag, user.name",
    ]
    assert [row["key"] for row in place.sent()] == ["é.jsonl:0"]


def test_a_file_from_the_far_future_hides_no_other(spark: SparkSession, place: Place) -> None:
    place.put("far.jsonl", [{"n": 9}])
    os.utime(place.events / "far.jsonl", (14_000_000_000, 14_000_000_000))  # in the year 2413
    place.run()
    place.put("now.jsonl", [{"n": 9}])
    place.run()
    assert [row["key"] for row in place.sent()] == ["far.jsonl:0", "now.jsonl:0"]


def test_settings_can_be_corrected_after_a_start_in_vain(spark: SparkSession, place: Place) -> None:
    place.put("a.jsonl", [{"n": 9}])
    place.write_rules({"nine": "n ="})
    with pytest.raises(RuleError):
        place.run(key="nope")
    place.write_rules({"nine": "n = 9"})
    place.run(key="n")
    assert [row["key"] for row in place.sent()] == ["9"]
    with pytest.raises(UsageError, match="with another key"):
        place.run(key="nope")


def test_what_cannot_work_is_refused_before_it_starts(spark: SparkSession, place: Place) -> None:
    place.put("a.jsonl", drawn_events(5, 1))
    place.run()
    for changed, settings in (
        ("key", {"key": "n"}),
        ("time", {"time": "at"}),
        ("keep", {"keep": ["n"]}),
        ("sinks", {"sink": [str(place.alerts), "console:"]}),
    ):
        with pytest.raises(UsageError, match=f"checkpoint of a stream with another {changed}"):
            place.run(**settings)
    other = place.folder / "other"
    other.mkdir()
    with pytest.raises(UsageError, match="another source"):
        place.run(str(other))
    running = ts.stream(str(place.events), place.rules, str(place.alerts))
    with pytest.raises(UsageError, match="running on this checkpoint already"):
        place.run()
    running.stop()
    assert not running.is_active
    assert running.version == 1
    assert "exactly once" in running.explain()
    assert place.run().batches == []

    def starts(source: Any = str(place.events), sink: Any = "console:", **settings: Any) -> None:
        ts.stream(source, settings.pop("rules", place.rules), sink, once=True, **settings)

    cases: list[tuple[type[TocsinError], str, dict[str, Any]]] = [
        (InputError, "there is no such folder", {"source": str(place.folder / "none")}),
        (InputError, "use tocsin match", {"source": str(place.events / "a.jsonl")}),
        (InputError, "no such file", {"rules": place.folder / "none.sql"}),
        (UsageError, "there is no source 'ftp'", {"source": "ftp://host/x"}),
        (UsageError, "there is no sink 'ftp'", {"sink": "ftp://host/x"}),
        (UsageError, "at least one sink", {"sink": []}),
        (UsageError, "given twice", {"sink": ["console:", "-"]}),
        (UsageError, "taken for events", {"sink": str(place.events / "alerts")}),
        (UsageError, "taken for events", {"rejects": place.events}),
        (UsageError, "taken for events", {"checkpoint": place.events / "below" / "state"}),
        (UsageError, r"\?files=NUMBER", {"source": f"{place.events}?files=0"}),
        (UsageError, r"\?format=", {"sink": f"{place.folder}/x?format=csv"}),
        (UsageError, "alerts have their own rule", {"keep": ["Rule"]}),
        (UsageError, "twice", {"keep": ["a", "A"]}),
        (UsageError, "is not a field", {"key": "a b"}),
        (UsageError, "do not go together", {"every": "5 seconds"}),
        (UsageError, "no connector for Kafka", {"source": "kafka://127.0.0.1:1/topic"}),
        (UsageError, "kafka://HOST:PORT/TOPIC", {"source": "kafka://127.0.0.1:1"}),
        (InputError, "cannot be written to", {"sink": "/dev/null/alerts"}),
    ]
    for error, message, given in cases:
        with pytest.raises(error, match=message):
            starts(**given)
    place.write_rules({"broken": "n >"})
    with pytest.raises(RuleError):
        starts()


def test_a_sink_that_cannot_be_written_stops_the_stream_and_loses_nothing(
    spark: SparkSession, place: Place
) -> None:
    files = {"a.jsonl": drawn_events(20, 1)}
    place.put("a.jsonl", files["a.jsonl"])

    class Blocked(FolderSink):
        def draft(self, batch: int) -> Draft | None:
            (self.folder / ".writing").write_text("")
            return FolderSink(self.folder / ".writing").draft(batch)

    with pytest.raises(TocsinError, match="the stream has stopped") as raised:
        place.run(sink=Blocked(place.alerts))
    assert "\n" not in str(raised.value)
    assert "\tat " not in str(raised.value)
    (place.alerts / ".writing").unlink()
    place.run()
    assert keys_and_rules(place.sent()) == expected(files, RULES)


def test_a_java_that_is_gone_is_told_of(spark: SparkSession, place: Place) -> None:
    running = ts.stream(str(place.events), place.rules, str(place.alerts))
    query = running.query

    class Gone:
        def __getattr__(self, name: str) -> Any:
            raise ConnectionRefusedError(111, "Connection refused")

    running.query = Gone()  # type: ignore[assignment]
    with pytest.raises(TocsinError, match="the Java process of Spark has ended"):
        running.wait(1)
    running.stop()
    query.stop()
