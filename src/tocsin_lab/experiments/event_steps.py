"""Matching one event, step by step: reading it, and the index's own work.

Reading takes an event, a dictionary, to the cells that are looked up. It is the same for all engines, and
with few rules most of the time; what the engines differ in comes behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tocsin.conditions.kernels import OneEvent
from tocsin.conditions.matching import LayerMatcher
from tocsin.errors import TocsinError
from tocsin.text import EventDocuments
from tocsin_lab.experiments.clocks import Seconds, interleaved

Name = TypeVar("Name", bound=Hashable)
Event = Mapping[str, object]


class StepTimes(NamedTuple):
    """Seconds an event."""

    read: Seconds
    match: Seconds


def step_times(
    indexes: Mapping[Name, Any], events: Mapping[Name, Sequence[Event]], rounds: int
) -> dict[Name, StepTimes]:
    """Both steps of every index on its own events, in turns. TocsinError when they give other matches."""
    works: dict[tuple[Name, str], Callable[[], object]] = {}
    per = {len(each) for each in events.values()}
    for name, index in indexes.items():
        stepped, own = _stepped(index), events[name]
        read = _read_all(stepped, own)
        for event, (cells, documents) in zip(own, read, strict=True):
            if not np.array_equal(stepped.match_read(cells, documents), index.match(event).numbers):
                raise TocsinError(f"{name}: its steps give other matches than the whole")
        works[name, "read"] = partial(_read_all, stepped, own)
        works[name, "match"] = partial(_match_all, stepped, read)
    (count,) = per or {1}
    taken = interleaved(works, rounds, count)
    return {name: StepTimes(taken[name, "read"], taken[name, "match"]) for name in indexes}


def _stepped(index: Any) -> LayerMatcher:
    """Of an index as it was built, which has one layer."""
    (layer,) = index.version.layers
    stepped: LayerMatcher = layer.matcher
    return stepped


def _read_all(stepped: LayerMatcher, events: Sequence[Event]) -> list[tuple[OneEvent, EventDocuments]]:
    read = []
    for event in events:
        documents = EventDocuments()
        read.append((stepped.read_event(event, documents), documents))
    return read


def _match_all(stepped: LayerMatcher, read: Sequence[tuple[OneEvent, EventDocuments]]) -> None:
    for cells, documents in read:
        stepped.match_read(cells, documents)
