"""What of a DataFrame goes to the workers: the fields that rules name, the columns to keep, no more.

Names are compared exactly here, on the schema. Spark resolves names without regard to case, takes a
dot for a step into a struct, and refuses columns that share a name; so every column is first renamed
by its place, and Spark is never asked to find one by a name of the user's.

    events     id: bigint   user: struct<age: int, home: struct<...>, raw: binary>   at: timestamp
    rules      user.age > 17 and at is not null                                      keep=["id"]

    shipped    p1: struct<age: int>   c2: timestamp   c0: bigint
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T  # noqa: N812

from tocsin.errors import InputError, UsageError
from tocsin.events import path_text

Path = tuple[str, ...]

TEXTS = (T.StringType, T.CharType, T.VarcharType)
TESTABLE = (T.NumericType, *TEXTS, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType, T.NullType)
"""Types of which a condition can say something; of objects it can say whether they are there."""
PRUNED_LEVELS = 4
"""How deep structs are cut down; what is deeper comes whole. Spark's code grows with the depth squared."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the batches that reach a worker are made up: small, and made to be pickled.

    tested   for each column that rules look at: its name in the batch, and its name in the rules
    kept     for each column to keep: its name in the batch, and its name in the result
    """

    tested: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]


class Shipment(NamedTuple):
    """What is needed of a DataFrame whose columns were renamed by their places (`by_place`).

    columns   to select
    layout    how the batches that reach a worker are made up
    kept      the fields of the columns to keep, as they are named
    """

    columns: list[Column | str]
    layout: Layout
    kept: list[T.StructField]


def ship_columns(
    events: DataFrame, fields: Iterable[Path], keep: Sequence[str]
) -> tuple[DataFrame, Shipment]:
    """The DataFrame cut down to what is needed, and what that is.

    Raises InputError when rules name a column of a type that they cannot test, or of a name that
    two columns have; UsageError when a column to keep does not exist or cannot be kept.
    """
    shipment = plan_shipment(events.schema, fields, keep)
    needed = by_place(events).select(*shipment.columns)
    tested = shipment.layout.tested
    for (_, name), column in zip(tested, needed.schema, strict=False):  # these come first
        _check_shipped(name, column.dataType)
    return needed, shipment


def by_place(events: DataFrame) -> DataFrame:
    """The same columns, named c0, c1, ..."""
    return events.toDF(*(f"c{place}" for place in range(len(events.schema))))


def plan_shipment(schema: T.StructType, fields: Iterable[Path], keep: Sequence[str]) -> Shipment:
    """What is needed of a DataFrame with these columns; raises what ship_columns does, but for one thing.

    Whether what is left of a column can be brought to a worker is seen only when it is selected.
    """
    wanted = _by_first_name(fields)
    shipped: dict[str, Column | str] = {}
    tested: list[tuple[str, str]] = []
    kept: list[tuple[str, str]] = []
    columns_of = Counter(schema.names)
    for place, column in enumerate(schema):
        below = wanted.get(column.name)
        if below is not None:
            _check_tested(column, columns_of[column.name], below)
            name = whole = f"c{place}"
            if _can_prune(column.dataType, below):
                name = f"p{place}"
                shipped[name] = _pruned(F.col(whole), column.dataType, below).alias(name)
            else:
                shipped[name] = whole
            tested.append((name, column.name))
    places = [_place_to_keep(schema, name) for name in keep]
    for place in places:
        shipped[f"c{place}"] = f"c{place}"
        kept.append((f"c{place}", schema[place].name))
    if not shipped:
        shipped["row"] = F.lit(True).alias("row")  # a row counts even when nothing of it is looked at
    layout = Layout(tuple(tested), tuple(kept))
    return Shipment(list(shipped.values()), layout, [schema[place] for place in places])


def _by_first_name(fields: Iterable[Path]) -> dict[str, list[Path]]:
    """The fields by their first name, each as what is left of its path."""
    sorted_out: dict[str, list[Path]] = {}
    for field in fields:
        sorted_out.setdefault(field[0], []).append(field[1:])
    return sorted_out


# ---- Cutting structs down to the members that rules name


def _can_prune(data_type: T.DataType, below: list[Path]) -> bool:
    """Whether it is a struct whose wanted members Spark can be asked for by name."""
    if not isinstance(data_type, T.StructType):
        return False
    wanted = {path[0].lower() for path in below if path}
    found = [member.name.lower() for member in data_type if member.name.lower() in wanted]
    return len(set(found)) == len(found)


def _pruned(column: Column, data_type: T.DataType, below: list[Path], levels: int = PRUNED_LEVELS) -> Column:
    """The column with only the members that the paths lead to, null where it was null."""
    if not levels or not isinstance(data_type, T.StructType) or not _can_prune(data_type, below):
        return column
    members = []
    wanted = _by_first_name(path for path in below if path)
    for member in data_type:
        if member.name in wanted:
            inner = column.getField(member.name)
            pruned = _pruned(inner, member.dataType, wanted[member.name], levels - 1)
            members.append(pruned.alias(member.name))
    return F.when(column.isNotNull(), F.struct(*(members or [F.lit(True).alias("object")])))


# ---- Refusing what cannot be done, before a job starts


def _check_tested(column: T.StructField, count: int, below: list[Path]) -> None:
    if count > 1:
        raise InputError(f"the DataFrame has {count} columns named {path_text((column.name,))}")
    for rest in below:
        _check_field((column.name, *rest), column.dataType)


def _check_shipped(name: str, data_type: T.DataType) -> None:
    """Refuse what is left of a column that rules name when a part of it cannot be brought to a worker."""
    part = part_left_behind(data_type)
    if part is not None:
        raise InputError(
            f"column {path_text((name,))} holds the Spark type {part.simpleString()}, which cannot be brought"
            " to the rules: select the parts that they name"
        )


def _check_field(field: Path, data_type: T.DataType) -> None:
    """Refuse a field that ends at a type that no condition can test; one that is not there is missing."""
    here = _opened(data_type)
    for depth, name in enumerate(field[1:], 1):
        if isinstance(here, T.StructType):
            members = [member for member in here if member.name == name]
            if len(members) > 1:
                owner = path_text(field[:depth])
                raise InputError(f"{owner} has {len(members)} members named {path_text((name,))}")
            if not members:
                return
            here = _opened(members[0].dataType)
        elif isinstance(here, T.MapType):
            if not isinstance(here.keyType, TEXTS):
                keys = here.keyType.simpleString()
                raise InputError(f"{path_text(field[:depth])} is a map with keys of type {keys}, not strings")
            here = _opened(here.valueType)
        elif isinstance(here, T.VariantType):
            break
        else:
            return
    if not isinstance(here, (*TESTABLE, T.StructType, T.MapType)):
        raise InputError(
            f"field {path_text(field)} has the Spark type {here.simpleString()}, which no condition can test"
        )


def _opened(data_type: T.DataType) -> T.DataType:
    """The type of what is in a list, however deep; a user's own type is what it is stored as."""
    while isinstance(data_type, T.ArrayType | T.UserDefinedType):
        data_type = data_type.elementType if isinstance(data_type, T.ArrayType) else data_type.sqlType()
    return data_type


def columns_to_keep(schema: T.StructType) -> list[str]:
    """The columns that can be carried along, of those whose name no other has."""
    columns_of = Counter(schema.names)
    return [
        column.name for column in schema if columns_of[column.name] == 1 and _carried(column.dataType) is None
    ]


def _carried(data_type: T.DataType) -> T.DataType | None:
    """What of a type cannot be carried along, None when all can."""
    parts = types_within(data_type)
    return next((part for part in parts if _stays_behind(part) or _stays_there(part)), None)


def _place_to_keep(schema: T.StructType, name: str) -> int:
    places = [place for place, column in enumerate(schema.names) if column == name]
    if len(places) != 1:
        count = len(places) if places else "no"
        raise UsageError(
            f"cannot keep '{name}': the DataFrame has {count} column{'s' * (len(places) > 1)} of that name"
        )
    part = _carried(schema[places[0]].dataType)
    if part is not None:
        reason = f"the Spark type {part.simpleString()} cannot be carried along"
        raise UsageError(f"cannot keep '{name}': {reason}; cast it, or join the result with the events")
    return places[0]


def part_left_behind(data_type: T.DataType) -> T.DataType | None:
    """What of a type cannot be brought to a worker, or None."""
    return next(filter(_stays_behind, types_within(data_type)), None)


def types_within(data_type: T.DataType) -> Iterator[T.DataType]:
    """The type and all that it is made of."""
    waiting = [data_type]
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, T.StructType):
            waiting += [member.dataType for member in here]
        elif isinstance(here, T.MapType):
            waiting += [here.keyType, here.valueType]
        elif isinstance(here, T.ArrayType):
            waiting.append(here.elementType)
        elif isinstance(here, T.UserDefinedType):
            waiting.append(here.sqlType())


def _stays_behind(data_type: T.DataType) -> bool:
    """Whether it cannot be brought to a worker."""
    if isinstance(data_type, T.StructType):
        return len(set(data_type.names)) < len(data_type.names)
    return isinstance(data_type, T.YearMonthIntervalType | T.CalendarIntervalType)


def _stays_there(data_type: T.DataType) -> bool:
    """Whether it cannot be brought back: nothing but nulls, and a promise that none is null."""
    if isinstance(data_type, T.ArrayType):
        return isinstance(data_type.elementType, T.NullType) and not data_type.containsNull
    return isinstance(data_type, T.MapType) and isinstance(data_type.keyType, T.NullType)
