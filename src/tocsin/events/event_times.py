"""When events happened: the instants in a column, and which field to look for them in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.events.cells import Column, Path
from tocsin.events.event_sources import EventSource
from tocsin.syntax.timestamps import parse_timestamp

_NANOS = 1_000_000_000
_LOOKED_AT = 100
_NO_TIME = np.iinfo(np.int64).min


def seconds_of(column: Column) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The events of a column that have a time, ascending, and the whole second of each since 1970.

    A time is a timestamp, or a string that reads as one; of several in a list the first counts.
    """
    rows: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
    seconds: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    if column.timestamps is not None:
        rows.append(column.timestamps.row)
        seconds.append(column.timestamps.second)
    if column.strings is not None:
        instants = [parse_timestamp(text) for text in column.strings.texts.to_pylist()]
        second_of = np.array([_NO_TIME if each is None else each // _NANOS for each in instants], np.int64)
        second = second_of[column.strings.code]
        rows.append(column.strings.row[second != _NO_TIME])
        seconds.append(second[second != _NO_TIME])
    row, second = np.concatenate(rows), np.concatenate(seconds)
    once, first = np.unique(row, return_index=True)
    return once, second[first]


def time_field(source: EventSource) -> Path | None:
    """The first field whose values, in the first events, are all timestamps or texts that say one."""
    names = source.names()
    for portion in source.portions([(name,) for name in names], _LOOKED_AT):
        for name in names:
            column = portion.events.columns.get((name,))
            if column is not None and len(column.present) == len(seconds_of(column)[0]):
                return (name,)
        break
    return None
