"""The main paths on several executors, each a Java process with workers and a folder of its own.

Run by test_distribution.py in a process of its own, because a process has one Spark session:

    python -m tests.spark.cluster_program FOLDER

A path compares what the cluster gave, row by row, with what this process gives without Spark. Its line of
output is its name and, in JSON, what it has to tell.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.pipeline.processes import family
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

import tocsin
import tocsin.spark as ts
from tocsin import Index

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.shuffle.partitions": "2",
}
ROWS, PARTITIONS = 8_000, 8
RULES = [
    ("even", "n in (0, 2, 4, 6, 8)"),
    ("big", "n >= 5 and text like 'text 1%'"),
    ("old", "at < timestamp '1970-01-01T02:00:00Z'"),
    *((f"n{number}", f"n = {number % 10} and text = 'text {number}'") for number in range(2_000)),
]
PROGRAM = """
.decl arc(x: number, y: number) .decl far(x: number, d: number) .output far
far(0, 0). far(y, d + 1) :- far(x, d), arc(x, y), d < 10.
"""
CHANGING = """
.decl login(user: number, device: number) .decl pair(user: number, other: number)
.decl friend(x: number, y: number) .decl known(x: number, y: number)
pair(u, v) :- login(u, d), login(v, d), u != v.
known(x, y) :- friend(x, y).
known(x, z) :- known(x, y), friend(y, z).
"""
CHANGES = (
    [("+", "login", (user, user // 3)) for user in range(30)]
    + [("+", "friend", (user, user + 1)) for user in range(9)],
    [("-", "login", (4, 1)), ("+", "login", (4, 2)), ("-", "friend", (4, 5)), ("+", "friend", (9, 0))],
)
"""For a rule that is spread over its key, and one that is the work of one task: first many, then a few."""
SLOW_SECONDS = 0.4
"""What each task waits before its first event, so that there is something to interrupt."""

Rows = Counter[tuple[Any, ...]]


def main(folder: Path) -> None:
    spark = ts.session("local-cluster[2,1,1024]", config=SETTINGS)
    index = tocsin.build(RULES)
    assert isinstance(index, Index)
    for path in PATHS:
        told = path(spark, index, folder)
        print(path.__name__, json.dumps(told), flush=True)


# ---- Events, and what they have to give


def events(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS, numPartitions=PARTITIONS).selectExpr(
        "id", "id % 10 as n", "timestamp_seconds(id) as at", "concat('text ', id % 300) as text"
    )


def rows_here(index: Index) -> Rows:
    """The matches of all events, without Spark."""
    table = pa.table(
        {
            "n": pa.array([number % 10 for number in range(ROWS)]),
            "at": pa.array([number * 1_000_000 for number in range(ROWS)], pa.timestamp("us", "UTC")),
            "text": pa.array([f"text {number % 300}" for number in range(ROWS)]),
        }
    )
    found = index.match_table(table)
    assert isinstance(found, pa.Table)
    return Counter(zip(found["event"].to_pylist(), found["rule"].to_pylist(), strict=True))


def rows_in(found: DataFrame) -> Rows:
    return Counter((row.id, row.rule) for row in found.select("id", "rule").collect())


def slowly(events: DataFrame) -> DataFrame:
    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            time.sleep(SLOW_SECONDS)
            yield batch

    return events.mapInArrow(wait, events.schema)


# ---- Killing


def workers_with_an_index() -> list[int]:
    """The Python workers that have an index mapped now."""
    return [number for number in family()[1:] if mapped_indexes(number)]


def one_executor() -> list[int]:
    found = [number for number in family()[1:] if b"CoarseGrainedExecutorBackend" in command(number)]
    return found[:1]


def command(number: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path("/proc", str(number), "cmdline").read_bytes()
    return b""


def mapped_indexes(number: int) -> list[str]:
    with contextlib.suppress(OSError):
        lines = Path("/proc", str(number), "maps").read_text().splitlines()
        return [line.split(maxsplit=5)[5] for line in lines if line.endswith(".tocsin")]
    return []


@contextlib.contextmanager
def killing(spark: SparkSession, find: Callable[[], list[int]]) -> Iterator[list[int]]:
    """Kill the processes that are found, as soon as some task of a stage is done and others are not.

    The result is, at the end, how many tasks of that stage have failed.
    """
    tracker = spark.sparkContext.statusTracker()
    failed: list[int] = []
    done = threading.Event()

    def stages_at_work() -> list[int]:
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        return [
            each.stageId for each in stages if each is not None and 0 < each.numCompletedTasks < each.numTasks
        ]

    def watch() -> None:
        while not done.wait(0.05):
            for stage in stages_at_work():
                for number in find():
                    os.kill(number, signal.SIGKILL)
                done.wait()
                told = tracker.getStageInfo(stage)
                failed.append(0 if told is None else told.numFailedTasks)
                return

    killer = threading.Thread(target=watch)
    killer.start()
    try:
        yield failed
    finally:
        done.set()
        killer.join()


# ---- The paths


def match(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Of events that come from files, the matches go into files."""
    events(spark).write.parquet(str(folder / "events"))
    found = ts.match(spark.read.parquet(str(folder / "events")), index, keep=["id"])
    found.write.parquet(str(folder / "matches"))
    assert rows_in(spark.read.parquet(str(folder / "matches"))) == rows_here(index)
    return {"rows": sum(rows_here(index).values())}


def index_is_mapped(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Every executor has one file of the index, however often it is used; workers map it and copy nothing."""
    found = ts.match(slowly(events(spark)), index, keep=["id"])
    assert rows_in(found) == rows_here(index)
    mapped = {number: mapped_indexes(number) for number in workers_with_an_index()}
    paths = {path for each in mapped.values() for path in each}
    copied = 0
    for number in mapped:
        lines = Path("/proc", str(number), "smaps").read_text().splitlines()
        places = [place for place, line in enumerate(lines) if line.endswith(".tocsin")]
        for place in places:
            about = dict(line.split(":", 1) for line in lines[place + 1 : place + 20] if ":" in line)
            copied += int(about["Anonymous"].split()[0])

    def listed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(SLOW_SECONDS)
        for batch in batches:
            place = os.path.abspath(SparkFiles.getRootDirectory())  # noqa: PTH100
            names = [f"{place}/{name}" for name in os.listdir(place) if name.endswith(".tocsin")]  # noqa: PTH208
            yield pa.record_batch({"files": [names] * batch.num_rows})

    files = spark.range(8, numPartitions=8).mapInArrow(listed, "files array<string>").collect()
    lists = {tuple(row.files) for row in files}
    own = Path(SparkFiles.getRootDirectory()).resolve()
    return {
        "executors": len(lists),
        "files of each": [len(each) for each in lists],
        "mapped": len(paths),
        "mapped files are theirs": paths == {os.path.realpath(name) for each in lists for name in each},
        "the driver's own": any(Path(path).parent == own for path in paths),
        "kilobytes copied": copied,
    }


def workers_killed(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """The Python workers die in the middle of a job that writes files."""
    target = str(folder / "after workers were killed")
    with killing(spark, workers_with_an_index) as failed:
        ts.match(slowly(events(spark)), index, keep=["id"]).write.parquet(target)
    assert rows_in(spark.read.parquet(target)) == rows_here(index)
    return {"failed tasks": sum(failed)}


def executor_killed(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """An executor dies in the middle, with its files; another takes its place, and fetches the index."""
    target = str(folder / "after an executor was killed")
    with killing(spark, one_executor) as failed:
        ts.match(slowly(events(spark)), index, keep=["id"]).write.parquet(target)
    assert rows_in(spark.read.parquet(target)) == rows_here(index)
    return {"failed tasks": sum(failed)}


def streaming_match(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """A stream into files: each row once, though the workers die meanwhile."""
    stream = spark.readStream.schema("id bigint, n bigint, at timestamp, text string")
    source = stream.option("maxFilesPerTrigger", 3).parquet(str(folder / "events"))
    with killing(spark, workers_with_an_index) as failed:
        query = (
            ts.match(slowly(source.repartition(PARTITIONS)), index, keep=["id"])
            .writeStream.format("parquet")
            .option("path", str(folder / "streamed"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    assert rows_in(spark.read.parquet(str(folder / "streamed"))) == rows_here(index)
    return {"failed tasks": sum(failed), "batches": len(query.recentProgress)}


def statistics(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Counted by the executors, put together by the driver."""
    history = ts.statistics(spark.read.parquet(str(folder / "events")), folder / "history")
    assert history.rows == ROWS
    (kind,) = history.field(("n",)).kinds.values()
    return {"rows": history.rows, "values of n": kind.distinct, "words": len(history.dictionary(("text",)))}


def build(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Rules become an index on the executors, and match as the one that was built here."""
    rules = spark.createDataFrame(pa.table(dict(zip(("id", "when"), zip(*RULES, strict=True), strict=True))))
    built = ts.build(rules.repartition(PARTITIONS), folder / "built.tocsin")
    assert rows_in(ts.match(events(spark), folder / "built.tocsin", keep=["id"])) == rows_here(index)
    return {"rules": built.rules}


def stream(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Files in, alerts out, with all that a stream keeps in its checkpoint."""
    rules = folder / "rules.jsonl"
    rules.write_text("".join(json.dumps({"id": name, "when": when}) + "\n" for name, when in RULES))
    running = ts.stream(str(folder / "events"), rules, str(folder / "alerts"), key="id", once=True)
    running.wait()
    alerts = spark.read.parquet(str(folder / "alerts")).selectExpr("cast(key as bigint) as id", "rule")
    assert rows_in(alerts) == rows_here(index)
    return {"version": running.version}


def evaluate(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """A recursive program, worked out by rounds of joins and not in one worker."""
    program = tocsin.Program.parse(PROGRAM)
    arcs = [(number, number + 1) for number in range(12)]
    frames = {"arc": spark.createDataFrame(arcs, "x bigint, y bigint").repartition(2)}
    found = ts.evaluate(program, frames, one_worker=0)["far"]
    engine = program.start()
    engine.apply([("+", "arc", arc) for arc in arcs])
    assert {tuple(row) for row in found.collect()} == set(engine.query("far"))
    return {"tuples": found.count()}


def activate(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """Changes in files, state in the executors' stores; a query that is started again goes on."""
    program = tocsin.Program.parse(CHANGING)
    engine = program.start()
    expected: list[tuple[Any, ...]] = []
    (folder / "changes").mkdir()
    for turn, changes in enumerate(CHANGES):
        lines = [
            {"op": op, "relation": name, "tuple": list(map(str, values)), "seq": turn}
            for op, name, values in changes
        ]
        (folder / "changes" / f"{turn}.json").write_text("\n".join(map(json.dumps, lines)))
        stream = spark.readStream.schema("op string, relation string, tuple array<string>, seq bigint")
        query = (
            ts.activate(program, stream.json(str(folder / "changes")))
            .writeStream.option("checkpointLocation", str(folder / "activated.checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / "activated"))
        )
        query.awaitTermination()
        made = engine.apply(changes)
        for op, derived in (("+", made.added), ("-", made.removed)):
            expected += [(op, name, values, turn) for name, found in derived.items() for values in found]
    rows = spark.read.parquet(str(folder / "activated")).collect()
    found = [(row.op, row.relation, tuple(map(int, row.tuple)), row.seq) for row in rows]
    assert Counter(found) == Counter(expected)
    return {"changes": len(found)}


def backtest(spark: SparkSession, index: Index, folder: Path) -> dict[str, Any]:
    """How often each rule matches."""
    with ts.backtest(spark.read.parquet(str(folder / "events")), index) as found:
        hits = {row.rule: row.hits for row in found.rules.select("rule", "hits").where("hits > 0").collect()}
    expected: Counter[str] = Counter()
    for (_, rule), count in rows_here(index).items():
        expected[rule] += count
    assert hits == dict(expected)
    return {"rules that match": len(hits)}


PATHS = (
    match,
    index_is_mapped,
    workers_killed,
    executor_killed,
    streaming_match,
    statistics,
    build,
    stream,
    evaluate,
    activate,
    backtest,
)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
