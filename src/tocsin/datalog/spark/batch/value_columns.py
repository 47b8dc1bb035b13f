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
from pyspark.sql import types as T  # noqa: N812

from tocsin.datalog.language.syntax import Relation, Type, Value
from tocsin.errors import InputError
from tocsin.printable import number_of

FAILURE = "failure"
"""The column that says why a row is none; null in all others."""

UNSIGNED = T.DecimalType(20, 0)
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_WORDS = 2**64
_INSIDE: dict[Type, T.DataType] = {
    Type.NUMBER: T.LongType(),
    Type.UNSIGNED: T.LongType(),
    Type.FLOAT: T.DoubleType(),
    Type.SYMBOL: T.StringType(),
}


class Columns(NamedTuple):
    """The columns of a relation inside: their types, one at least."""

    types: tuple[Type, ...]

    @property
    def names(self) -> list[str]:
        """c0, c1, ..."""
        return [f"c{place}" for place in range(len(self.types))]

    @property
    def schema(self) -> T.StructType:
        """As Spark declares them."""
        pairs = zip(self.names, self.types, strict=True)
        return T.StructType([T.StructField(name, _INSIDE[kind]) for name, kind in pairs])

    @property
    def failing_schema(self) -> T.StructType:
        """The same with the column of failures behind."""
        return self.schema.add(FAILURE, T.StringType())


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
            f"{relation.name} has {number_of(len(relation.columns), 'column')}, and the DataFrame "
            f"{number_of(len(given.columns), 'column')}"
        )
    if not relation.columns:
        return without_failure(given.select(F.lit(0).cast("bigint").alias("c0")))
    names = given.columns
    by_name = sorted(names) == sorted(relation.columns) and len(set(names)) == len(names)
    order = [names.index(name) for name in relation.columns] if by_name else range(len(names))
    renamed = given.toDF(*[f"g{place}" for place in range(len(names))])
    found: list[Column] = []
    failures: list[Column] = []
    for number, (place, name, kind) in enumerate(zip(order, relation.columns, relation.types, strict=True)):
        column, given_kind = F.col(f"g{place}"), given.schema[place].dataType
        value, failure = _taken(column, given_kind, kind, f"{relation.name}.{name}")
        failures.append(failure)
        found.append(F.when(failure.isNull(), value).alias(f"c{number}"))
    return renamed.select(*found, F.coalesce(*failures).alias(FAILURE))


def given_back(inner: DataFrame, relation: Relation) -> DataFrame:
    """Columns inside as the user sees them."""
    shown = []
    for place, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True)):
        column = F.col(f"c{place}")
        shown.append((whole_number(column, kind) if kind is Type.UNSIGNED else column).alias(name))
    return inner.select(*shown)


def _taken(column: Column, given: T.DataType, kind: Type, name: str) -> tuple[Column, Column]:
    """What becomes of a column: its values, and why there is none, null where there is."""
    missing = F.when(column.isNull(), F.lit(f"{name}: a row has no value"))
    if kind is Type.SYMBOL and isinstance(given, T.StringType | T.CharType | T.VarcharType):
        text = F.collate(column, "UTF8_BINARY")
        wrong = missing.when(~F.is_valid_utf8(text), F.lit(f"{name}: a row is not valid UTF-8"))
        return text, wrong
    if kind is Type.FLOAT and isinstance(given, T.DoubleType | T.FloatType | T.IntegralType):
        number = column.cast("double")
        wrong = missing.when(F.isnan(number), F.lit(f"{name}: a row is NaN, which no float here can be"))
        return number + F.lit(0.0), wrong
    whole = isinstance(given, T.IntegralType) or (isinstance(given, T.DecimalType) and given.scale == 0)
    if kind in (Type.NUMBER, Type.UNSIGNED) and whole:
        least, most = (0, _WORDS - 1) if kind is Type.UNSIGNED else (_SMALLEST, _LARGEST)
        fits = column.between(_decimal(least), _decimal(most))
        said = column.cast("string")
        out_of_range = F.concat(F.lit(f"{name}: a row holds "), said, F.lit(": out of range"))
        return _bits(column, given, kind), missing.when(~fits, out_of_range)
    raise InputError(f"{name} is {kind.value}, and the DataFrame's column {given.simpleString()}")


def _bits(column: Column, given: T.DataType, kind: Type) -> Column:
    """An integer that is in range as its 64 bits."""
    if isinstance(given, T.IntegralType) or kind is Type.NUMBER:
        return column.cast("bigint")
    number = column.cast(UNSIGNED)
    return F.when(number <= _decimal(_LARGEST), number).otherwise(number - _decimal(_WORDS)).cast("bigint")


def whole_number(column: Column, kind: Type) -> Column:
    """A number or an unsigned as a decimal."""
    number = column.cast(UNSIGNED)
    if kind is not Type.UNSIGNED:
        return number
    return F.when(column >= 0, number).otherwise((number + _decimal(_WORDS)).cast(UNSIGNED))


def _decimal(number: int) -> Column:
    return F.lit(Decimal(number))


def without_failure(data: DataFrame) -> DataFrame:
    """Rows that have no failure, with the column that says so."""
    return data.withColumn(FAILURE, F.lit(None).cast("string"))
