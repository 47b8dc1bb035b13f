"""The statistics of a history, counted on Spark in one pass over its events.

    events ──> tasks note facts and words ──> partials on disk ──> words: groupBy and write
                                                              └──> facts: merged field by field

Tasks put out what they noted in pieces of bounded size, and Spark puts equal words together, so a history
may be larger than the memory of all machines. The driver sees facts (bounded for each field) and no
events. The folder must be one that the driver and all workers see.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, UserDefinedType

from tocsin.errors import UsageError
from tocsin.spark.failures import on_spark
from tocsin.spark.file_urls import to_read, to_write
from tocsin.spark.numbered_tasks import answers, each_number, numbers, partition_number

if TYPE_CHECKING:
    from tocsin.events import Slice
    from tocsin.history.statistics import History, Plan, StatisticsJob
    from tocsin.spark.event_columns import Layout

Path = tuple[str, ...]
Batches = Iterable[Any]
"""Of pyarrow, which is not loaded with this module: see the package."""

AIM = "count the history"
FACT_COLUMNS = "field int, kind tinyint, fact string, high bigint, low bigint, text string, number bigint"
PARTIAL_COLUMNS = f"{FACT_COLUMNS}, sketch array<bigint>"


def statistics(
    history: DataFrame,
    path: str | os.PathLike[str],
    *,
    text: Sequence[str | Sequence[str]] | None = None,
    sketch: int | None = None,
    merge: bool = False,
    fields: Sequence[str | Sequence[str]] | None = None,
    part: str | None = None,
) -> History:
    """Count what the events of a DataFrame hold and write it to a folder; the result is that, opened.

    For every field: how often it is there, its frequent values, a sample of them and how many different
    ones there are. For text fields also the dictionary, and for each word a sketch of which documents
    hold it. `text` names the text fields, by default all strings and lists of strings; a field is named as
    conditions write it, or as a list of names. `sketch` is how many hashes a sketch has (64). `fields` names
    the fields that are looked at, by default all: `index.fields` are those that rules name.

    With `merge`, what the folder holds already is counted with it: the events are taken for new ones.
    Without it, that is replaced. Either way the version grows, and the folder holds the old version or
    the new one, never a part of either. `part` gives the events a name, such as their day: a part that is
    in the folder already is not counted again, and a warning says so.
    """
    from tocsin.history.statistics import StatisticsJob
    from tocsin.spark.event_columns import ship_columns

    if not isinstance(history, DataFrame):
        raise UsageError(f"statistics takes a Spark DataFrame, not {type(history).__name__}")
    if history.isStreaming:
        raise UsageError(
            "statistics are counted of a history that has an end, and this DataFrame is a stream"
        )
    every, texts = fields_of(history.schema)
    job = StatisticsJob.plan(
        path, every, texts, text=text, sketch=sketch, merge=merge, only=fields, part=part
    )
    needed, shipment = ship_columns(history, job.looked_at, ())
    task = _table_task(job, shipment.layout)
    return _count(history.sparkSession, job, lambda: needed.mapInArrow(task, PARTIAL_COLUMNS))


def statistics_of_slices(session: SparkSession, slices: Sequence[Slice], plan: Plan) -> History:
    """The same of event files, which the tasks read as `tocsin match` reads them.

    Records that are no events are left out, and `rejects` of the result tells how many.
    """
    located = [replace(piece, file=os.path.abspath(piece.file)) for piece in slices]  # noqa: PTH100
    job = plan(*_fields_of_slices(session, located))
    asked = numbers(session, len(located))
    return _count(session, job, lambda: asked.mapInArrow(_slice_task(job, located), PARTIAL_COLUMNS))


# ---- Which fields there are


def fields_of(schema: StructType) -> tuple[list[Path], list[Path]]:
    """The fields of a DataFrame that conditions can name, and those of them that hold text.

    The members of structs within lists are fields too; keys of maps are known to nobody beforehand.
    """
    from tocsin.spark.event_columns import TESTABLE, TEXTS

    fields: list[Path] = []
    texts: list[Path] = []
    waiting: list[tuple[Path, DataType]] = [((column.name,), column.dataType) for column in schema]
    while waiting:
        path, data_type = waiting.pop()
        while isinstance(data_type, ArrayType | UserDefinedType):
            data_type = data_type.elementType if isinstance(data_type, ArrayType) else data_type.sqlType()
        if isinstance(data_type, (StructType, MapType, *TESTABLE)):
            fields.append(path)
        if isinstance(data_type, TEXTS):
            texts.append(path)
        if isinstance(data_type, StructType):
            waiting += [((*path, member.name), member.dataType) for member in data_type]
    return sorted(fields), sorted(texts)


def _fields_of_slices(session: SparkSession, slices: Sequence[Slice]) -> tuple[list[Path], list[Path]]:
    """The same of files: a table's head tells, JSON has to be read through."""
    from tocsin.events import Kind, Schema
    from tocsin.history.statistics import fields_of_schemas

    lines = [piece for piece in slices if piece.format == "jsonl"]

    def look(number: int) -> str:
        from tocsin.events import Schema

        return json.dumps(
            [[path, sorted(kinds)] for path, kinds in Schema.of_slice(lines[number]).kinds.items()]
        )

    said = set(answers(session, len(lines), lambda: look, AIM))
    read = ({tuple(path): frozenset(map(Kind, kinds)) for path, kinds in json.loads(each)} for each in said)
    tables = {piece.file: piece for piece in slices if piece.format != "jsonl"}
    return fields_of_schemas([*map(Schema, read), *map(Schema.of_slice, tables.values())])


# ---- The job


def _count(session: SparkSession, job: StatisticsJob, partials: Callable[[], DataFrame]) -> History:
    """Run the job."""

    def count(words_folder: FilePath, draft: FilePath) -> tuple[int, Any]:
        _run(lambda: partials().write.parquet(to_write(draft)))
        noted = session.read.schema(PARTIAL_COLUMNS).parquet(to_read(draft))
        words = _run(lambda: _write_words(session, job, noted, words_folder))
        return words, _run(lambda: _merged_facts(noted))

    return job.run(count)


def _write_words(session: SparkSession, job: StatisticsJob, noted: DataFrame, folder: FilePath) -> int:
    """Put equal words together and write them; how many there are."""
    from tocsin.history.statistics import WORD

    columns = ["field", "word", "documents", "sketch"]
    words = noted.where(F.col("fact") == WORD).select(
        "field", F.col("text").alias("word"), F.col("number").alias("documents"), "sketch"
    )
    if job.before is not None:
        words = words.union(
            session.read.parquet(to_read(job.folder / job.before.words_folder)).select(columns)
        )
    least = F.slice(F.array_sort(F.flatten(F.collect_list("sketch"))), 1, job.sketch)
    together = words.groupBy("field", "word").agg(
        F.sum("documents").alias("documents"), least.alias("sketch")
    )
    together.select(columns).write.parquet(to_write(folder))
    return session.read.parquet(to_read(folder)).count()


def _merged_facts(noted: DataFrame) -> Any:
    """The facts of each field."""
    import pyarrow as pa

    from tocsin.history.statistics import FACTS, WORD, merge_facts

    def merge_field(facts: pa.Table) -> pa.Table:
        return merge_facts([facts.select(FACTS.names).cast(FACTS)])

    facts = noted.where(F.col("fact") != WORD).drop("sketch").groupBy("field")
    return facts.applyInArrow(merge_field, FACT_COLUMNS).toArrow().cast(FACTS)


def _run(work: Callable[[], Any]) -> Any:
    return on_spark(work, AIM)


# ---- What runs in the workers


def _table_task(job: StatisticsJob, layout: Layout) -> Any:
    def note(batches: Batches) -> Iterator[Any]:
        from tocsin.spark.match_worker import cells_of_batch

        partials = job.partials(partition_number())
        for batch in batches:
            yield from partials.add(cells_of_batch(job.fields, layout, batch))
        yield from partials.rest()

    return note


def _slice_task(job: StatisticsJob, slices: Sequence[Slice]) -> Any:
    def note(batches: Batches) -> Iterator[Any]:
        from tocsin.events import read_slice

        for number in each_number(batches):
            partials = job.partials(number)
            for chunk in read_slice(slices[number], job.fields):
                partials.rejects += len(chunk.rejects)
                yield from partials.add(chunk.events)
            yield from partials.rest()

    return note
