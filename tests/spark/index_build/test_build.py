"""ts.build: the index that tocsin.build makes of the same rules, and rejects with their reasons."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.cases import make_event, make_rule_set
from tests.text_rules import make_condition, make_settings
from tests.text_rules import make_event as make_text_event

import tocsin
import tocsin.spark as ts
from tocsin.arrays.array_file import open_arrays
from tocsin.conditions.language import parse_condition, print_condition
from tocsin.conditions.live import Preparation
from tocsin.conditions.meaning import matches
from tocsin.errors import IndexFileError, InputError, RuleError, RuleErrors, TocsinError, UsageError
from tocsin.spark.index_build import jobs
from tocsin.spark.index_build.build import build_index
from tocsin.spark.index_build.jobs import read_blocks
from tocsin.spark.index_build.rule_frames import RuleRows


@pytest.fixture
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks and buckets, however few rules there are."""
    for name, size in (("RULES_IN_BLOCK", 100), ("KEYS_IN_BUCKET", 500)):
        monkeypatch.setattr(jobs, name, size)


BAD = [
    (None, "a = 1", "id is missing"),
    ("", "a = 3", "id is empty"),
    ("r0", "a = 2", "already taken"),
    ("bad1", "a = = 1", "expected"),
    ("bad2", None, "condition is missing"),
    ("bad3", "contains(a, 'x', 1) and contains(b, 'y', 2)", "threshold"),
]


def random_rules(seed: int, most: int) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    rules = [(name, print_condition(when)) for name, when in make_rule_set(rng, most)]
    return rules + [(f"t{number}", make_condition(rng)) for number in range(most // 5)]


@pytest.mark.usefixtures("several_blocks")
def test_matches_as_a_local_build_and_as_the_rules_mean(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(3)
    rules = [rule for seed in range(6) for rule in random_rules(seed, 60)]
    rules = [(f"r{number}", when) for number, (_, when) in enumerate(rules)]
    settings = make_settings(rng)
    rows: list[tuple[object, ...]] = [
        (name, when, number, {"team": [f"x{number % 3}"]}, [None, True, None, False][number % 4])
        for number, (name, when) in enumerate(rules)
    ]
    rows += [(name, when, -1, None, False) for name, when, _ in BAD]
    columns = "id string, when string, size int, tags map<string,array<string>>, enabled boolean"
    frame = spark.createDataFrame(rows, columns)
    path, rejects = tmp_path / "rules.tocsin", tmp_path / "rejects"
    built = build_index(
        frame.repartition(5, "size"),
        path,
        Preparation.of(
            dictionaries=settings.dictionaries,
            stop_words=settings.stop_words,
            text_threshold=settings.threshold,
            organise="full",
        ),
        rejects=rejects,
    )
    assert (built.rules, built.rejects, built.shards) == (len(rules), len(BAD), 1)
    assert built.bytes == path.stat().st_size
    index = tocsin.open(path)
    assert index.ids.to_pylist() == sorted(name for name, _ in rules)
    every: list[dict[str, Any]] = [
        {"id": name, "when": when, "enabled": enabled} for name, when, _, _, enabled in rows[: len(rules)]
    ]
    every.sort(key=lambda row: str(row["id"]))
    local = tocsin.build(every, **settings.for_build())
    assert index.stats().disabled == len(rules) // 4
    assert index.stats().organisations[0].asked == "full"
    assert index.stats().organisations[0].spared > 0
    events = [make_event(rng) for _ in range(25)] + [make_text_event(rng) for _ in range(25)]
    for event in events:
        assert list(index.match(event)) == list(local.match(event))
    conditions = {
        str(row["id"]): parse_condition(str(row["when"])) for row in every if row["enabled"] is not False
    }
    texts = settings.for_meaning()
    for event in events[::7]:
        by_meaning = {name for name, when in conditions.items() if matches(when, event, texts)}
        assert {match.rule for match in index.match(event)} == by_meaning
    assert index.rule("r7").metadata == {"size": 7, "tags": [("team", ["x1"])], "enabled": False}
    refused = {(row.rule, row.text): row.reason for row in spark.read.parquet(str(rejects)).collect()}
    for name, when, reason in BAD:
        assert reason in refused.pop((name or None, when))
    assert not refused
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]
    index.insert("more", "true")
    assert "more" in {match.rule for match in index.match(events[0])}


def test_the_index_does_not_depend_on_partitions(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """And it is, byte for byte, that of a local build of the same rules in the order of their ids."""
    shared = ["(a = 1 and b < 2)", "(c in (1, 2) or d is null)", "(s like 'x%' xor a = 1)", "not (e = 'q')"]
    rng = random.Random(4)
    rules = [
        (
            number,
            f"({rng.choice(shared)} or f = {number % 17}) and ({rng.choice(shared)} or g = {number % 5})",
        )
        for number in range(400)
    ]
    one = spark.createDataFrame(rules, "id long, when string")
    other = spark.createDataFrame(rules[::-1], "id long, when string").repartition(7)
    build_index(one.coalesce(1), tmp_path / "one", Preparation.of())
    request.getfixturevalue("several_blocks")
    build_index(other, tmp_path / "other", Preparation.of())
    tocsin.build(sorted((str(number), when) for number, when in rules)).save(tmp_path / "local")
    expected = open_arrays(tmp_path / "local")[1]
    for name in ("one", "other"):
        found = open_arrays(tmp_path / name)[1]
        assert {array for array in expected if expected[array].tobytes() != found[array].tobytes()} == set()


def test_bad_rules_stop_a_build_that_has_no_place_for_them(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    frame = spark.createDataFrame([("a", "x = 1"), ("b", "x = = 1")], "id string, when string")
    with pytest.raises(RuleError, match="expected") as one:
        ts.build(frame, path)
    assert (one.value.rule, one.value.column, one.value.excerpt) == ("b", 5, "x = = 1")
    many = spark.range(50).selectExpr("id", "'x = = 1' as when")
    with pytest.raises(RuleErrors) as several:
        ts.build(many, path)
    assert (several.value.total, len(several.value.errors)) == (50, RuleErrors.SHOWN)
    assert str(several.value).startswith("50 errors\n")
    assert str(several.value).endswith("... and 30 more")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("several_blocks")
def test_parts_match_as_one_index(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(8)
    rules = [(f"r{number}", when) for number, (_, when) in enumerate(random_rules(9, 150))]
    frame = spark.createDataFrame(rules, "id string, when string").repartition(3)
    folder = tmp_path / "rules.tocsin"
    built = build_index(frame, folder, Preparation.of(), shards=3)
    assert (built.shards, built.rules) == (3, len(rules))
    assert built.bytes == sum(file.stat().st_size for file in folder.glob("*.tocsin"))
    whole = tocsin.open(folder)
    assert (len(whole), len(whole.shards)) == (len(rules), 3)
    local = tocsin.build(rules)
    seen = [make_event(rng) for _ in range(20)] + [make_text_event(rng) for _ in range(20)]
    for event in seen:
        assert sorted(whole.match(event)) == sorted(local.match(event))
    assert whole.rule("r5").when == dict(rules)["r5"]
    assert whole.explain("r5", seen[0]).matched == ("r5" in {match.rule for match in local.match(seen[0])})

    plain = [{"n": number, "kind": rng.choice("abc"), "size": rng.randint(0, 5)} for number in range(200)]
    plain_rules = [
        (f"p{number}", f"kind = '{'abc'[number % 3]}' and size < {number % 7}") for number in range(90)
    ]
    ts.build(spark.createDataFrame(plain_rules, "id string, when string"), folder, shards=4, organise="full")
    assert [each.chosen for each in tocsin.open(folder).stats().organisations] == ["full"] * 4
    assert "full in 4 of 4 shards" in str(tocsin.open(folder).stats())
    table = pa.Table.from_pylist(plain)
    answer = tocsin.build(plain_rules).match_table(table)
    assert isinstance(answer, pa.Table)
    expected = answer.to_pydict()
    pairs = Counter(zip(expected["event"], expected["rule"], strict=True))
    events = spark.createDataFrame(plain, "n long, kind string, size long").repartition(2)
    for way in ("auto", "together", "apart"):
        found = ts.match(events, folder, keep=["n"], way=way).collect()
        assert Counter((row.n, row.rule) for row in found) == pairs
    opened = tocsin.open(folder)
    matched = opened.match_table(table).to_pydict()
    assert matched["event"] == sorted(matched["event"])
    assert Counter(zip(matched["event"], matched["rule"], strict=True)) == pairs
    streamed = opened.match_table(
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(50))
    ).read_all()
    assert streamed.to_pydict() == matched
    counts = opened.match_table(table, count=True)
    assert sum(counts.per_rule.to_pylist()) == sum(counts.per_event.to_pylist()) == pairs.total()
    assert len(list(folder.glob("*.tocsin"))) == 4  # those of the first build are gone
    assert "in 4 shards" in ts.explain_match(events, folder)
    assert "together" in ts.explain_match(events, folder)
    assert opened.stats().rules == 90
    with pytest.raises(tocsin.UnsupportedError, match="cannot be changed"):
        opened.insert("x", "true")
    with pytest.raises(UsageError, match="no way"):
        ts.match(events, folder, way="sideways")

    said = json.loads((folder / "shards.json").read_text())
    first, second = (folder / part["file"] for part in said["shards"][:2])
    second.write_bytes(first.read_bytes())
    for door in (lambda: tocsin.open(folder), lambda: ts.match(events, folder)):
        with pytest.raises(IndexFileError, match="not the shard that was written"):
            door()
    second.unlink()
    with pytest.raises(IndexFileError, match="cannot open its shard"):
        tocsin.open(folder)


def test_rules_are_read_again_when_spark_gives_up_for_their_order(tmp_path: Path) -> None:
    """As it does when an executor was lost, and the DataFrame had been shuffled before."""

    class Reading:
        def __init__(self, *failures: str) -> None:
            self.failures = list(failures)

        def mapInArrow(self, *_: object) -> Reading:  # noqa: N802  (Spark's name)
            return self

        def collect(self) -> list[tuple[object, ...]]:
            if self.failures:
                raise PySparkException(self.failures.pop())
            return [(1, 0, "b", "r", 5, 0, 2), (0, 0, "a", "q", 3, 1, 2)]

    lost = "A shuffle map stage with indeterminate output was failed and retried."
    rows = RuleRows(Reading(lost, lost), ("id", "when"), False)  # type: ignore[arg-type]
    assert [report.file for report in read_blocks(rows, tmp_path)] == ["a", "b"]
    for failures in ([lost] * 4, ["no space"]):
        with pytest.raises(TocsinError, match="Spark could not read the rules"):
            read_blocks(RuleRows(Reading(*failures), ("id", "when"), False), tmp_path)  # type: ignore[arg-type]


def test_what_is_refused_before_a_job_starts(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("a", "x = 1")], "id string, when string")
    with pytest.raises(InputError, match="no column 'when'"):
        ts.build(frame.drop("when"), tmp_path / "x")
    with pytest.raises(InputError, match="holds double"):
        ts.build(frame.selectExpr("1.5d as id", "when"), tmp_path / "x")
    with pytest.raises(InputError, match="holds int"):
        ts.build(frame.selectExpr("id", "1 as when"), tmp_path / "x")
    with pytest.raises(InputError, match="stands there twice"):
        ts.build(frame.selectExpr("id", "when", "id"), tmp_path / "x")
    with pytest.raises(InputError, match="cannot be kept"):
        ts.build(frame.selectExpr("id", "when", "make_interval(1) as every"), tmp_path / "x")
    with pytest.raises(UsageError, match="no end"):
        ts.build(spark.readStream.format("rate").load(), tmp_path / "x")
    with pytest.raises(UsageError, match="takes a Spark DataFrame"):
        ts.build([("a", "x = 1")], tmp_path / "x")  # type: ignore[arg-type]
    for wrong in (0, -1, True, "many", 2.5):
        with pytest.raises(UsageError, match="shards is a number"):
            ts.build(frame, tmp_path / "x", shards=wrong)  # type: ignore[arg-type]
    with pytest.raises(TocsinError, match="cannot build in"):
        ts.build(frame, tmp_path / "none" / "x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is a folder"):
        ts.build(frame, tmp_path / "folder")
    with pytest.raises(IndexFileError, match="something else"):
        ts.build(frame, tmp_path / "folder", shards=2)
    with pytest.raises(InputError, match="something else"):
        ts.build(frame, tmp_path / "x", rejects=tmp_path / "folder")
    for shards in (None, 2):
        for target in (tmp_path / "x", tmp_path / "x" / "y"):
            with pytest.raises(InputError, match="the index goes there"):
                ts.build(frame, target, shards=shards, rejects=tmp_path / "x")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]
