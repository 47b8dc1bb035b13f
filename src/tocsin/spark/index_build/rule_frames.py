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
from tocsin.rules import Rules, check_names, common_schema, in_common, read_file
from tocsin.spark.event_columns import part_left_behind
from tocsin.spark.numbered_tasks import answers, each_number, numbers
from tocsin.tables import checked_size, row_groups

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
    numbered = numbers(session, len(pieces), _most_tasks(session))
    rows = numbered.mapInArrow(_reading_task(pieces, metadata), _schema(metadata))
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

    def look(number: int) -> str:
        try:
            metadata = _read_piece(pieces[number]).metadata
        except TocsinError as error:
            raise InputError(str(error).replace(pieces[number].path, pieces[number].file)) from None
        return "" if metadata is None else metadata.schema.serialize().to_pybytes().hex()

    said = answers(session, len(pieces), lambda: look, "read the rules", _most_tasks(session))
    return [pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(each))) for each in dict.fromkeys(said) if each]


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
    types = [from_arrow_type(field.type) for field in metadata]
    schema = T.StructType()
    for place, kind in enumerate([T.StringType(), T.StringType(), *types, *_PLACE_TYPES]):
        schema = schema.add(f"c{place}", kind)
    return schema


def _most_tasks(session: SparkSession) -> int:
    return _TASKS_PER_CORE * session.sparkContext.defaultParallelism


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
    count, bad = len(rules), rules.rejected
    of_triggers = sorted(rules.triggers)
    good = [
        rules.ids,
        rules.whens,
        *in_common(rules.metadata, count, metadata).columns,
        pa.repeat(file, count),
        rules.lines,
        rules.columns,
        [rules.aliases.get(row) for row in of_triggers] or [None] * count,
        [rules.refusal(row) for row in of_triggers] or [None] * count,
    ]
    refused = [
        [error.rule for error in bad],
        [error.excerpt for error in bad],
        *(pa.nulls(len(bad), kind) for kind in metadata.types),
        pa.repeat(file, len(bad)),
        [error.line for error in bad],
        [error.column for error in bad],
        [None] * len(bad),
        [error.reason for error in bad],
    ]
    return pa.concat_tables([_table(good, metadata), _table(refused, metadata)])


def _table(columns: Sequence[Any], metadata: pa.Schema) -> pa.Table:
    """Columns in the order of _schema, by number."""
    text = pa.string()
    types = [text, text, *metadata.types, text, pa.int64(), pa.int32(), text, text]
    arrays = [
        pa.array(values, kind) if isinstance(values, list | np.ndarray) else values.cast(kind)
        for values, kind in zip(columns, types, strict=True)
    ]
    return pa.table(arrays, names=[f"c{place}" for place in range(len(arrays))])
