"""tocsin datalog --spark: the files, messages and errors of tocsin datalog."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.cli.running import Command, Ran

PROGRAM = """\
.decl person(name: symbol, age: unsigned, height: float)
.decl arc(x: number, y: number)
.decl knows(a: symbol, b: symbol)
.decl quoted(s: symbol, n: number)
.decl on()
.input person
.input arc
.input knows
.input quoted
.input on
.decl path(x: number, y: number)
.decl tall(name: symbol, age: unsigned, height: float)
.decl pair(a: symbol, b: symbol)
.decl yes()
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
tall(n, a, h + 0.1) :- person(n, a, h), h > 1.5.
pair(a, b) :- knows(a, b), !knows(b, a).
pair(s, to_string(n)) :- quoted(s, n).
yes() :- on(), n = count : { path(_, _) }, n > 3.
.output path
.output tall(headers=true, delimiter=";")
.output pair(IO=stdout)
.output yes
.printsize path
.printsize arc
"""


@pytest.fixture
def tocsin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)


def facts(tocsin: Command) -> None:
    tocsin.file("all.dl", PROGRAM)
    people = pa.table(
        {
            "height": [1.75, 1.5, 2.0],
            "age": pa.array([2**64 - 1, 3, 30], pa.uint64()),
            "name": ["z", "b", "é"],
        }
    )
    pq.write_table(people, tocsin.folder / "person.parquet")
    tocsin.file("arc.facts", "".join(f"{x}\t0x{x + 1:x}\r\n" for x in range(20)) + "\n3\t-7")
    (tocsin.folder / "knows.facts.gz").write_bytes(gzip.compress(b"a\tb\nb\ta\nb\tc\n"))
    tocsin.file("quoted.csv", 'n,s\n1,"one, two"\n2,"a ""b"""\n')
    tocsin.file("on.facts", "()\n")


def without_messages(ran: Ran) -> Ran:
    lines = [
        line
        for line in ran.err.splitlines(keepends=True)
        if not line.startswith(("Starting", "Spark started"))
    ]
    return ran._replace(err="".join(lines))


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(folder.iterdir())}


def test_the_same_files_as_without_spark(
    spark: SparkSession, tocsin: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tocsin.datalog.spark.batch.fact_frames.PIECE_BYTES", 20)
    facts(tocsin)
    plain = tocsin("datalog", "all.dl", "-D", "plain")
    assert plain.code == 0
    ran = tocsin("datalog", "all.dl", "-D", "here/results", "--spark")
    assert without_messages(ran) == plain
    assert contents(tocsin.folder / "here/results") == contents(tocsin.folder / "plain")
    assert "path.csv" in contents(tocsin.folder / "plain")


def test_bad_lines(spark: SparkSession, tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.datalog.spark.batch.fact_frames.PIECE_BYTES", 16)
    facts(tocsin)
    lines = [f"{x}\t{x}" for x in range(30)]
    lines[7], lines[22] = "7\tseven", "2"
    tocsin.file("arc.facts", "\n".join(lines))
    plain = tocsin("datalog", "all.dl", "-D", "plain")
    assert plain.err == "tocsin: arc.facts:8: y takes integers, not 'seven'\n"
    assert without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark")) == plain
    skipped = tocsin("datalog", "all.dl", "-D", "plain", "--skip-bad")
    ran = tocsin("datalog", "all.dl", "-D", "results", "--skip-bad", "--spark")
    assert without_messages(ran) == skipped._replace(err=skipped.err.replace("plain", "results"))
    assert contents(tocsin.folder / "results") == contents(tocsin.folder / "plain")
    rejects = (tocsin.folder / "results/all.rejects.jsonl").read_text().splitlines()
    assert [json.loads(each)["line"] for each in rejects] == [8, 23]


def test_what_is_wrong_is_said_as_without_spark(spark: SparkSession, tocsin: Command) -> None:
    facts(tocsin)
    ran = tocsin("datalog", "all.dl", "--spark", "--why", "path(1, 2)")
    assert ran == (2, "", "tocsin: --why asks the engine that runs without Spark: leave out --spark\n")
    tocsin.file("all.dl", PROGRAM.replace("h + 0.1", "h / (h - 2.0)"))
    plain = tocsin("datalog", "all.dl", "-D", "plain")
    assert "division by zero, in the rule: tall" in plain.err
    assert without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark")) == plain
    facts(tocsin)
    (tocsin.folder / "knows.facts.gz").unlink()
    plain = tocsin("datalog", "all.dl", "-D", "plain")
    assert "knows.facts: cannot be read: No such file or directory" in plain.err
    assert without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark")) == plain
    assert not (tocsin.folder / "results").exists()


def test_parquet_that_does_not_fit(spark: SparkSession, tocsin: Command) -> None:
    facts(tocsin)
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "c": [1.0]}), tocsin.folder / "person.parquet")
    ran = without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark"))
    said = "tocsin: person.parquet: person.age is unsigned, and the DataFrame's column string\n"
    assert (ran.code, ran.err) == (1, said)
    people = pa.table({"a": ["x"], "b": pa.array([None], pa.int32()), "c": [1.0]})
    pq.write_table(people, tocsin.folder / "person.parquet")
    ran = without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark"))
    assert (ran.code, ran.err) == (1, "tocsin: person.parquet: person.age: a row has no value\n")
    shutil.copy(tocsin.folder / "all.dl", tocsin.folder / "person.parquet")
    ran = without_messages(tocsin("datalog", "all.dl", "-D", "results", "--spark"))
    assert ran.code == 1
    assert ran.err.startswith("tocsin: person.parquet: cannot be read: ")
    assert ran.err.count("\n") == 1
    people = pa.table({"a": ["x" * 50_000] * 100, "b": [1] * 100, "c": [1.0] * 100})
    pq.write_table(people, tocsin.folder / "person.parquet")
    limited = "datalog", "all.dl", "-D", "results", "--spark", "--unpacked-limit", "1000"
    ran = without_messages(tocsin(*limited))
    assert ran.code == 1
    assert ran.err.startswith("tocsin: person.parquet: unpacked, it has more than ")
