"""The rows of an Arrow table as Python events, with nothing lost.

Arrow's own `to_pylist` gives maps as lists of pairs, and has no value for a timestamp outside of
Python's calendar or, with a time zone, at its edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.events.arrow import place_of


def rows_of_batch(batch: pa.RecordBatch, names: Iterable[str]) -> Iterator[dict[str, object]]:
    """These columns of each row as an event: maps are objects, timestamps NumPy's (UTC)."""
    places = {name: place_of(batch.schema, name) for name in names}
    columns = {name: batch.column(place) for name, place in places.items() if place is not None}
    for row in range(batch.num_rows):
        yield {name: _value_of(column[row]) for name, column in columns.items()}


def _value_of(scalar: Any) -> object:
    """A scalar's Python value; no deeper than its type, which a schema bounds."""
    if isinstance(scalar, pa.DictionaryScalar | pa.RunEndEncodedScalar):
        scalar = scalar.value
    if scalar is None or not scalar.is_valid:
        return None
    if isinstance(scalar, pa.TimestampScalar):
        return np.datetime64(scalar.value, scalar.type.unit)
    if isinstance(scalar, pa.MapScalar):
        keys, values = scalar.values.field(0), scalar.values.field(1)
        return {key.as_py(): _value_of(value) for key, value in zip(keys, values, strict=True)}
    if isinstance(scalar, pa.StructScalar):
        return {name: _value_of(value) for name, value in scalar.items()}
    if isinstance(scalar, pa.ListScalar):
        return [_value_of(element) for element in scalar.values]
    return scalar.as_py()
