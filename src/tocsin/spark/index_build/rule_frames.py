"""Rules as a DataFrame: checked before any job starts, and put in the order of their ids; or read from files.

    id: int   when: string   owner: string          what the user has
    c0: string   c1: string   c2: string   place     what goes to the workers, sorted by c0 and place

Rules that have one id come together in one partition, next to each other, in the order of the DataFrame. Null
ids come first; they are no rules, and somebody has to say so.

    files ── pieces: a file, or a row group of a Parquet file ── one task reads some of them
                                                                  │
    id, when, metadata in the types that suit all files, file~, line~, column~, alias~, reason~

Files are read by tasks, with the code that reads them without Spark. What cannot be a rule is a row too, with
its reason, so that all rejects come to one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_type

from tocsin.errors import InputError, TocsinError, UsageError
from tocsin.rules.rule_columns import check_names
from tocsin.rules.rule_files import read_file
from tocsin.rules.rule_metadata import common_schema, in_common
from tocsin.rules.rule_set import SEVERAL_TABLES, Rules
from tocsin.spark.event_columns import part_left_behind
from tocsin.spark.failures import on_spark
from tocsin.spark.numbered_tasks import each_number, numbers
from tocsin.tables.parquet_files import checked_size, row_groups

_TASKS_PER_CORE = 4
_ROWS_AT_ONCE = 100_000
_PLACE_TYPES = (T.StringType(), T.LongType(), T.IntegerType(), T.StringType(), T.StringType())
TEXTS = (T.StringType, T.CharType, T.VarcharType, T.NullType)
PLACE_COLUMNS = ("file", "line", "column", "alias", "reason")
"""Where a row comes from, as index.blocks.rows has it; the names that these columns have end in `~`."""


@dataclass(frozen=True, slots=True)
class RuleRows:
    """Rules on their way to the workers.

    frame      sorted within its partitions, which are in order too
    names      the columns' names, as the index will have them
    has_places whether the columns of PLACE_COLUMNS follow
    """

    frame: DataFrame
    names: tuple[str, ...]
    has_places: bool


def check_frame(rules: object) -> None:
    """UsageError for what is no batch DataFrame."""
    if not isinstance(rules, DataFrame):
        raise UsageError(f"build takes a Spark DataFrame, not {type(rules).__name__}")
    if rules.isStreaming:
        raise UsageError("a streaming DataFrame has no end: an index is built of a batch DataFrame")


def rule_rows(rules: DataFrame, partitions: int) -> RuleRows:
    """Check the columns of a DataFrame of rules, and sort it by id.

    Raises InputError when `id` or `when` is missing, of another type or there twice, and for a column that
    cannot be brought to the workers.
    """
    places = [f"{name}~" for name in PLACE_COLUMNS]
    has_places = rules.columns[-len(places) :] == places
    names = rules.columns[: -len(places)] if has_places else rules.columns
    check_names(names)
    for column in rules.schema.fields[: len(names)]:
        _check_type(column)
    columns = [f"c{place}" for place in range(len(names))] + (places if has_places else [])
    renamed = rules.toDF(*columns)
    wanted = sorted(
        range(len(names)), key=lambda place: (names[place] not in ("id", "when"), names[place] == "when")
    )
    id_column, when_column = f"c{wanted[0]}", f"c{wanted[1]}"
    order = "row~"
    sorted_rows = (
        renamed.select(
            F.col(id_column).cast("string").alias(id_column),
            F.col(when_column).cast("string").alias(when_column),
            *(f"c{place}" for place in wanted[2:]),
            *(places if has_places else []),
            F.monotonically_increasing_id().alias(order),
        )
        .repartitionByRange(partitions, id_column)
        .sortWithinPartitions(id_column, order)
        .drop(order)
    )
    return RuleRows(sorted_rows, tuple(names[place] for place in wanted), has_places)


def _check_type(column: T.StructField) -> None:
    """Refuse a type that the column may not have."""
    kind = column.dataType
    if column.name == "id" and not isinstance(kind, (*TEXTS, T.IntegralType)):
        raise InputError(f"the column 'id' holds {kind.simpleString()}: expected strings or integers")
    if column.name == "when" and not isinstance(kind, TEXTS):
        raise InputError(f"the column 'when' holds {kind.simpleString()}: expected strings")
    left = part_left_behind(kind)
    if left is not None:
        raise InputError(
            f"the column {column.name!r} holds the Spark type {left.simpleString()}, which cannot be kept:"
            " cast it, or leave it out"
        )


# ---- Rules of files


class Piece(NamedTuple):
    """A file, or of a Parquet file one row group, which so many rows come before.

    path    where any worker finds it; file is what the user calls it
    """

    path: str
    file: str
    row_group: int | None = None
    before: int = 0


def rules_of_files(session: SparkSession, files: Sequence[Path]) -> DataFrame:
    """The rules of files, in their order, for build.build_index; InputError for a file that is no good."""
    pieces: list[Piece] = []
    schemas: list[Any] = []
    others: list[Piece] = []
    for file in files:
        if file.name.lower().endswith(".parquet"):
            pieces += _row_groups(file, schemas)
        else:
            others.append(Piece(str(file.resolve()), str(file)))
            pieces.append(others[-1])
    metadata = _spark_can_take([*schemas, *_schemas_of(session, others)])
    names = ["id", "when", *metadata.names, *(f"{name}~" for name in PLACE_COLUMNS)]
    rows = _numbers(session, pieces).mapInArrow(_reading_task(pieces, metadata), _schema(metadata))
    return rows.toDF(*names)


def _row_groups(file: Path, schemas: list[Any]) -> Iterator[Piece]:
    """The row groups of a Parquet file, whose metadata's schema is noted."""
    try:
        opened = pq.ParquetFile(file)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: not a Parquet file: {error}") from None
    check_names(opened.schema_arrow.names, str(file))
    schemas.append(pa.schema([field for field in opened.schema_arrow if field.name not in ("id", "when")]))
    before = 0
    for group in row_groups(file, opened.metadata):
        number = group.group
        try:
            checked_size(file, [group])
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise InputError(f"{file}: cannot be read: {error}") from None
        yield Piece(str(file.resolve()), str(file), number, before)
        before += opened.metadata.row_group(number).num_rows


def _schemas_of(session: SparkSession, pieces: Sequence[Piece]) -> list[pa.Schema]:
    """The schemas of the metadata of files that have to be read to know it."""
    if not pieces:
        return []

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        for number in each_number(batches):
            schema, failure = None, None
            try:
                rules = _read_piece(pieces[number])
                schema = None if rules.metadata is None else rules.metadata.schema.serialize().to_pybytes()
            except TocsinError as error:
                failure = str(error).replace(pieces[number].path, pieces[number].file)
            yield pa.record_batch(
                [pa.array([schema], pa.binary()), pa.array([failure], pa.string())],
                names=["schema", "failure"],
            )

    jobs = _numbers(session, pieces).mapInArrow(look, "schema binary, failure string").distinct()
    answers = on_spark(jobs.collect, "read the rules")
    failures = sorted(answer.failure for answer in answers if answer.failure is not None)
    if failures:
        raise InputError(failures[0])
    return [
        pa.ipc.read_schema(pa.py_buffer(answer.schema)) for answer in answers if answer.schema is not None
    ]


def _spark_can_take(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The common schema of metadata; what Spark has no type for is a long when that fits, else text."""
    fields = []
    for field in common_schema(schemas):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_unsigned_integer(kind) and kind.bit_width < 64:
            kind = pa.int64()
        try:
            from_arrow_type(kind)
        except PySparkTypeError:
            kind = pa.large_string()
        fields.append((field.name, pa.large_string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


def _schema(metadata: pa.Schema) -> T.StructType:
    """The columns of what tasks give back: names are the business of whoever gets them."""
    types = [
        T.StringType(),
        T.StringType(),
        *(from_arrow_type(field.type) for field in metadata),
        *_PLACE_TYPES,
    ]
    schema = T.StructType()
    for place, kind in enumerate(types):
        schema = schema.add(f"c{place}", kind)
    return schema


def _numbers(session: SparkSession, pieces: Sequence[Piece]) -> DataFrame:
    return numbers(session, len(pieces), _TASKS_PER_CORE * session.sparkContext.defaultParallelism)


# ---- What runs in the workers


def _reading_task(pieces: Sequence[Piece], metadata: pa.Schema) -> Any:
    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for number in each_number(batches):
            piece = pieces[number]
            rows = rows_of_rules(_read_piece(piece), piece.file, metadata)
            yield from rows.to_batches(max_chunksize=_ROWS_AT_ONCE)

    return read


def _read_piece(piece: Piece) -> Rules:
    if piece.row_group is None:
        return read_file(Path(piece.path))
    table = pq.ParquetFile(piece.path).read_row_group(piece.row_group)
    lines = np.arange(piece.before + 1, piece.before + 1 + table.num_rows, dtype=np.int64)
    return Rules.of_table(table, file=piece.file, lines=lines)


def rows_of_rules(rules: Rules, file: str, metadata: pa.Schema) -> pa.Table:
    """The rules of a file, and what was rejected there, as rows that say where they come from."""
    count = len(rules)
    several = [SEVERAL_TABLES if rules.has_several_tables(row) else None for row in sorted(rules.triggers)]
    aliases = [rules.aliases.get(row) for row in sorted(rules.triggers)]
    good = _table(
        rules.ids,
        rules.whens,
        in_common(rules.metadata, count, metadata).columns,
        file,
        rules.lines,
        rules.columns,
        aliases or [None] * count,
        several or [None] * count,
    )
    bad = rules.rejected
    if not bad:
        return good
    refused = _table(
        [error.rule for error in bad],
        [error.excerpt for error in bad],
        [pa.nulls(len(bad), field.type) for field in metadata],
        file,
        [error.line for error in bad],
        [error.column for error in bad],
        [None] * len(bad),
        [error.reason for error in bad],
    )
    return pa.concat_tables([good, refused])


def _table(
    ids: Any,
    whens: Any,
    metadata: Sequence[Any],
    file: str,
    lines: Any,
    columns: Any,
    aliases: Any,
    reasons: Any,
) -> pa.Table:
    """Columns in the order of _schema, by number."""
    text = pa.string()
    whole = [
        pa.array(ids).cast(text),
        pa.array(whens).cast(text),
        *metadata,
        pa.repeat(pa.scalar(file, text), len(ids)),
        pa.array(lines, pa.int64()),
        pa.array(columns, pa.int32()),
        pa.array(aliases, text),
        pa.array(reasons, text),
    ]
    return pa.table(whole, names=[f"c{place}" for place in range(len(whole))])
