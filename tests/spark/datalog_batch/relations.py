"""Relations as DataFrames, and back as sets of tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from pyspark.sql import DataFrame, SparkSession

from tocsin import Program
from tocsin.datalog.language import Type, Value
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.syntax import Relation

SPARK_TYPES = {
    Type.NUMBER: "bigint",
    Type.UNSIGNED: "decimal(20,0)",
    Type.FLOAT: "double",
    Type.SYMBOL: "string",
}

Facts = Mapping[str, Iterable[Tuple]]


def frame_of(spark: SparkSession, relation: Relation, tuples: Iterable[Tuple]) -> DataFrame:
    """Tuples of a relation as a user would give them."""
    if not relation.types:
        return spark.range(len(list(tuples))).select()
    rows = [
        tuple(
            Decimal(value) if kind is Type.UNSIGNED else value
            for value, kind in zip(each, relation.types, strict=True)
        )
        for each in tuples
    ]
    names = zip(relation.columns, relation.types, strict=True)
    return spark.createDataFrame(rows, ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in names))


def frames_of(spark: SparkSession, program: Program, facts: Facts) -> dict[str, DataFrame]:
    """Facts by relation."""
    return {name: frame_of(spark, program.relations[name], tuples) for name, tuples in facts.items()}


def tuples_of(found: DataFrame) -> set[Tuple]:
    """The tuples of a relation, which are there once each."""
    rows = [tuple(map(_value, row)) for row in found.collect()]
    assert len(set(rows)) == len(rows)
    return set(rows)


def _value(value: object) -> Value:
    if isinstance(value, Decimal):
        return int(value)
    assert isinstance(value, int | float | str)
    return value
