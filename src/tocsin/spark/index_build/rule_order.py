"""Rules as a DataFrame: checked before any job starts, and put in the order of their ids.

    id: int   when: string   owner: string          what the user has
    c0: string   c1: string   c2: string   place     what goes to the workers, sorted by c0 and place

Rules that have one id come together in one partition, next to each other, in the order of the DataFrame. Null
ids come first; they are no rules, and somebody has to say so.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame
from pyspark.sql.types import CharType, IntegralType, NullType, StringType, StructField, VarcharType

from tocsin.errors import InputError, UsageError

TEXTS = (StringType, CharType, VarcharType, NullType)
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
    from tocsin.rules.rule_columns import check_names

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


def _check_type(column: StructField) -> None:
    """Refuse a type that the column may not have."""
    from tocsin.spark.event_columns import part_left_behind

    kind = column.dataType
    if column.name == "id" and not isinstance(kind, (*TEXTS, IntegralType)):
        raise InputError(f"the column 'id' holds {kind.simpleString()}: expected strings or integers")
    if column.name == "when" and not isinstance(kind, TEXTS):
        raise InputError(f"the column 'when' holds {kind.simpleString()}: expected strings")
    left = part_left_behind(kind)
    if left is not None:
        raise InputError(
            f"the column {column.name!r} holds the Spark type {left.simpleString()}, which cannot be kept:"
            " cast it, or leave it out"
        )
