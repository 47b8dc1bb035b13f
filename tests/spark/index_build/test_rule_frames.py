"""tocsin build --spark: files of every kind, the same index and the same rejects as without it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import tocsin
from tocsin.cli import main

CSV = """id,when,owner
c1,"a = 1 and b = 2",ann
c2,a = = 1,bob
c3,"a in (1, 2)",
p1,a = 9,again
,a = 1,nobody
short
"""
JSONL = """{"id": "j1", "when": "a > 1", "size": 3, "owner": 7}
{"id": "j2", "when": "a >> 1"}
not JSON
{"id": 5, "when": "contains(t, 'golf') and a = 1"}
"""
SQL = """create trigger s1 after insert to visits v when v.a = 1 and v.b < 3 do alert 'x';
create trigger s2 after insert to visits v when v.a = do alert 'x';
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "some.csv").write_text(CSV)
    (folder / "more.jsonl").write_text(JSONL)
    (folder / "triggers.sql").write_text(SQL)
    table = pa.table(
        {
            "id": [f"p{number}" for number in range(30)],
            "when": [f"a = {number % 4} or b = {number % 3}" for number in range(30)],
            "owner": pa.array([f"o{number % 2}" for number in range(30)]).dictionary_encode(),
            "small": pa.array(range(30), pa.uint8()),
        }
    )
    pq.write_table(table, folder / "table.parquet", row_group_size=10)
    return folder


def lines(path: Path) -> Counter[tuple[object, ...]]:
    """Where each reject stood, and why it is one."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return Counter(
        tuple(line[name] for name in ("file", "rule", "line", "column", "reason")) for line in found
    )


def test_the_same_rules_and_rejects_as_without_spark(
    spark: SparkSession, rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here.tocsin", tmp_path / "there.tocsin"
    assert main(["build", str(rules), "-o", str(here), "--skip-bad"]) == 0
    assert main(["build", str(rules), "-o", str(there), "--skip-bad", "--spark"]) == 0
    said = capsys.readouterr().err
    assert "Starting Spark" in said
    assert "errors in rules that were left out" in said
    local, built = tocsin.open(here), tocsin.open(there)
    assert built.ids.to_pylist() == sorted(local.ids.to_pylist())
    for rule in built.ids.to_pylist():
        expected, found = local.rule(rule), built.rule(rule)
        assert (found.when, found.metadata) == (expected.when, expected.metadata)
    for event in ({"a": 1, "b": 2, "t": "golf"}, {"a": 2}, {"b": 0, "t": "Golf club"}, {}):
        assert set(built.match(event)) == set(local.match(event))
    assert lines(tmp_path / "there.rejects.jsonl") == lines(tmp_path / "here.rejects.jsonl")


def test_errors_are_told_by_file_and_line(
    spark: SparkSession, rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rules.tocsin"
    assert main(["build", str(rules), "-o", str(out), "--spark"]) == 1
    said = capsys.readouterr().err
    assert "9 errors" in said, said
    assert f"{rules}/some.csv:3:5: " in said
    assert f"{rules}/table.parquet:2: the id 'p1' is already taken at {rules}/some.csv:5" in said
    assert not out.exists()
    assert (
        main(["build", str(rules / "triggers.sql"), str(rules / "none.csv"), "-o", str(out), "--spark"]) == 1
    )
    (rules / "bad.csv").write_text('id,when\na,"x = 1\n')
    assert main(["build", str(rules / "bad.csv"), "-o", str(out), "--spark"]) == 1
    assert f"{rules}/bad.csv:2: a quoted field" in capsys.readouterr().err


def test_an_index_in_parts_from_the_command_line(
    spark: SparkSession, rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rules.tocsin"
    assert main(["build", str(rules / "table.parquet"), "-o", str(out), "--spark", "--shards", "3"]) == 0
    assert "in 3 shards" in capsys.readouterr().err
    assert len(tocsin.open(out).shards) == 3
    events = tmp_path / "events.jsonl"
    events.write_text("".join(f'{{"a": {number % 5}, "b": {number % 4}}}\n' for number in range(40)))
    whole = tmp_path / "whole.jsonl"
    assert (
        main(
            [
                "match",
                str(rules / "table.parquet"),
                "--events",
                str(events),
                "--no-spark",
                "--out",
                str(whole),
            ]
        )
        == 0
    )
    expected = Counter(whole.read_text().splitlines())
    for more in (["--spark"], ["--no-spark"]):
        found = tmp_path / "found.jsonl"
        assert main(["match", str(out), "--events", str(events), "--out", str(found), *more]) == 0
        assert Counter(found.read_text().splitlines()) == expected
    assert main(["explain", str(out), "--rule", "p7", "--event", '{"a": 3}']) == 0
    assert "p7 matches" in capsys.readouterr().out
    assert main(["build", str(rules), "-o", str(out), "--shards", "3"]) == 2
    assert main(["build", str(rules), "-o", str(out), "--spark", "--shards", "0"]) == 2
