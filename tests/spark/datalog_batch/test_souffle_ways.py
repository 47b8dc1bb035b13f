"""What Soufflé's own programs rely on, and what confines a program: on Spark as without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cli.running import Command
from tests.spark.datalog_batch.test_command import contents, without_messages

import tocsin.spark as ts
from tocsin import Program

PROGRAM = """\
.include "parts/near.dl"
.decl span(a: number, b: number)
.decl said(s: symbol, n: number)
.input said(rfc4180=true)
.decl day(n: number) .decl size(a: number, n: number) .decl host(n: number) .decl pair(x: number, y: number)
.decl spoken(s: symbol)
span(3, 6). span(1, 9).
day(n) :- span(a, b), n = range(a, b, 2).
size(a, n) :- span(a, b), n = count : { i = range(a, b), i % 2 = 0 }.
host(10.0.0.1 + n) :- day(n).
pair(x, y) :- day(x), day(y), x < y, near(x, y).
spoken(cat(s, to_string(n))) :- said(s, n), match("[a-z].*", s).
.output day, size, host, pair
.output spoken(rfc4180=true)
"""
NEAR = ".once\n.decl near(x: number, y: number) inline\nnear(x, y) :- x - y < 3, y - x < 3.\n"


@pytest.fixture
def tocsin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    command = Command(tmp_path, capsys)
    command.file("parts/near.dl", NEAR)
    command.file("ways.dl", PROGRAM)
    command.file("said.facts", 'x,1\n"a ""b"", c",2\n"two\nlines",3,more\nNO,4\n')
    return command


def test_the_same_files_and_errors_as_without_spark(spark: SparkSession, tocsin: Command) -> None:
    plain = tocsin("datalog", "ways.dl", "-D", "plain")
    assert plain.code == 0
    assert without_messages(tocsin("datalog", "ways.dl", "-D", "results", "--spark")) == plain
    assert contents(tocsin.folder / "results") == contents(tocsin.folder / "plain")
    assert contents(tocsin.folder / "plain")["size.csv"] == b"1\t4\n3\t1\n"
    (tocsin.folder / "outside").mkdir()
    (tocsin.folder / "inside").mkdir()
    (tocsin.folder / "said.facts").rename(tocsin.folder / "outside/said.facts")
    (tocsin.folder / "inside/said.facts").symlink_to(tocsin.folder / "outside/said.facts")
    plain = tocsin("datalog", "ways.dl", "-F", "inside", "-D", "refused")
    assert plain.code != 0
    assert without_messages(tocsin("datalog", "ways.dl", "-F", "inside", "-D", "refused", "--spark")) == plain
    assert not (tocsin.folder / "refused").exists()


def test_ranges_spread_over_tasks(spark: SparkSession, tocsin: Command) -> None:
    program = Program.read(tocsin.folder / "ways.dl")
    said = spark.createDataFrame([("x", 1)], "s string, n bigint")
    spread = ts.evaluate(program, {"said": said}, one_worker=0)
    engine = program.start(facts={"said": [("x", 1)]})
    for relation in ("day", "size", "host", "pair", "spoken"):
        assert sorted(map(tuple, spread[relation].collect())) == engine.query(relation)
