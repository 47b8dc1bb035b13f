"""Event files on Spark: the same result as without it, whatever happens on the way."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.cases import make_json_event, make_rule_set
from tests.cli.documents import ROOT, is_on_spark, shell_commands
from tests.cli.running import EVENTS, PAIRS, RULES, Command

from tocsin import Index, build
from tocsin.conditions.language import print_condition
from tocsin.errors import InputError, TocsinError
from tocsin.events import plan_slices
from tocsin.matches import ResultFiles, SliceJob, names_of, read_part, write_part
from tocsin.spark.file_matches import match_slices, write_files


@pytest.fixture
def tocsin(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The command, on the session that all tests share, with slices of a few lines."""
    monkeypatch.setattr("tocsin.events.plan_slices", partial(plan_slices, slice_bytes=4_000))
    monkeypatch.chdir(tmp_path)
    command = Command(tmp_path, capsys)
    command.file("rules.csv", RULES)
    command.file("events.jsonl", EVENTS)
    return command


def test_standard_output(tocsin: Command) -> None:
    ran = tocsin("match", "rules.csv", "--events", "events.jsonl", "--keep", "id", "--spark")
    assert ran.code == 0
    assert [(row["event"], row["rule"]) for row in ran.rows] == PAIRS
    assert ran.err.startswith("Starting Spark\n")
    assert "3 events, 4 matches" in ran.err


def random_input(tocsin: Command) -> None:
    rng = random.Random(7)
    rules = [
        {"id": f"{turn}/{rule}", "when": print_condition(condition)}
        for turn in range(12)
        for rule, condition in make_rule_set(rng)
    ]
    tocsin.file("rules.jsonl", "".join(json.dumps(rule) + "\n" for rule in rules))
    for part in range(3):
        lines = [json.dumps(make_json_event(rng) | {"id": number}) for number in range(150)]
        lines[part + 5 : part + 5] = ["[]", "", '{"half": ']
        tocsin.file(f"events/part-{part}.jsonl", "\n".join(lines))


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_the_same_bytes_as_without_spark(tocsin: Command, suffix: str) -> None:
    random_input(tocsin)
    asked = ["match", "rules.jsonl", "--events", "events", "--keep", "id", "s", "n", "--skip-bad", "--out"]
    there = tocsin(*asked, f"there{suffix}", "--spark")
    here = tocsin(*asked, f"here{suffix}", "--no-spark")
    assert (there.code, here.code) == (0, 0)
    read = [(tocsin.folder / f"{name}{suffix}").read_bytes() for name in ("there", "here")]
    assert read[0] == read[1]
    assert len(read[0]) > 10_000
    rejects = [(tocsin.folder / f"{name}.rejects.jsonl").read_text() for name in ("there", "here")]
    assert rejects[0] == rejects[1]
    assert len(rejects[0].splitlines()) == 6
    assert not [name for name in tocsin.files() if ".tocsin-" in name]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_folder_of_files_is_the_same_as_without_spark(tocsin: Command, suffix: str) -> None:
    random_input(tocsin)
    asked = ["match", "rules.jsonl", "--events", "events", "--keep", "id", "s", "--skip-bad", "--out"]
    assert tocsin(*asked, f"there{suffix}/", "--spark").code == 0
    assert tocsin(*asked, f"here{suffix}/", "--no-spark").code == 0
    there, here = (
        {file.name: file.read_bytes() for file in (tocsin.folder / f"{name}{suffix}").iterdir()}
        for name in ("there", "here")
    )
    assert there == here
    assert len(there) > 3
    rejects = [(tocsin.folder / f"{name}.rejects.jsonl").read_text() for name in ("there", "here")]
    assert rejects[0] == rejects[1]
    assert not [name for name in tocsin.files() if ".tocsin-" in name]


def test_a_file_that_a_task_has_written_already_is_not_written_again(
    spark: SparkSession, index: Index, job: SliceJob, tmp_path: Path
) -> None:
    reports = match_slices(spark, index, job)
    result = tmp_path / "result"
    result.mkdir()
    files = ResultFiles(job.folder, str(result), ".jsonl", ())
    files.write(names_of(index.version), reports[0])  # an attempt whose answer was lost
    write_files(spark, index, files, reports)
    lines = [json.loads(line) for file in sorted(result.iterdir()) for line in file.read_text().splitlines()]
    assert [line["event"] for line in lines] == [event for event in range(90) if event % 3 != 1]
    assert list(Path(job.folder).iterdir()) == []


def test_a_saved_index_and_parquet(tocsin: Command) -> None:
    table = pa.table({"age": [31, 12, 17] * 100, "state": ["CA", "NY", "WA"] * 100})
    pq.write_table(table, tocsin.folder / "events.parquet", row_group_size=50)
    assert tocsin("build", "rules.csv", "-o", "rules.tocsin").code == 0
    ran = tocsin("match", "rules.tocsin", "--events", "events.parquet", "--out", "out.parquet", "--spark")
    assert ran.code == 0
    assert pq.read_table(tocsin.folder / "out.parquet").num_rows == 400


def test_bad_events_stop_it(tocsin: Command) -> None:
    tocsin.file("events.jsonl", EVENTS * 50 + "oops\n" + EVENTS * 50)
    ran = tocsin("match", "rules.csv", "--events", "events.jsonl", "--out", "out.csv", "--spark")
    assert (ran.code, ran.out) == (1, "")
    assert "events.jsonl:151: event 150: not valid JSON" in ran.err
    assert tocsin.files() == ["events.jsonl", "rules.csv"]


def test_documented_commands_work(tocsin: Command) -> None:
    (tocsin.folder / "examples").symlink_to(ROOT / "examples")
    commands = [words for words in shell_commands() if is_on_spark(words)]
    assert commands
    for words in commands:
        assert tocsin(*words[1:]).code == 0


@pytest.fixture
def job(tmp_path: Path) -> SliceJob:
    events = tmp_path / "events.jsonl"
    events.write_text(EVENTS * 30)
    folder = tmp_path / "parts"
    folder.mkdir()
    slices = plan_slices(events, slice_bytes=1_000)
    assert len(slices) > 2
    return SliceJob(tuple(slices), ("id",), False, str(folder))


@pytest.fixture
def index() -> Index:
    built = build([("adults", "age >= 18"), ("west", "state = 'WA'")])
    assert isinstance(built, Index)
    return built


def test_reports_are_in_order_and_name_parts(spark: SparkSession, index: Index, job: SliceJob) -> None:
    reports = match_slices(spark, index, job)
    assert [report.slice for report in reports] == list(range(len(job.slices)))
    assert sum(report.events for report in reports) == 90
    events = [event for report in reports for batch in read_part(job.folder, report) for event in batch.event]
    assert events == [event for event in range(90) if event % 3 != 1]


def test_what_another_attempt_left_does_not_count(spark: SparkSession, index: Index, job: SliceJob) -> None:
    write_part(index.version, job, 1)
    reports = match_slices(spark, index, job)
    assert len(list(Path(job.folder).glob("0000001-*.part"))) == 2
    assert sum(len(batch.event) for report in reports for batch in read_part(job.folder, report)) == 60


def test_a_file_that_is_gone_is_an_error_of_the_input(
    spark: SparkSession, index: Index, job: SliceJob
) -> None:
    Path(job.slices[0].file).unlink()
    with pytest.raises(InputError, match=r"events\.jsonl"):
        match_slices(spark, index, job)
    assert list(Path(job.folder).iterdir()) == []


def test_a_failure_of_a_task_says_what_happened(spark: SparkSession, index: Index, job: SliceJob) -> None:
    Path(job.folder).rmdir()
    with pytest.raises(TocsinError, match="No such file or directory"):
        match_slices(spark, index, job)


def test_nothing_to_match(spark: SparkSession, index: Index, job: SliceJob) -> None:
    assert match_slices(spark, index, SliceJob((), (), False, job.folder)) == []
