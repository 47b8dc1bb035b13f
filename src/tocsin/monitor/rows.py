"""The rows of an Arrow table as Python events, with nothing lost.

Arrow's own `to_pylist` gives maps as lists of pairs, and has no value for a timestamp outside of
Python's calendar or, with a time zone, at its edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa


def rows_of_batch(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """Each row as an event: maps are objects, timestamps NumPy's (UTC)."""
    names = batch.schema.names
    columns = [batch.column(place) for place in range(batch.num_columns)]
    for row in range(batch.num_rows):
        yield {name: _value_of(column[row]) for name, column in zip(names, columns, strict=True)}


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
