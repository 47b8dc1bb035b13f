"""Random Arrow tables of every type that counts, each with the equal list of Python events."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
from tests.cases import Choices, Event, names_below, one_in
from tests.pools import (
    ADDRESSES,
    DATES,
    DECIMALS,
    FIELDS,
    FLOATS,
    HUGE_INTEGERS,
    INTEGERS,
    MOMENTS,
    NOT_JSON_FLOATS,
    STRINGS,
    TIMESTAMP_TEXTS,
    UNICODE_STRINGS,
    instant,
)

from tocsin.conditions.language import Path
from tocsin.events import Kind

Pair = tuple[object, object]
"""A value twice: as pa.array takes it, and as an event holds it."""

NUMBERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
    *(pa.decimal128(5, 2), pa.decimal128(38, 10), pa.decimal256(76, 20), pa.decimal128(20, 0)),
]
STRINGS_OF_ARROW = [
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
]
TIMESTAMPS = [
    pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Kolkata")
]
TYPES: dict[Kind, list[pa.DataType]] = {
    Kind.NUMBER: NUMBERS,
    Kind.STRING: STRINGS_OF_ARROW,
    Kind.BOOLEAN: [pa.bool_()],
    Kind.TIMESTAMP: [*TIMESTAMPS, pa.date32(), pa.date64(), pa.string()],
    Kind.ADDRESS: [pa.string(), pa.dictionary(pa.int16(), pa.string())],
}
LISTS = [pa.list_, pa.large_list, pa.list_view, lambda of: pa.list_(of, 2)]
NANOS_OF_UNIT = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
ALL_INSTANTS = [instant(text) for text in TIMESTAMP_TEXTS]
ALL_TEXTS = [*STRINGS, *UNICODE_STRINGS]


def make_table(choices: Choices, most_rows: int = 8) -> tuple[pa.Table, list[Event]]:
    """A table over some of FIELDS and its rows as Python events.

    The rows of the table may be a slice of longer columns, in several chunks. A timestamp of the
    table is a numpy.datetime64 in the events, so that nanoseconds are kept.
    """
    rows = choices.randint(0, most_rows)
    skipped = choices.randint(0, 2)
    events: list[Event] = [{} for _ in range(rows + skipped)]
    columns: dict[str, pa.ChunkedArray] = {}
    for name in names_below(()):
        if one_in(choices, 3):
            continue
        kind = make_type(choices, (name,))
        pairs = [make_typed_value(choices, kind, (name,)) for _ in events]
        columns[name] = _chunked(choices, [arrow for arrow, _ in pairs], kind)
        for event, (_, plain) in zip(events, pairs, strict=True):
            event[name] = plain
    if not columns:
        columns["unasked"] = pa.chunked_array([pa.array([1] * len(events), pa.int64())])
    return pa.table(columns).slice(skipped), events[skipped:]


def _chunked(choices: Choices, values: list[object], kind: pa.DataType) -> pa.ChunkedArray:
    cut = choices.randint(0, len(values))
    return pa.chunked_array([pa.array(values[:cut], kind), pa.array(values[cut:], kind)], kind)


def make_type(choices: Choices, path: Path) -> pa.DataType:
    """A type for the field at a path: structs and lists of structs where names go on below it."""
    below = names_below(path)
    if below and not one_in(choices, 6):
        whole = pa.struct([(name, make_type(choices, (*path, name))) for name in below])
        if one_in(choices, 4):
            whole = pa.map_(pa.string(), make_type(choices, (*path, below[0])))
        return pa.list_(whole) if one_in(choices, 3) else whole
    if one_in(choices, 20):
        return pa.null()
    home = FIELDS.get(path, Kind.STRING)
    scalar = choices.choice(TYPES[choices.choice(list(Kind)) if one_in(choices, 8) else home])
    while one_in(choices, 4):
        scalar = choices.choice(LISTS)(scalar)
    return scalar


def make_typed_value(choices: Choices, kind: pa.DataType, path: Path) -> Pair:
    """A value of an Arrow type, null now and then, for the field at a path."""
    if pa.types.is_null(kind) or one_in(choices, 7):
        return None, None
    if pa.types.is_struct(kind):
        members = {field.name: make_typed_value(choices, field.type, (*path, field.name)) for field in kind}
        return {name: pair[0] for name, pair in members.items()}, {
            name: pair[1] for name, pair in members.items()
        }
    if pa.types.is_map(kind):
        names = [choices.choice([*names_below(path), "unasked"]) for _ in range(choices.randint(0, 3))]
        items = [(name, make_typed_value(choices, kind.item_type, (*path, name))) for name in names]
        return [(name, pair[0]) for name, pair in items], {name: pair[1] for name, pair in items}
    if is_list(kind):
        size = kind.list_size if pa.types.is_fixed_size_list(kind) else choices.randint(0, 3)
        pairs = [make_typed_value(choices, kind.value_type, path) for _ in range(size)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return _scalar(choices, kind, path)


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of its kinds of list."""
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    return any(check(kind) for check in checks)


def _scalar(choices: Choices, kind: pa.DataType, path: Path) -> Pair:
    if pa.types.is_boolean(kind):
        return _same(choices.choice([False, True]))
    if pa.types.is_integer(kind):
        info = np.iinfo(kind.to_pandas_dtype())
        fitting = [value for value in [*INTEGERS, *HUGE_INTEGERS] if info.min <= value <= info.max]
        return _same(choices.choice([*fitting, int(info.max), int(info.min)]))
    if pa.types.is_floating(kind):
        with np.errstate(over="ignore", under="ignore"):
            rounded = kind.to_pandas_dtype()(choices.choice([*FLOATS, *NOT_JSON_FLOATS]))
        return rounded, float(rounded)
    if pa.types.is_decimal(kind):
        return _same(choices.choice(_decimals_of(kind)))
    if pa.types.is_timestamp(kind):
        count = choices.choice(_instants_of(kind))
        return count, np.datetime64(count, kind.unit)
    if pa.types.is_date(kind):
        return _same(choices.choice(_dates()))
    home = FIELDS.get(path, Kind.STRING)
    texts = {Kind.TIMESTAMP: TIMESTAMP_TEXTS, Kind.ADDRESS: ADDRESSES}.get(home, ALL_TEXTS)
    return _same(choices.choice(texts))


def _same(value: object) -> Pair:
    return value, value


def _decimals_of(kind: pa.DataType) -> list[Decimal]:
    """The decimals of the pool that the type holds exactly, with its number of places."""
    step = Decimal(1).scaleb(-kind.scale)
    most = Decimal(10) ** (kind.precision - kind.scale)
    finite = [value for value in DECIMALS if value.is_finite() and abs(value) < most]
    with localcontext(prec=100):
        return [value.quantize(step) for value in finite if value % step == 0]


def _instants_of(kind: pa.DataType) -> list[int]:
    """The instants of the pool in the type's unit, as far as 64 bits hold them."""
    counts = [nanos // NANOS_OF_UNIT[kind.unit] for nanos in ALL_INSTANTS]
    return [count for count in counts if -(2**63) < count < 2**63]


def _dates() -> list[date]:
    return [*DATES, *(moment.date() for moment in MOMENTS)]
