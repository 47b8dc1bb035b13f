"""Events: pairs of a field and a value, both chosen by Zipf's law."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin.conditions.language import Path
from tocsin_lab.abe_gen.draws import zipf, zipf_weights
from tocsin_lab.abe_gen.predicates import BOOLEAN_DIGIT, LIST_DIGIT, STRING_DIGITS
from tocsin_lab.abe_gen.settings import Dimensions, Workload

MOST_ELEMENTS = 3
EVENTS_AT_ONCE = 4_096


class Events(NamedTuple):
    """n events of k pairs, in no order.

    field   int64[n, k]      the numbers of different dimensions
    value   int64[n, k, 3]   a list has `size` elements; of other kinds the first counts
    size    int64[n, k]
    """

    field: Longs
    value: Longs
    size: Longs


def events(setting: Workload, count: int) -> Events:
    """`count` events of the setting's size; the same for the same setting and count."""
    rng = np.random.default_rng((setting.seed, 4))
    dimensions = setting.dimensions
    shape = (count, dimensions.event_size)
    field = _fields(rng, dimensions, count)
    value = zipf(rng, dimensions.cardinality, dimensions.zipf, count * dimensions.event_size * MOST_ELEMENTS)
    return Events(field, value.reshape(*shape, MOST_ELEMENTS), rng.integers(1, MOST_ELEMENTS + 1, shape))


def first(some: Events, count: int) -> Events:
    """The first `count` events."""
    return Events(*(column[:count] for column in some))


def thinned(whole: Events, pairs: int) -> Events:
    """The same events with fewer pairs: those whose fields are the rarest, so that few rules are left.

    Keeping any pairs would leave the rules that an event's commonest fields satisfy by themselves.
    """
    rarest = np.argsort(-whole.field, axis=1, kind="stable")[:, :pairs]
    return Events(
        np.take_along_axis(whole.field, rarest, 1),
        np.take_along_axis(whole.value, rarest[:, :, None], 1),
        np.take_along_axis(whole.size, rarest, 1),
    )


def listed_fields(setting: Workload) -> frozenset[Path]:
    """The fields that hold lists."""
    return frozenset((f"d{number}",) for number in range(LIST_DIGIT, setting.dimensions.count, 10))


def table_of(some: Events) -> pa.Table:
    """A column for each field that any event has; where an event lacks it, it is null."""
    count, pairs = some.field.shape
    row = np.repeat(np.arange(count), pairs)
    order = np.lexsort((row, some.field.ravel()))
    number, first = np.unique(some.field.ravel()[order], return_index=True)
    stretches = np.split(order, first[1:])
    value, size = some.value.reshape(-1, MOST_ELEMENTS), some.size.ravel()
    columns = {
        f"d{field}": _column(field, count, row[places], value[places], size[places])
        for field, places in zip(number.tolist(), stretches, strict=True)
    }
    return pa.table(columns)


def rows_of(some: Events) -> list[dict[str, object]]:
    """Every event as a dictionary."""
    return [
        {
            f"d{field}": _object(field, value, size)
            for field, value, size in zip(fields, values, sizes, strict=True)
        }
        for fields, values, sizes in zip(*(column.tolist() for column in some), strict=True)
    ]


def _fields(rng: np.random.Generator, dimensions: Dimensions, count: int) -> Longs:
    """Different fields for each event, without replacement: the largest of weighted random keys."""
    weight = np.log(zipf_weights(dimensions.count, dimensions.zipf))
    chosen = [np.empty((0, dimensions.event_size), np.int64)]
    for begin in range(0, count, EVENTS_AT_ONCE):
        shape = (min(EVENTS_AT_ONCE, count - begin), dimensions.count)
        keys = weight - np.log(rng.exponential(size=shape))
        largest = np.argpartition(keys, -dimensions.event_size, axis=1)[:, -dimensions.event_size :]
        chosen.append(rng.permuted(np.sort(largest, axis=1), axis=1))
    return np.concatenate(chosen)


def _column(field: int, count: int, row: Longs, value: Longs, size: Longs) -> pa.Array:
    digit = field % 10
    place = np.full(count, len(row))
    place[row] = np.arange(len(row))
    if digit == LIST_DIGIT:
        start = np.concatenate([[0], size.cumsum()])
        elements = pa.array(value[np.arange(MOST_ELEMENTS) < size[:, None]])
        held = pa.ListArray.from_arrays(pa.array(start, pa.int32()), elements)
    elif digit == BOOLEAN_DIGIT:
        held = pa.array(value[:, 0] % 2 == 1)
    elif digit in STRING_DIGITS:
        held = pa.array([f"v{each}" for each in value[:, 0].tolist()])
    else:
        held = pa.array(value[:, 0])
    return held.take(pa.array(place, mask=place == len(row)))


def _object(field: int, value: list[int], size: int) -> object:
    digit = field % 10
    if digit == LIST_DIGIT:
        return value[:size]
    if digit == BOOLEAN_DIGIT:
        return value[0] % 2 == 1
    return f"v{value[0]}" if digit in STRING_DIGITS else value[0]
