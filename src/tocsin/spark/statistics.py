"""The statistics of a history, counted on Spark in one pass over its events.

    events ──> tasks note facts and words ──> partials on disk ──> words: groupBy and write
                                                              └──> facts: merged field by field

Tasks put out what they noted in pieces of bounded size, and Spark puts equal words together, so a history
may be larger than the memory of all machines. The driver sees facts (bounded for each field) and no
events. The folder must be one that the driver and all workers see.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, UserDefinedType

from tocsin.errors import InputError, TocsinError, TocsinWarning, UsageError
from tocsin.spark.failures import on_spark
from tocsin.spark.file_urls import to_read, to_write
from tocsin.spark.numbered_tasks import each_number, numbers

if TYPE_CHECKING:
    from tocsin.events.slices import Slice
    from tocsin.history.statistics.history import History
    from tocsin.history.statistics.statistics_folder import Contents
    from tocsin.spark.event_columns import Layout

Path = tuple[str, ...]
Batches = Iterable[Any]
"""Of pyarrow, which is not loaded with this module: see the package."""

SKETCH = 64
"""Hashes in a sketch unless told otherwise: the share of two words' documents is off by an eighth or so."""

LEAST_SKETCH, LARGEST_SKETCH = 8, 4096

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
    from tocsin.spark.event_columns import ship_columns

    if not isinstance(history, DataFrame):
        raise UsageError(f"statistics takes a Spark DataFrame, not {type(history).__name__}")
    if history.isStreaming:
        raise UsageError(
            "statistics are counted of a history that has an end, and this DataFrame is a stream"
        )
    every, texts = fields_of(history.schema)
    job = _Job.plan(path, every, texts, text=text, sketch=sketch, merge=merge, only=fields, part=part)
    if job.is_done:
        return _already(job)
    needed, shipment = ship_columns(history, job.looked_at, ())
    task = _table_task(job, shipment.layout)
    return _count(history.sparkSession, job, lambda: needed.mapInArrow(task, PARTIAL_COLUMNS))


def statistics_of_slices(
    session: SparkSession,
    slices: Sequence[Slice],
    path: str | os.PathLike[str],
    *,
    text: Sequence[str] | None = None,
    sketch: int | None = None,
    merge: bool = False,
    part: str | None = None,
) -> History:
    """The same of event files, which the tasks read as `tocsin match` reads them.

    Records that are no events are left out, and `rejects` of the result tells how many.
    """
    located = [replace(piece, file=os.path.abspath(piece.file)) for piece in slices]  # noqa: PTH100
    fields, texts = _fields_of_slices(session, located)
    job = _Job.plan(path, fields, texts, text=text, sketch=sketch, merge=merge, part=part)
    if job.is_done:
        return _already(job)
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
    from tocsin.events.kinds import Kind
    from tocsin.events.schema import ANY_KIND, Schema

    schemas = [Schema.of_slice(piece) for piece in _one_of_each_file(slices) if piece.format != "jsonl"]
    lines = [piece for piece in slices if piece.format == "jsonl"]
    found = {path: kinds for schema in schemas for path, kinds in schema.kinds.items()}
    texts = {path for path, kinds in found.items() if Kind.STRING in kinds and kinds != ANY_KIND}
    if lines:
        told = numbers(session, len(lines)).mapInArrow(
            _schema_task(lines), "path array<string>, text boolean"
        )
        rows = _run(told.distinct().collect)
        found |= {tuple(row.path): ANY_KIND for row in rows}
        texts |= {tuple(row.path) for row in rows if row.text}
    return sorted(found), sorted(texts)


def _one_of_each_file(slices: Sequence[Slice]) -> list[Slice]:
    return list({piece.file: piece for piece in slices}.values())


def _named(option: str, named: Sequence[str | Sequence[str]]) -> list[Path]:
    """The fields that the user names."""
    from tocsin.conditions.language.field_names import field_asked

    if isinstance(named, str):
        raise UsageError(f"{option} takes a list of fields")
    return [field_asked(field) if isinstance(field, str) else tuple(field) for field in named]


# ---- The job


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be counted, and where it goes. Made to be pickled.

    fields      all fields, those of the version before first: a place here is a field's number
    looked_at   those of them that are counted in this run
    text        the numbers of the fields whose words are counted in this run
    before      what the folder holds, None when that is to be replaced
    part        the name of this part of the history, if it has one
    """

    folder: FilePath
    fields: tuple[Path, ...]
    looked_at: tuple[Path, ...]
    text: tuple[int, ...]
    sketch: int
    version: int
    before: Contents | None
    part: str | None

    @property
    def is_done(self) -> bool:
        """Whether the folder holds this part already."""
        return self.before is not None and self.part in self.before.parts

    @staticmethod
    def plan(
        path: str | os.PathLike[str],
        every: Sequence[Path],
        texts: Sequence[Path],
        *,
        text: Sequence[str | Sequence[str]] | None,
        sketch: int | None,
        merge: bool,
        only: Sequence[str | Sequence[str]] | None = None,
        part: str | None = None,
    ) -> _Job:
        """What one run has to do; UsageError and InputError for what it cannot.

        every    the fields that there are; `only` names those that are wanted, keys of maps among them
        texts    those that hold text; `text` names those whose words are to be counted instead
        """
        from tocsin.events.cells import path_text
        from tocsin.history.statistics.statistics_folder import check_folder

        fields = list(every)
        if only is not None:
            columns = {field[0] for field in every}
            fields = [field for field in dict.fromkeys(_named("fields", only)) if field[0] in columns]
        named = [field for field in texts if field in fields] if text is None else _named("text", text)
        for field in named:
            if field not in fields:
                raise UsageError(f"there is no field {path_text(field)!r} to count the words of")
        if part is not None and not isinstance(part, str):
            raise UsageError(f"the name of a part is a text, not {part!r}")
        there = check_folder(path)
        before = there if merge else None
        size = sketch if sketch is not None else SKETCH if before is None else before.sketch
        if not LEAST_SKETCH <= size <= LARGEST_SKETCH:
            raise UsageError(f"a sketch has from {LEAST_SKETCH} to {LARGEST_SKETCH:,} hashes, not {size}")
        if before is not None and before.sketch != size:
            raise UsageError(
                f"the sketches that are there have {before.sketch} hashes: {size} cannot be merged"
            )
        known = tuple(dict.fromkeys([*(before.fields if before is not None else ()), *fields]))
        number = {field: place for place, field in enumerate(known)}
        version = 1 if there is None else there.version + 1
        return _Job(
            FilePath(path).resolve(),
            known,
            tuple(fields),
            tuple(number[field] for field in named),
            size,
            version,
            before,
            part,
        )


def _already(job: _Job) -> History:
    """What the folder holds, when that is all."""
    from tocsin.history.statistics.history import History

    warnings.warn(f"{job.folder}: {job.part!r} is in it already, and not counted again", TocsinWarning, 3)
    return History.open(job.folder)


def _count(session: SparkSession, job: _Job, partials: Callable[[], DataFrame]) -> History:
    """Run the job, and make its result the one that the folder holds."""
    from tocsin.history.statistics.history import History
    from tocsin.history.statistics.statistics_folder import DRAFT, FIELDS, WORDS, write_contents
    from tocsin.history.statistics.task_facts import warm_up

    warm_up()
    unique = f"{job.version}-{uuid.uuid4().hex[:8]}"
    contents = _contents(job, f"{FIELDS}{unique}.parquet", f"{WORDS}{unique}")
    draft = job.folder / f"{DRAFT}{unique}"
    _make(job.folder)
    done = False
    try:
        _run(lambda: partials().write.parquet(to_write(draft)))
        noted = session.read.schema(PARTIAL_COLUMNS).parquet(to_read(draft))
        words = _run(lambda: _write_words(session, job, noted, job.folder / contents.words_folder))
        facts = _run(lambda: _write_facts(job, noted, job.folder / contents.fields_file))
        _check_not_overtaken(job)
        write_contents(job.folder, replace(contents, words=words, **facts))
        done = True
    except TocsinError:
        _check_not_overtaken(job)  # else what it could not read is what another run has taken away
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if not done:
            shutil.rmtree(job.folder / contents.words_folder, ignore_errors=True)
            (job.folder / contents.fields_file).unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                job.folder.rmdir()  # when this run made it, and so it is empty
    return History.open(job.folder)


def _check_not_overtaken(job: _Job) -> None:
    """TocsinError when the folder holds another version than the one that this run goes by."""
    from tocsin.history.statistics.statistics_folder import read_contents

    there = read_contents(job.folder)
    if (0 if there is None else there.version) != job.version - 1:
        raise TocsinError(f"{job.folder}: another run has written here meanwhile: try again")


def _make(folder: FilePath) -> None:
    from tocsin.storage.drafts import PRIVATE_FOLDER

    try:
        folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error


def _contents(job: _Job, fields_file: str, words_folder: str) -> Contents:
    from tocsin.history.statistics.statistics_folder import Contents

    text = sorted({*job.text, *(job.before.text if job.before is not None else ())})
    parts = [*(() if job.before is None else job.before.parts), *(() if job.part is None else [job.part])]
    return Contents(
        version=job.version,
        rows=0,
        rejects=0,
        fields=job.fields,
        text=tuple(text),
        words=0,
        sketch=job.sketch,
        fields_file=fields_file,
        words_folder=words_folder,
        parts=tuple(parts),
    )


def _write_words(session: SparkSession, job: _Job, noted: DataFrame, folder: FilePath) -> int:
    """Put equal words together and write them; how many there are."""
    from tocsin.history.statistics.task_facts import WORD

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


def _write_facts(job: _Job, noted: DataFrame, file: FilePath) -> dict[str, int]:
    """Merge the facts of each field and write them; how many rows and rejects there were."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from tocsin.history.statistics.field_facts import ALL_FIELDS, FACTS, merge_facts
    from tocsin.history.statistics.statistics_folder import read_facts, write_facts
    from tocsin.history.statistics.task_facts import WORD

    def merge_field(facts: pa.Table) -> pa.Table:
        return merge_facts([facts.select(FACTS.names).cast(FACTS)])

    facts = (
        noted.where(F.col("fact") != WORD)
        .drop("sketch")
        .groupBy("field")
        .applyInArrow(merge_field, FACT_COLUMNS)
    )
    merged = [facts.toArrow().cast(FACTS)]
    if job.before is not None:
        merged.append(read_facts(job.folder, job.before))
    whole = merge_facts(merged)
    write_facts(file, whole)
    about = whole.filter(pc.equal(whole.column("field"), ALL_FIELDS))
    said = dict(zip(about.column("fact").to_pylist(), about.column("number").to_pylist(), strict=True))
    return {"rows": said.get("present", 0), "rejects": said.get("rejects", 0)}


def _run(work: Callable[[], Any]) -> Any:
    return on_spark(work, "count the history")


# ---- What runs in the workers


def _table_task(job: _Job, layout: Layout) -> Any:
    fields, text, sketch, run = job.fields, job.text, job.sketch, job.version

    def note(batches: Batches) -> Iterator[Any]:
        from pyspark import TaskContext

        from tocsin.history.statistics.task_facts import Partials
        from tocsin.spark.match_worker import cells_of_batch

        context = TaskContext.get()
        partials = Partials(fields, text, sketch, run, 0 if context is None else context.partitionId())
        for batch in batches:
            yield from partials.add(cells_of_batch(fields, layout, batch))
        yield from partials.rest()

    return note


def _slice_task(job: _Job, slices: Sequence[Slice]) -> Any:
    fields, text, sketch, run = job.fields, job.text, job.sketch, job.version

    def note(batches: Batches) -> Iterator[Any]:
        from tocsin.events.event_files import read_slice
        from tocsin.history.statistics.task_facts import Partials

        for number in each_number(batches):
            partials = Partials(fields, text, sketch, run, number)
            for chunk in read_slice(slices[number], fields):
                partials.rejects += len(chunk.rejects)
                yield from partials.add(chunk.events)
            yield from partials.rest()

    return note


def _schema_task(slices: Sequence[Slice]) -> Any:
    def look(batches: Batches) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.events.kinds import Kind
        from tocsin.events.schema import ANY_KIND, Schema

        for number in each_number(batches):
            kinds = Schema.of_slice(slices[number]).kinds
            paths = pa.array([list(path) for path in kinds], pa.list_(pa.string()))
            text = [Kind.STRING in each and each != ANY_KIND for each in kinds.values()]
            yield pa.record_batch([paths, pa.array(text, pa.bool_())], names=["path", "text"])

    return look
