"""The jobs of a build: blocks of rules, and equal parts of them put together level by level.

    rows by id ── one task reads some of them ── blocks, as files
                                                   │
    level 0        predicates ── by what they are ─┤  every task takes all that may be equal, and says
    level 1        nodes over predicates ──────────┤  which of them another block has first
    level 2 ...    nodes over these ───────────────┘

What goes through Spark's shuffles is for every predicate or node its key and its place, and back only the
places of those that are not the first of their kind; what the keys stand for stays in the blocks' files, in
a folder that the driver and every worker can reach. A level ends on disk, so no job depends on the jobs of
levels before it. The last levels have few nodes: these are left to the one who puts the index together.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tocsin.conditions.blocks.block_nodes import BITS, find_firsts, share_block
from tocsin.conditions.blocks.build_folder import Work
from tocsin.conditions.blocks.rule_rows import PLACE, read_rows, rejects_table
from tocsin.errors import TocsinError
from tocsin.spark.failures import on_spark, spark_failures
from tocsin.spark.file_urls import to_write
from tocsin.spark.index_build.rule_frames import RuleRows
from tocsin.spark.numbered_tasks import each_number, numbers, partition_number

Batches = Iterable[Any]

RULES_IN_BLOCK = 200_000
BYTES_IN_BLOCK = 64 << 20
"""Rules, and bytes of what they hold, that a task reads together: what bounds its memory."""

LEFT_TO_THE_END = 50_000
"""So many nodes of the highest levels are not worth a job of their own for each level."""

MOST_LEVELS = 24
"""Levels that are compared on Spark: higher ones, of conditions nested as deep, are left to the end too."""

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


class NodesReport(NamedTuple):
    """What a task says of the nodes of a block: how many there are on each level, from 1 on."""

    block: int
    file: str
    levels: list[int]


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


def put_together(session: SparkSession, work: Work, predicates: int, say: Say) -> Work:
    """Find equal predicates and nodes of all blocks, level by level until few nodes are left."""
    say("Comparing predicates")
    work = _put_level_together(session, work, 0, predicates)
    say("Sharing conditions within blocks")
    task = _sharing_task(work)
    shared = numbers(session, len(work.block_files)).mapInArrow(
        task, "block long, file string, levels array<long>"
    )
    answers = on_spark(shared.collect, "share the conditions")
    reports = sorted(NodesReport(*answer) for answer in answers)
    work = replace(work, node_files=[report.file for report in reports])
    deepest = max((len(report.levels) for report in reports), default=0)
    on_level = [
        sum(report.levels[level] for report in reports if level < len(report.levels))
        for level in range(deepest)
    ]
    for level, count in enumerate(on_level, 1):
        few = sum(on_level[level - 1 :]) <= LEFT_TO_THE_END
        if few or level > MOST_LEVELS or len(reports) < 2:
            break
        say(f"Comparing nodes of level {level} of {deepest}")
        work = _put_level_together(session, work, level, count)
    return work


def _put_level_together(session: SparkSession, work: Work, level: int, count: int) -> Work:
    """Find the first places of what stands on one level."""
    if len(work.block_files) > 1:
        partitions = int(session.conf.get("spark.sql.shuffle.partitions") or 8)
        buckets = max(partitions, -(-count // KEYS_IN_BUCKET))
        task = _keys_task(work, level)
        keys = numbers(session, len(work.block_files)).mapInArrow(task, "key binary, place long")
        found = keys.repartition(buckets, "key").mapInArrow(_firsts, "block int, number int, first long")
        by_block = found.repartition(partitions, "block").write.partitionBy("block")
        with spark_failures(f"compare what is on level {level}"):
            by_block.parquet(to_write(work.level_folder(level)))
    return replace(work, levels=level + 1)


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


def _keys_task(work: Work, level: int) -> Any:
    def give_keys(batches: Batches) -> Iterator[Any]:
        for number in each_number(batches):
            keys, places = work.keys(level, number)
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


def _sharing_task(work: Work) -> Any:
    def share(batches: Batches) -> Iterator[Any]:
        for number in each_number(batches):
            block = work.block(number)
            nodes = share_block(block, work.first_leaf(number, len(block.table.field)))
            file = f"nodes-{number}-{uuid.uuid4().hex[:8]}"
            nodes.save(work.folder / file)
            yield _answer(NodesReport(number, file, np.bincount(nodes.level)[1:].tolist()))

    return share


_ROWS_AT_ONCE = 100_000
"""Rows in a batch that a task gives back."""


def _answer(report: tuple[Any, ...]) -> Any:
    """A report as a row."""
    fields: Sequence[str] = report._fields  # type: ignore[attr-defined]
    return pa.RecordBatch.from_pylist([dict(zip(fields, report, strict=True))])
