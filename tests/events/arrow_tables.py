"""Random Arrow arrays of every type, for property tests: nested, sliced, chunked, null at every level."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

NAMES = ["a", "b", "c"]
NAN = float("nan")
EPOCH = datetime(1970, 1, 1)
TEXTS: list[object] = ["", "x", "y", "é", "🜁", "long enough not to be stored inside a view"]
LEAVES: list[tuple[pa.DataType, list[object]]] = [
    (pa.int8(), [-128, 0, 127]),
    (pa.int16(), [-5, 300]),
    (pa.int32(), [-(2**31), 7]),
    (pa.int64(), [2**63 - 1, -(2**63), 2**53 + 1, 0]),
    (pa.uint8(), [0, 255]),
    (pa.uint16(), [65535]),
    (pa.uint32(), [2**32 - 1]),
    (pa.uint64(), [2**64 - 1, 2**63, 1]),
    (pa.float16(), [0.5, NAN, -0.0]),
    (pa.float32(), [0.25, NAN, float("inf")]),
    (pa.float64(), [0.1, NAN, -0.0, 1e300, 5e-324]),
    (pa.decimal32(5, 2), [Decimal("1.10"), Decimal("-999.99")]),
    (pa.decimal64(12, 3), [Decimal("1.100"), Decimal("7")]),
    (pa.decimal128(38, 10), [Decimal("1.1"), Decimal("-3"), Decimal(10**27)]),
    (pa.decimal256(70, 2), [Decimal(10**60), Decimal("0.01")]),
    (pa.bool_(), [True, False]),
    (pa.string(), TEXTS),
    (pa.large_string(), TEXTS),
    (pa.string_view(), TEXTS),
    (pa.timestamp("s"), [EPOCH, EPOCH - timedelta(seconds=1), datetime(2026, 1, 31, 12)]),
    (pa.timestamp("ms", "UTC"), [EPOCH - timedelta(milliseconds=1), datetime(2026, 1, 31)]),
    (pa.timestamp("us", "Europe/Berlin"), [EPOCH - timedelta(microseconds=1), datetime(9999, 12, 30)]),
    (pa.timestamp("ns"), [datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(2026, 1, 31)]),
    (pa.date32(), [date(1969, 12, 31), date(2026, 1, 31)]),
    (pa.date64(), [date(1, 1, 1), date(1970, 1, 2)]),
    (pa.null(), []),
]
VALUES_OF = dict(LEAVES)


def random_type(chance: random.Random, depth: int = 3) -> pa.DataType:
    """A type nested up to `depth` deep."""
    if depth == 0 or chance.random() < 0.3:
        leaf = chance.choice(LEAVES)[0]
        wrappable = leaf in (pa.string(), pa.large_string(), pa.int64(), pa.float64())
        return pa.dictionary(pa.int8(), leaf) if wrappable and chance.random() < 0.15 else leaf
    inner = random_type(chance, depth - 1)
    shape = chance.randrange(9)
    if shape < 3:
        others = [random_type(chance, depth - 1) for _ in NAMES[1:]]
        return pa.struct(list(zip(NAMES, [inner, *others], strict=True)))
    if shape == 3:
        return pa.map_(chance.choice([pa.string(), pa.large_string(), pa.string_view()]), inner)
    makers = [pa.list_, pa.large_list, lambda item: pa.list_(item, 2), pa.list_view, pa.large_list_view]
    return makers[shape - 4](inner)


def random_value(chance: random.Random, data_type: pa.DataType) -> object:
    """A value of a type as pa.array takes it; null as often as not."""
    if chance.random() < 0.25 or pa.types.is_null(data_type):
        return None
    if pa.types.is_dictionary(data_type):
        return chance.choice(VALUES_OF[data_type.value_type])
    if pa.types.is_struct(data_type):
        return {member.name: random_value(chance, member.type) for member in data_type}
    if pa.types.is_map(data_type):
        names = [chance.choice(NAMES) for _ in range(chance.randrange(4))]
        return [(name, random_value(chance, data_type.item_type)) for name in names]
    if data_type in VALUES_OF:
        return chance.choice(VALUES_OF[data_type])
    length = 2 if pa.types.is_fixed_size_list(data_type) else chance.randrange(4)
    return [random_value(chance, data_type.value_type) for _ in range(length)]


def random_array(chance: random.Random, data_type: pa.DataType, length: int) -> pa.Array:
    """An array that is now and then a slice of a longer one."""
    extra = chance.choice([0, 0, 3])
    array = pa.array([random_value(chance, data_type) for _ in range(length + 2 * extra)], data_type)
    return array.slice(extra, length)


def random_table(chance: random.Random) -> pa.Table:
    """A table of one to three columns in one or more chunks, some of them run-end encoded."""
    columns = {}
    length = chance.randrange(8)
    for name in NAMES[: chance.randint(1, 3)]:
        data_type = random_type(chance)
        cut = chance.randint(0, length)
        chunks = [random_array(chance, data_type, cut), random_array(chance, data_type, length - cut)]
        if pa.types.is_integer(data_type) and chance.random() < 0.5:
            chunks = [pc.run_end_encode(chunk) for chunk in chunks]
        columns[name] = pa.chunked_array(chunks)
    return pa.table(columns)
