"""A hash of what rules see of an event: the same wherever and in whatever batch the event is met.

Samples are the events of least hash. As one order of all events serves all rules, an event that is
shown for one rule is likely to be shown for the others that it satisfies, and few events are kept.
"""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.conditions.graph.value_keys import double_keys
from tocsin.conditions.language.tree import Path
from tocsin.events.cells import Column, EventBatch
from tocsin.history.statistics.sketch_hashes import pair_hashes, text_hashes

_PRESENT, _EMPTY, _NUMBER, _STRING, _BOOLEAN, _TIMESTAMP, _DECIMAL = range(7)


def event_hashes(batch: EventBatch) -> NDArray[np.int64]:
    """The hashes of a batch's events, from 0 to 2^62 - 1; the order of a list's elements does not matter."""
    total = np.zeros(batch.length, np.int64)
    for field, column in batch.columns.items():
        salt = _salt(field)
        for kind, row, values in _values_of(column):
            hashes = pair_hashes(values, np.full(len(values), salt + kind, np.int64))
            np.add.at(total, row, hashes)
    return pair_hashes(total, np.zeros_like(total)) >> 1


def _values_of(column: Column) -> list[tuple[int, NDArray[np.int32], NDArray[np.int64]]]:
    """What a field holds: the kind, the event and a number for the value of each cell."""
    zero = np.zeros_like
    found = [
        (_PRESENT, column.present, zero(column.present, np.int64)),
        (_EMPTY, column.empty, zero(column.empty, np.int64)),
    ]
    if column.numbers is not None:
        row, high, low = column.numbers
        found.append((_NUMBER, row, pair_hashes(double_keys(high), low)))
    if column.strings is not None:
        found.append((_STRING, column.strings.row, text_hashes(column.strings.texts)[column.strings.code]))
    if column.booleans is not None:
        found.append((_BOOLEAN, column.booleans.row, column.booleans.value.astype(np.int64)))
    if column.timestamps is not None:
        row, second, nano = column.timestamps
        found.append((_TIMESTAMP, row, pair_hashes(second, nano)))
    if column.decimals is not None:
        texts = pa.array([str(value.normalize()) for value in column.decimals.values], pa.large_string())
        found.append((_DECIMAL, column.decimals.row, text_hashes(texts)[column.decimals.code]))
    return found


@lru_cache(maxsize=4096)
def _salt(field: Path) -> int:
    name = pa.array([json.dumps(field)], pa.large_string())
    return int(text_hashes(name)[0]) >> 3
