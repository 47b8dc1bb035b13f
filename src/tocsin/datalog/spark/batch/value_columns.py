"""Values of a program as columns of Spark, and the DataFrames that users give and get.

    type        column inside       column of a user                    given may be also
    number      bigint              bigint                              any integer, decimal without places
    unsigned    bigint, its bits    decimal(20,0)                       any integer, decimal without places
    float       double              double                              float, any integer
    symbol      string              string

Inside, the columns of a relation are c0, c1, ...; a relation without columns has one that is always 0, so
that every relation has something to join by. A float is never -0.0 and never NaN, and nothing is null: what a
user gives is looked at once, in the job that stores it, and a row that is none gets a `failure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  the name that everybody knows
from pyspark.sql.types import (
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LongType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from tocsin.datalog.language.syntax import Relation, Type, Value
from tocsin.errors import InputError

FAILURE = "failure"
"""The column that says why a row is none; null in all others."""

UNSIGNED = DecimalType(20, 0)
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_WORDS = 2**64
_INSIDE: dict[Type, DataType] = {
    Type.NUMBER: LongType(),
    Type.UNSIGNED: LongType(),
    Type.FLOAT: DoubleType(),
    Type.SYMBOL: StringType(),
}


class Columns(NamedTuple):
    """The columns of a relation inside: their types, one at least."""

    types: tuple[Type, ...]

    @property
    def names(self) -> list[str]:
        """c0, c1, ..."""
        return [f"c{place}" for place in range(len(self.types))]

    @property
    def schema(self) -> StructType:
        """As Spark declares them."""
        pairs = zip(self.names, self.types, strict=True)
        return StructType([StructField(name, _INSIDE[kind]) for name, kind in pairs])

    @property
    def failing_schema(self) -> StructType:
        """The same with the column of failures behind."""
        return self.schema.add(FAILURE, StringType())


def columns_inside(types: Sequence[Type]) -> Columns:
    """The columns of a relation of these types."""
    return Columns(tuple(types) or (Type.NUMBER,))


def word_type(kind: Type) -> Type:
    """The type whose values are the ones inside: an unsigned is its bits, which are a number's."""
    return Type.NUMBER if kind is Type.UNSIGNED else kind


def inside(value: Value, kind: Type) -> Value:
    """A value of a program as a column holds it."""
    if kind is Type.UNSIGNED:
        bits = int(value)
        return bits if bits <= _LARGEST else bits - _WORDS
    return float(value) + 0.0 if kind is Type.FLOAT else value


def constant(value: Value, kind: Type) -> Column:
    """A value of a program as a column."""
    return F.lit(inside(value, kind)).cast(_INSIDE[kind])


def ordered(column: Column, kind: Type) -> Column:
    """A column that is ordered as the values of this type are: the bits of an unsigned are not."""
    return column.bitwiseXOR(F.lit(_SMALLEST)) if kind is Type.UNSIGNED else column


def taken(relation: Relation, given: DataFrame) -> DataFrame:
    """A user's DataFrame as columns inside and a failure.

    Columns go by name if the names are those declared, else by position. Raises InputError when it
    cannot be this relation, whatever its rows are.
    """
    if len(given.columns) != len(relation.columns):
        raise InputError(
            f"{relation.name} has {_count(len(relation.columns))}, and the DataFrame "
            f"{_count(len(given.columns))}"
        )
    if not relation.columns:
        return given.select(F.lit(0).cast(LongType()).alias("c0"), _no_failure())
    by_name = sorted(given.columns) == sorted(relation.columns) and len(set(given.columns)) == len(
        given.columns
    )
    order = [given.columns.index(name) for name in relation.columns] if by_name else range(len(given.columns))
    fields = [given.schema.fields[place] for place in order]
    renamed = given.toDF(*[f"g{place}" for place in range(len(given.columns))])
    found: list[Column] = []
    failures: list[Column] = []
    for number, (place, name, kind) in enumerate(zip(order, relation.columns, relation.types, strict=True)):
        taken_column = _taken(F.col(f"g{place}"), fields[number].dataType, kind, f"{relation.name}.{name}")
        failures.append(taken_column.failure)
        found.append(F.when(taken_column.failure.isNull(), taken_column.value).alias(f"c{number}"))
    return renamed.select(*found, F.coalesce(*failures).alias(FAILURE))


def given_back(inner: DataFrame, relation: Relation) -> DataFrame:
    """Columns inside as the user sees them."""
    return inner.select(
        *[
            (whole_number(F.col(f"c{place}"), kind) if kind is Type.UNSIGNED else F.col(f"c{place}")).alias(
                name
            )
            for place, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True))
        ]
    )


class _Taken(NamedTuple):
    """What becomes of a column: its values, and why there is none, null where there is."""

    value: Column
    failure: Column


def _taken(column: Column, given: DataType, kind: Type, name: str) -> _Taken:
    missing = F.when(column.isNull(), F.lit(f"{name}: a row has no value"))
    if kind is Type.SYMBOL and isinstance(given, StringType | CharType | VarcharType):
        text = F.collate(column, "UTF8_BINARY")
        wrong = missing.when(~F.is_valid_utf8(text), F.lit(f"{name}: a row is not valid UTF-8"))
        return _Taken(text, wrong)
    if kind is Type.FLOAT and isinstance(given, DoubleType | FloatType | IntegralType):
        number = column.cast(DoubleType())
        wrong = missing.when(F.isnan(number), F.lit(f"{name}: a row is NaN, which no float here can be"))
        return _Taken(number + F.lit(0.0), wrong)
    whole = isinstance(given, IntegralType) or (isinstance(given, DecimalType) and given.scale == 0)
    if kind in (Type.NUMBER, Type.UNSIGNED) and whole:
        least, most = (0, _WORDS - 1) if kind is Type.UNSIGNED else (_SMALLEST, _LARGEST)
        fits = column.between(_decimal(least), _decimal(most))
        out_of_range = F.concat(
            F.lit(f"{name}: a row holds "), column.cast("string"), F.lit(": out of range")
        )
        return _Taken(_bits(column, given, kind), missing.when(~fits, out_of_range))
    raise InputError(f"{name} is {kind.value}, and the DataFrame's column {given.simpleString()}")


def _bits(column: Column, given: DataType, kind: Type) -> Column:
    """An integer that is in range as its 64 bits."""
    if isinstance(given, IntegralType):
        return column.cast(LongType())
    if kind is Type.NUMBER:
        return column.cast(LongType())
    number = column.cast(UNSIGNED)
    return F.when(number <= _decimal(_LARGEST), number).otherwise(number - _decimal(_WORDS)).cast(LongType())


def whole_number(column: Column, kind: Type) -> Column:
    """A number or an unsigned as a decimal."""
    number = column.cast(UNSIGNED)
    if kind is not Type.UNSIGNED:
        return number
    return F.when(column >= 0, number).otherwise((number + _decimal(_WORDS)).cast(UNSIGNED))


def _decimal(number: int) -> Column:
    return F.lit(Decimal(number))


def _no_failure() -> Column:
    return F.lit(None).cast(StringType()).alias(FAILURE)


def without_failure(data: DataFrame) -> DataFrame:
    """Rows that have no failure, with the column that says so."""
    return data.withColumn(FAILURE, F.lit(None).cast(StringType()))


def _count(number: int) -> str:
    return f"{number} column" if number == 1 else f"{number} columns"
