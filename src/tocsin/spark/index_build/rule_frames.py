"""Rules from files as a DataFrame: read by tasks, with the code that reads them without Spark.

    files ── pieces: a file, or a row group of a Parquet file ── one task reads some of them
                                                                  │
    id, when, metadata in the types that suit all files, file~, line~, column~, alias~, reason~

What cannot be a rule is a row too, with its reason, so that all rejects come to one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from tocsin.errors import InputError, TocsinError
from tocsin.spark.failures import on_spark
from tocsin.spark.index_build.rule_order import PLACE_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

    from tocsin.rules.rule_set import Rules

_TASKS_PER_CORE = 4
_ROWS_AT_ONCE = 100_000
_PLACE_TYPES = (StringType(), LongType(), IntegerType(), StringType(), StringType())


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
    rows = _numbers(session, len(pieces)).mapInArrow(_reading_task(pieces, metadata), _schema(metadata))
    return rows.toDF(*names)


def _row_groups(file: Path, schemas: list[Any]) -> Iterator[Piece]:
    """The row groups of a Parquet file, whose metadata's schema is noted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tocsin.events.parquet_sizes import row_groups, unpacked_size
    from tocsin.rules.rule_columns import check_names
    from tocsin.storage.packed_files import check_unpacked, most_unpacked

    try:
        opened = pq.ParquetFile(file)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: not a Parquet file: {error}") from None
    check_names(opened.schema_arrow.names, str(file))
    schemas.append(pa.schema([field for field in opened.schema_arrow if field.name not in ("id", "when")]))
    before = 0
    most = most_unpacked(file.stat().st_size)
    for group in row_groups(file, opened.metadata):
        number = group.group
        try:
            check_unpacked(file, unpacked_size([group], most), most)
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            raise InputError(f"{file}: cannot be read: {error}") from None
        yield Piece(str(file.resolve()), str(file), number, before)
        before += opened.metadata.row_group(number).num_rows


def _schemas_of(session: SparkSession, pieces: Sequence[Piece]) -> list[pa.Schema]:
    """The schemas of the metadata of files that have to be read to know it."""
    import pyarrow as pa

    if not pieces:
        return []

    def look(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for number in _each(batches):
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

    jobs = _numbers(session, len(pieces)).mapInArrow(look, "schema binary, failure string").distinct()
    answers = on_spark(jobs.collect, "read the rules")
    failures = sorted(answer.failure for answer in answers if answer.failure is not None)
    if failures:
        raise InputError(failures[0])
    return [
        pa.ipc.read_schema(pa.py_buffer(answer.schema)) for answer in answers if answer.schema is not None
    ]


def _spark_can_take(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The common schema of metadata; what Spark has no type for is a long when that fits, else text."""
    import pyarrow as pa
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_type

    from tocsin.rules.rule_metadata import common_schema

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


def _schema(metadata: pa.Schema) -> StructType:
    """The columns of what tasks give back: names are the business of whoever gets them."""
    from pyspark.sql.pandas.types import from_arrow_type

    types = [StringType(), StringType(), *(from_arrow_type(field.type) for field in metadata), *_PLACE_TYPES]
    schema = StructType()
    for place, kind in enumerate(types):
        schema = schema.add(f"c{place}", kind)
    return schema


def _numbers(session: SparkSession, count: int) -> DataFrame:
    """Numbers of pieces, neighbours in one task when there are many."""
    tasks = min(count, _TASKS_PER_CORE * session.sparkContext.defaultParallelism)
    return session.range(0, count, 1, numPartitions=max(1, tasks))


# ---- What runs in the workers


def _reading_task(pieces: Sequence[Piece], metadata: pa.Schema) -> Any:
    def read(batches: Iterable[Any]) -> Iterator[Any]:
        for number in _each(batches):
            piece = pieces[number]
            rows = rows_of_rules(_read_piece(piece), piece.file, metadata)
            yield from rows.to_batches(max_chunksize=_ROWS_AT_ONCE)

    return read


def _each(batches: Iterable[Any]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _read_piece(piece: Piece) -> Rules:
    import numpy as np
    import pyarrow.parquet as pq

    from tocsin.rules.rule_files import read_file
    from tocsin.rules.rule_set import Rules

    if piece.row_group is None:
        return read_file(Path(piece.path))
    table = pq.ParquetFile(piece.path).read_row_group(piece.row_group)
    lines = np.arange(piece.before + 1, piece.before + 1 + table.num_rows, dtype=np.int64)
    return Rules.of_table(table, file=piece.file, lines=lines)


def rows_of_rules(rules: Rules, file: str, metadata: pa.Schema) -> pa.Table:
    """The rules of a file, and what was rejected there, as rows that say where they come from."""
    import pyarrow as pa

    from tocsin.rules.rule_metadata import in_common
    from tocsin.rules.rule_set import SEVERAL_TABLES

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
    import pyarrow as pa

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
