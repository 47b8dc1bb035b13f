"""ts.activate on Spark: what comes out for every seq is what an engine's apply returns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from tests.spark.datalog_stream.spread_programs import program_of
from tests.spark.datalog_stream.test_plans_at_work import at_once, said

import tocsin.spark as ts
from tocsin import Program
from tocsin.datalog.engine.requests import Operation
from tocsin.errors import UsageError

SCHEMA = "op string, relation string, tuple array<string>, seq bigint, at timestamp"
Said = set[tuple[str, str, tuple[str, ...], int | None]]

SPREAD = program_of(
    [
        "seen(u, d) :- login(u, d).",
        "seen(u, d) :- owns(d, u).",
        "busy(u, n) :- login(u, _), n = count : { login(u, _) }.",
        "pair(u, v) :- login(u, d), login(v, d), u != v.",
        "known(x, y) :- friend(x, y).",
        "known(x, z) :- known(x, y), friend(y, z).",
        "total(n) :- n = count : { login(_, _) }.",
        "alert(u, v) :- pair(u, v), !known(u, v).",
        "login(1, 1). friend(1, 2). friend(2, 3).",
    ],
    [],
)

TYPED = """
.decl r(n: number, u: unsigned, f: float, s: symbol)
.decl s(f: float, s: symbol) .decl both(s: symbol, f: float, n: number) .decl longest(n: number)
both(t, f, n + 1) :- r(n, _, f, t), s(f, t).
both(cat(t, u), f, -1) :- s(f, t), s(f, u), t < u.
longest(n) :- n = max strlen(t) : { s(_, t) }.
"""
VALUES: Mapping[str, list[int | float | str]] = {
    "n": [0, -1, 2**63 - 1, -(2**63)],
    "u": [0, 2**64 - 1],
    "f": [0.0, 0.1, 1e300, float("inf"), -1.5],
    "s": ["", "a", 'é"', "\n\t,", "12"],
}


def changes_of(seqs: Iterable[tuple[int, list[Operation]]]) -> list[dict[str, Any]]:
    return [
        {"op": op, "relation": relation, "tuple": list(map(str, values)), "seq": seq}
        for seq, operations in seqs
        for op, relation, values in operations
    ]


def random_seqs(random: Random, count: int, first: int) -> list[tuple[int, list[Operation]]]:
    names = ["login", "login", "owns", "friend", "alert"]
    return [
        (
            first + at,
            [
                (random.choice("++-"), name, (random.randrange(5), random.randrange(5)))
                for name in random.choices(names, k=random.randrange(1, 4))
            ],
        )
        for at in range(count)
    ]


class Folder:
    """A stream of changes in files, one for each batch, and its results."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self._spark = spark
        self._path = path
        self._files = 0
        (path / "in").mkdir()

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._files += 1
        file = self._path / "in" / f"{self._files}.json"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(file, (self._files, self._files))

    def run(self, program: Program, **options: Any) -> None:
        """All files that came since the last time, from the checkpoint on."""
        reader = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        derived = ts.activate(program, reader.json(str(self._path / "in")), **options)
        query = (
            derived.writeStream.option("checkpointLocation", str(self._path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self._path / "out"))
        )
        query.awaitTermination()

    def results(self) -> list[Any]:
        return self._spark.read.parquet(str(self._path / "out")).collect()


def found_in(rows: Iterable[Any]) -> Said:
    found = [(row.op, row.relation, tuple(row.tuple), row.seq) for row in rows]
    assert len(set(found)) == len(found)
    return set(found)


def test_a_stream_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    program = Program.parse(SPREAD)
    planned = ts.explain_activation(program)
    assert all(how in planned for how in ("by key", "by variable", "by rule", "whole", "counted"))
    engine = program.start()
    folder = Folder(spark, tmp_path)
    random = Random(11)
    expected: Said = set()
    for first in (1, 21):
        seqs = random_seqs(random, 20, first)
        for number, operations in seqs:
            expected |= said(engine.apply(at_once(operations)), number)
        rows = changes_of(seqs)
        random.shuffle(rows)
        folder.add(rows)
        folder.run(program)
    assert found_in(folder.results()) == expected
    assert len(expected) > 100


def test_values_of_all_types_in_one_batch(spark: SparkSession) -> None:
    random = Random(5)
    program = Program.parse(TYPED)
    engine = program.start()
    expected: Said = set()
    rows: list[tuple[str, str, list[str], int]] = []
    for seq in range(80):
        relation = random.choice(("r", "s", "s"))
        columns = "nufs" if relation == "r" else "fs"
        values = tuple(random.choice(VALUES[column]) for column in columns)
        op = random.choice("++-")
        expected |= said(engine.apply([(op, relation, values)]), seq)
        rows.append((op, relation, [str(value) for value in values], seq))
    changes = spark.createDataFrame(rows, SCHEMA.rpartition(",")[0])
    assert found_in(ts.activate(program, changes.repartition(3)).collect()) == expected
    assert len(expected) > 20


def test_facts_expire_and_bad_rows_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    program = Program.parse(
        """
        .decl near(who: symbol, device: symbol) .decl vip(who: symbol)
        .decl crowd(device: symbol, count: number)
        crowd(d, n) :- near(w, d), n = count : { near(_, d) }.
        """
    )

    def row(op: str, relation: str, values: list[str], seq: int, minute: int | None) -> dict[str, Any]:
        at = None if minute is None else f"2026-01-01T00:{minute:02}:00Z"
        return {"op": op, "relation": relation, "tuple": values, "seq": seq, "at": at}

    folder = Folder(spark, tmp_path)
    folder.add([row("+", "near", ["ada", "lamp"], 1, 1), row("+", "near", ["bob", "lamp"], 2, 5)])
    folder.add([row("+", "vip", ["eve"], 3, 13), row("+", "near", ["eve", "x"], 4, None)])
    folder.add([row("+", "near", ["cyn", "lamp"], 5, 4), row("+", "near", ["dan", "lamp"], 6, 2)])
    folder.run(program, ttl={"near": "10 minutes"}, time="at", delay="1 minute", bad="report")
    folder.add([row("-", "vip", ["eve"], 7, 40)])
    folder.run(program, ttl={"near": "10 minutes"}, time="at", delay="1 minute", bad="report")
    rows = folder.results()
    assert [(row.op, row.seq, row.reason) for row in rows if row.reason] == [("!", 4, "it has no time")]
    assert sorted((row.seq or 0, row.op, row.tuple[1]) for row in rows if not row.reason) == [
        (0, "+", "1"),  # ada goes at minute 11: the watermark is 12 in the third batch
        (0, "-", "2"),
        (0, "-", "2"),  # bob and cyn go when the last file has moved the watermark
        (1, "+", "1"),
        (2, "+", "2"),
        (2, "-", "1"),
        (5, "+", "2"),  # given at 4, it is there until 14; dan's time is over
        (5, "-", "1"),
    ]


NOTHING = Program.parse(".decl r(x: number)\n.decl q(x: number)\nq(x) :- r(x).\n")


def test_what_cannot_be_done_is_refused_at_once(spark: SparkSession) -> None:
    changes = spark.createDataFrame([], SCHEMA)

    def refused(reason: str, frame: DataFrame = changes, program: Any = NOTHING, **options: Any) -> None:
        with pytest.raises(UsageError, match=reason):
            ts.activate(program, frame, **options)

    refused("takes a Program, not str", program="q(x) :- r(x).")
    refused("takes a Spark DataFrame", frame=[1])  # type: ignore[arg-type]
    refused("there is no 'seq'", changes.drop("seq"))
    refused("'seq' of changes cannot be string: an integer", changes.withColumn("seq", F.lit("1")))
    refused("cannot be array<float>", changes.withColumn("tuple", F.array(F.lit(1.0).cast("float"))))
    refused("bad is 'fail' or 'report'", bad="ignore")
    refused("name its column with time=", ttl="1 minute")
    refused("a time to live needs a stream", ttl="1 minute", time="at")
    refused("no relation 'x' to have a time to live", ttl={"x": "1 minute"}, time="at")
    refused("a duration like '10 minutes'", ttl={"r": "soon"}, time="at")
    refused("limit is a number of tuples", limit=-1)


def test_another_state_store_is_refused(spark: SparkSession) -> None:
    store = "spark.sql.streaming.stateStore.providerClass"
    before = spark.conf.get(store) or ""
    spark.conf.set(store, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(UsageError, match=r"keeps its state in RocksDB: set spark.sql.streaming"):
            ts.activate(NOTHING, spark.createDataFrame([], SCHEMA))
    finally:
        spark.conf.set(store, before)


def test_numbers_need_not_be_texts_and_bytes_that_are_no_text_are_refused(spark: SparkSession) -> None:
    changes = spark.createDataFrame(
        [("+", "r", [7], 1)], "op string, relation string, tuple array<int>, seq int"
    )
    broken = changes.withColumn("tuple", F.array(F.expr("cast(x'37FF' as string)")))
    derived = ts.activate(NOTHING, changes).withColumn("reason", F.lit(None))
    rows = derived.union(ts.activate(NOTHING, broken, bad="report")).collect()
    assert sorted((row.op, row.relation, row.tuple, row.seq, row.reason) for row in rows) == [
        ("!", "r", ["7\ufffd"], 1, "tuple is not valid UTF-8"),
        ("+", "q", ["7"], 1, None),
    ]


def test_a_checkpoint_belongs_to_its_program(spark: SparkSession, tmp_path: Path) -> None:
    folder = Folder(spark, tmp_path)
    row = {"op": "+", "relation": "r", "tuple": ["1"], "seq": 1}
    folder.add([row])
    folder.run(NOTHING)
    folder.add([row | {"seq": 2}])
    other = Program.parse(str(NOTHING).replace("r(x).", "r(x), x < 9."))
    with pytest.raises(StreamingQueryException, match="written by another program"):
        folder.run(other)
    folder.run(NOTHING)
    assert found_in(folder.results()) == {("+", "q", ("1",), 1)}
