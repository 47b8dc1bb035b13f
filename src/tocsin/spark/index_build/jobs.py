"""The jobs of a build: blocks of rules, and their predicates compared.

    rows by id ── one task reads some of them ── blocks, as files
                                                   │
    predicates ── by what they are ────────────────┘  every task takes all that may be equal, and says
                                                      which of them another block has first

What goes through Spark's shuffle is for every predicate its key and its place, and back only the places of
those that are not the first of their kind; what the keys stand for stays in the blocks' files, in a folder
that the driver and every worker can reach.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tocsin.conditions.blocks import BITS, PLACE, Work, find_firsts, read_rows, rejects_table
from tocsin.errors import TocsinError
from tocsin.spark.failures import on_spark, spark_failures
from tocsin.spark.file_urls import to_write
from tocsin.spark.index_build.rule_frames import RuleRows
from tocsin.spark.numbered_tasks import each_number, numbers, partition_number

Batches = Iterable[Any]

RULES_IN_BLOCK = 200_000
BYTES_IN_BLOCK = 64 << 20
"""Rules, and bytes of what they hold, that a task reads together: what bounds its memory."""

KEYS_IN_BUCKET = 1_000_000
"""Keys that one task compares, about."""

READING_ATTEMPTS = 4
_CAME_OTHERWISE = "indeterminate output"
"""What Spark says when it gives a job up because rows came in another order than before, when those of a lost
executor were made again. It happens where a DataFrame was shuffled before; what was read so does not count,
and it is read again from the start."""

Say = Callable[[str], None]
"""Told what is being done."""


class BlockReport(NamedTuple):
    """What a task says of a block that it has read: where it is, and how much there is of what."""

    partition: int
    portion: int
    file: str
    rejects_file: str
    rules: int
    rejects: int
    predicates: int


def read_blocks(rows: RuleRows, folder: Path) -> list[BlockReport]:
    """Read all rules; the reports come in the order of the rules."""
    task = _reading_task(folder, rows.names, rows.has_places, RULES_IN_BLOCK)
    counts = "rules long, rejects long, predicates long"
    schema = f"partition long, portion long, file string, rejects_file string, {counts}"
    reading = rows.frame.mapInArrow(task, schema)
    for attempts_left in reversed(range(READING_ATTEMPTS)):
        try:
            answers = on_spark(reading.collect, "read the rules")
            break
        except TocsinError as error:
            if not attempts_left or _CAME_OTHERWISE not in str(error.__cause__):
                raise
    return sorted(BlockReport(*answer) for answer in answers)


def compare_predicates(session: SparkSession, work: Work, count: int) -> None:
    """Find the first places of the predicates of all blocks, so many in all."""
    if work.count < 2:
        return
    partitions = int(session.conf.get("spark.sql.shuffle.partitions") or 8)
    buckets = max(partitions, -(-count // KEYS_IN_BUCKET))
    keys = numbers(session, work.count).mapInArrow(_keys_task(work), "key binary, place long")
    found = keys.repartition(buckets, "key").mapInArrow(_firsts, "block int, number int, first long")
    by_block = found.repartition(partitions, "block").write.partitionBy("block")
    with spark_failures("compare the predicates"):
        by_block.parquet(to_write(work.firsts_folder))


# ---- What runs in the workers


def _reading_task(folder: Path, names: Sequence[str], has_places: bool, most_rules: int) -> Any:
    def read(batches: Batches) -> Iterator[Any]:
        partition = partition_number()
        last_id = None
        for portion, rows in enumerate(_portions(batches, most_rules, BYTES_IN_BLOCK)):
            where = None
            if has_places:
                places = range(len(names), len(names) + len(PLACE))
                where = rows.select(places).rename_columns(PLACE.names).cast(PLACE)
            rules = rows.select(range(len(names))).rename_columns(names)
            block, refused, last_id = read_rows(rules, where, last_id)
            unique = f"{partition}-{portion}-{uuid.uuid4().hex[:8]}"
            file, rejects = f"block-{unique}", f"rejects-{unique}.parquet"
            block.save(folder / file)
            pq.write_table(rejects_table(refused), folder / rejects)
            counts = block.rules, len(refused), len(block.table.field)
            yield _answer(BlockReport(partition, portion, file, rejects, *counts))

    return read


def _portions(batches: Batches, most_rules: int, most_bytes: int) -> Iterator[pa.Table]:
    """The rows of a partition, so many at a time."""
    waiting: list[Any] = []
    rules = size = 0
    for batch in batches:
        for first in range(0, batch.num_rows, most_rules):
            piece = batch.slice(first, most_rules)
            if waiting and (rules + piece.num_rows > most_rules or size + piece.nbytes > most_bytes):
                yield pa.Table.from_batches(waiting)
                waiting, rules, size = [], 0, 0
            waiting.append(piece)
            rules += piece.num_rows
            size += piece.nbytes
    if waiting:
        yield pa.Table.from_batches(waiting)


def _keys_task(work: Work) -> Any:
    def give_keys(batches: Batches) -> Iterator[Any]:
        for number in each_number(batches):
            keys, places = work.keys(number)
            for first in range(0, len(keys), _ROWS_AT_ONCE):
                piece = keys.slice(first, _ROWS_AT_ONCE).cast(pa.binary())
                place = pa.array(places[first : first + _ROWS_AT_ONCE])
                yield pa.record_batch([piece, place], names=["key", "place"])

    return give_keys


def _firsts(batches: Batches) -> Iterator[Any]:
    received = list(batches)
    if not received:
        return
    table = pa.Table.from_batches(received)
    del received
    keys = table.column("key").cast(pa.large_binary()).combine_chunks()
    others, firsts = find_firsts(keys, table.column("place").to_numpy())
    block = pa.array((others >> BITS).astype("int32"))
    number = pa.array((others & ((1 << BITS) - 1)).astype("int32"))
    found = pa.table({"block": block, "number": number, "first": firsts})
    yield from found.to_batches(max_chunksize=_ROWS_AT_ONCE)


_ROWS_AT_ONCE = 100_000
"""Rows in a batch that a task gives back."""


def _answer(report: tuple[Any, ...]) -> Any:
    """A report as a row."""
    fields: Sequence[str] = report._fields  # type: ignore[attr-defined]
    return pa.RecordBatch.from_pylist([dict(zip(fields, report, strict=True))])
