"""Every type of Spark's: the same answers as without Spark, or a clear error before a job starts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StructType, UserDefinedType
from tests.cases import Event, make_rule_set, names_below
from tests.spark.answers import rows_by_meaning, rows_of
from tests.typed_tables import is_list, make_type, make_typed_value

import tocsin
import tocsin.spark as ts
from tocsin import Index
from tocsin.conditions.language import Condition, Predicate, print_condition
from tocsin.errors import InputError, UsageError

ZONES = ("America/New_York", "Asia/Kolkata")
"""Of the session: an instant is the same instant in all of them."""

POINT = "X'0101000000000000000000F03F0000000000000040'"
"""As well-known binary."""

MIDNIGHT = "timestamp '2020-01-01T00:00:00Z'"

VALUES = {
    "byte": "cast(-128 as tinyint)",
    "short": "cast(300 as smallint)",
    "int": "-7",
    "long": "9007199254740993",
    "float": "cast(0.1 as float)",
    "double": "0.1D",
    "nan": "cast('NaN' as double)",
    "inf": "cast('Infinity' as float)",
    "dec": "cast('0.1' as decimal(38, 18))",
    "dec5": "cast('-1.10' as decimal(5, 2))",
    "dec38": "cast('99999999999999999999999999999999999999' as decimal(38, 0))",
    "tiny": "cast('0.00000000000000000000000000000000000001' as decimal(38, 38))",
    "text": "'héllo'",
    "nothing": "''",
    "varchar": "cast('abc' as varchar(5))",
    "char": "cast('abc' as char(5))",
    "collated": "'ABC' collate utf8_lcase",
    "collations": "array('x' collate unicode_ci)",
    "bool": "false",
    "date": "date '2020-01-01'",
    "old": "date '0001-01-01'",
    "at": "cast('2019-12-31T19:00:00-05:00' as timestamp)",
    "wall": "timestamp_ntz '2020-01-01 00:00:00'",
    "micro": "timestamp_ntz '2020-01-01 00:00:00.000001'",
    "when": "'2020-01-01T05:30:00+05:30'",
    "ip": "'10.1.2.3'",
    "ints": "array(1, null, 5)",
    "none": "cast(array() as array<int>)",
    "nulls": "array(cast(null as int))",
    "nested": "array(array(1, 2), null, array(3))",
    "times": "array(cast('2020-01-01T00:00:00Z' as timestamp))",
    "items": "cast(array(named_struct('price', 1.5D, 'tags', array('a', 'b')), null,"
    " named_struct('price', 2.5D, 'tags', null)) as array<struct<price: double, tags: array<string>>>)",
    "gone": "array(named_struct('price', cast(null as int)))",
    "s": "named_struct('a', 1, 'in', named_struct('b', 'x',"
    " 'at', cast('2020-01-01T00:00:00Z' as timestamp)))",
    "map": "map('a', 1, 'b c', 2, 'n', null)",
    "maps": "cast(map('k', named_struct('v', array(7)), 'd', null) as map<string, struct<v: array<int>>>)",
    "inside": "named_struct('m', map('k', date '2020-01-01'))",
    "numbered": "map(1, 'a')",
    "void": "null",
    "voids": "array(null)",
    "no_int": "cast(null as int)",
    "no_struct": "cast(null as struct<a: int>)",
}
TRUE = [
    "byte = -128 and byte < 0",
    "short = 300 and int = -7 and int in (1, -7)",
    "long = 9007199254740993 and long > 9007199254740992 and long != 9007199254740992",
    "float > 0.1 and float != 0.1 and float < 0.100000002",
    "double = 0.1 and double between 0.1 and 0.1",
    "nan is null and inf > 1e308",
    "dec = 0.1 and dec5 = -1.1 and dec38 > 9223372036854775807 and dec38 < 1e38",
    "tiny > 0 and tiny < 1e-37 and tiny = 1e-38",
    "text = 'héllo' and text like 'h_llo' and text ilike 'HÉ%' and text matches '^h.l+o$'",
    "nothing = '' and nothing is not null and varchar = 'abc' and char like 'abc%'",
    "collated = 'ABC' and collated != 'abc' and collations = 'x' and collations != 'X'",
    "bool = false and not bool",
    f"date = {MIDNIGHT} and date between {MIDNIGHT} and {MIDNIGHT}",
    "old = timestamp '0001-01-01T00:00:00Z'",
    f"at = {MIDNIGHT} and wall = {MIDNIGHT} and when = {MIDNIGHT} and times = {MIDNIGHT}",
    f"micro > {MIDNIGHT} and micro = timestamp '2020-01-01T00:00:00.000001Z'",
    "cidr(ip, '10.0.0.0/8')",
    "ints = 5 and ints = 1 and ints is not null and ints != 2 and ints not in (7, 8)",
    "none is not null and not none = 5 and nulls is not null and nulls != 1",
    "nested = 2 and nested = 3 and nested != 4",
    "items is not null and items.price = 1.5 and items.price > 2 and items.tags = 'b' and items.nope is null",
    "gone is not null and gone.price is null",
    f"s is not null and s.a = 1 and s.in.b = 'x' and s.in.at = {MIDNIGHT}",
    "s.in is not null and s.b is null",
    'map.a = 1 and map."b c" = 2 and map.n is null and map.zz is null and map is not null',
    f"maps.k.v = 7 and maps.d is null and maps.d.v is null and inside.m.k = {MIDNIGHT}",
    "numbered is not null and void is null and voids is not null and no_int is null",
    "no_struct is null and no_struct.a is null and int.deeper is null",
]
UNTRUE = [
    *(f"{name} = 'never'" for name in VALUES if name not in ("none", "nulls", "numbered")),
    "long = 9007199254740992",
    "bool = 0 or int = true or text = 5 or double = '0.1'",
    "s = 1 or map = 1 or numbered = 'a' or items = 1.5",
    "ints != 5 or ints != 1 or nested not between 1 and 2",
    "not nan > 1 or not no_int > 1 or not void = 1",
    "at = timestamp '2019-12-31T19:00:00Z' or wall = timestamp '2020-01-01T05:00:00Z'",
    "none = 1 or none is null or nulls is null",
]


@pytest.fixture(params=ZONES)
def zoned(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The session in another time zone."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def build(rules: list[tuple[str, str]]) -> Index:
    built = tocsin.build(rules)
    assert isinstance(built, Index)
    return built


def test_every_type_that_rules_can_test(zoned: SparkSession) -> None:
    rules = [(when, when) for when in TRUE + UNTRUE]
    index = build(rules)
    events = zoned.sql(f"select {', '.join(f'{value} as `{name}`' for name, value in VALUES.items())}")
    assert rows_of(ts.match(events, index)) == Counter((when,) for when in TRUE)
    table = events.toArrow()
    with pytest.warns(tocsin.TocsinWarning, match=r"int\.deeper, items\.nope, s\.b$"):
        found = index.match_table(table)
    assert isinstance(found, pa.Table)
    assert found.column("rule").to_pylist() == TRUE
    by_meaning = rows_by_meaning(rules, table.to_pylist(maps_as_pydicts="strict"))
    assert by_meaning == Counter((0, when) for when in TRUE)


def test_every_type_can_be_kept(zoned: SparkSession) -> None:
    others = {
        "binary": "X'00ff'",
        "interval": "interval '1 2:03:04' day to second",
        "time": "time '12:34:56'",
        "variant": "parse_json('{\"a\": 1}')",
        "hours": "interval '5' hour",
        "variants": "map('a', parse_json('1'))",
    }
    values = VALUES | others
    events = zoned.sql(f"select {', '.join(f'{value} as `{name}`' for name, value in values.items())}")
    found = ts.match(events, build([("r", "true")]), keep=list(values))
    assert found.schema.fields[:-2] == events.schema.fields
    shown = ", ".join(f"to_json(struct(`{name}`))" for name in values if name != "interval")
    written = [zoned.sql(f"select {shown} from {{rows}}", rows=rows).collect() for rows in (found, events)]
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("value", "field", "shown"),
    [
        ("X'ff'", "c", "binary"),
        ("array(X'ff')", "c", "binary"),
        ("named_struct('a', X'ff')", "c.a", "binary"),
        ("map('a', array(X'ff'))", "c.a", "binary"),
        ("time '12:00:00'", "c", "time(6)"),
        ("interval '1-2' year to month", "c", "interval year to month"),
        ("interval '1 2:03:04' day to second", "c", "interval day to second"),
        ("make_interval(1, 2, 3)", "c", "interval"),
        ("parse_json('1')", "c", "variant"),
        ("array(parse_json('1'))", "c.a.b", "variant"),
        (f"st_geogfromwkb({POINT})", "c", "geography(4326)"),
        (f"named_struct('at', st_geomfromwkb({POINT}))", "c.at", "geometry(0)"),
    ],
)
def test_types_that_no_rule_can_test(spark: SparkSession, value: str, field: str, shown: str) -> None:
    events = spark.sql(f"select 1 as n, {value} as c")
    with pytest.raises(InputError) as caught:
        ts.match(events, build([("r", f"n = 1 and {field} is not null")]))
    assert str(caught.value).startswith(f"field {field}")
    assert f"has the Spark type {shown}, which no condition can test" in str(caught.value)


def test_types_that_rules_do_not_name_do_not_matter(spark: SparkSession) -> None:
    events = spark.sql(
        "select 1 as n, X'ff' as b, make_interval(1, 2, 3) as i, parse_json('1') as v,"
        " named_struct('a', 5, 'i', interval '1-2' year to month, 'v', parse_json('1')) as s, map(1, 2) as m"
    )
    index = build([("r", "n = 1 and s.a = 5"), ("m", "m is not null")])
    assert rows_of(ts.match(events, index, keep=["b"])) == Counter([(b"\xff", "r"), (b"\xff", "m")])


class Point(UserDefinedType):
    """A type of a user's own, stored as a list of numbers."""

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802
        return ArrayType(DoubleType(), containsNull=False)

    @classmethod
    def module(cls) -> str:
        return "tests.spark.test_types"

    def serialize(self, obj: tuple[float, float]) -> list[float]:
        return list(obj)

    def deserialize(self, datum: list[float]) -> tuple[float, ...]:
        return tuple(datum)


def test_a_type_of_a_users_own_is_what_it_is_stored_as(spark: SparkSession) -> None:
    schema = StructType().add("id", LongType()).add("at", Point())
    events = spark.createDataFrame(
        [(number, (1.0 + number, 5.0)) for number in range(3)], schema, verifySchema=False
    )
    index = build([("two", "at = 2 and at = 5"), ("never", "at = 7")])
    assert rows_of(ts.match(events, index, keep=["id"])) == Counter([(1, "two")])


def test_maps_need_strings_as_keys(spark: SparkSession) -> None:
    events = spark.sql("select named_struct('m', map(1, 'a')) as s")
    with pytest.raises(InputError, match=r"s\.m is a map with keys of type int, not strings"):
        ts.match(events, build([("r", "s.m.x = 'a'")]))


def test_types_that_cannot_be_brought_to_a_worker(spark: SparkSession) -> None:
    events = spark.sql(
        "select array(named_struct('a', 1, 'i', interval '1-2' year to month)) as l, make_interval(1) as i"
    )
    with pytest.raises(InputError, match="column l holds the Spark type interval year to month"):
        ts.match(events, build([("r", "l.a = 1")]))
    with pytest.raises(UsageError, match="cannot keep 'i': the Spark type interval cannot be carried along"):
        ts.match(events, build([("r", "true")]), keep=["i"])


def test_lists_and_maps_of_nothing(spark: SparkSession) -> None:
    events = spark.sql("select 1 as n, array() as l, map() as m")
    index = build([("yes", "l is not null and l != 1 and m is not null"), ("no", "l = 1 or l is null")])
    assert rows_of(ts.match(events, index, keep=["n"])) == Counter([(1, "yes")])
    for name in "lm":
        with pytest.raises(UsageError, match=f"cannot keep '{name}': the Spark type .*void"):
            ts.match(events, index, keep=[name])


# ---- Random rules on random types, many in one job

VARIANTS = 30
ROWS = 40


def test_random_rules_on_random_types(zoned: SparkSession) -> None:
    """Each variant has types, rows and rules of its own, and columns whose names start with its number."""
    rng = random.Random(zoned.conf.get("spark.sql.session.timeZone"))
    columns: dict[str, pa.Array] = {"id": pa.array(range(ROWS), pa.int64())}
    rules: list[tuple[str, Condition]] = []
    events: list[Event] = [{} for _ in range(ROWS)]
    for variant in range(VARIANTS):
        for name in names_below(()):
            kind = spark_type(make_type(rng, (name,)))
            pairs = [make_typed_value(rng, kind, (name,)) for _ in range(ROWS)]
            columns[f"{variant}.{name}"] = pa.array([arrow for arrow, _ in pairs], kind)
            for event, (_, plain) in zip(events, pairs, strict=True):
                event[f"{variant}.{name}"] = plain
        rules += [(f"{variant} {name}", moved(when, variant)) for name, when in make_rule_set(rng, 20)]
    table = pa.table(columns)
    index = build([(name, print_condition(when)) for name, when in rules])
    frame = frame_of(zoned, table).repartition(2)
    expected = rows_by_meaning(rules, events)
    assert len(expected) > ROWS * VARIANTS
    assert rows_of(ts.match(frame, index, keep=["id"])) == expected


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table as a DataFrame, untouched (createDataFrame breaks on some nested types)."""
    batches = table.to_batches()

    def rows(_: object) -> Iterator[pa.RecordBatch]:
        yield from batches

    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return spark.range(1, numPartitions=1).mapInArrow(rows, schema)


def moved(condition: Condition, variant: int) -> Condition:
    """The condition on the fields of a variant."""
    return Condition(
        tuple(
            replace(step, field=(f"{variant}.{step.field[0]}", *step.field[1:]))
            if isinstance(step, Predicate)
            else step
            for step in condition.steps
        )
    )


SPARK_TYPES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.decimal256(76, 20): pa.decimal128(38, 18),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.date64(): pa.date32(),
}


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The type that Spark has in the place of one of Arrow's."""
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, spark_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(pa.string(), spark_type(kind.item_type))
    if is_list(kind):
        return pa.list_(spark_type(kind.value_type))
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    return SPARK_TYPES.get(kind, kind)
