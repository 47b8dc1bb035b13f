"""A row in a position of a trigger: what it carries into the joins."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from tocsin.conditions.meaning import Event, lookup
from tocsin.errors import EventError
from tocsin.watches.join_keys import Mark, marks_of
from tocsin.watches.watched_trigger import Watched

MOST_KEYS = 100_000
"""Lists in several joining fields of a row join by each combination of their elements; a row with more than
these is refused."""


class Place(NamedTuple):
    """A position of the trigger of this number."""

    trigger: int
    position: int


class Entry(NamedTuple):
    """A position that a row enters.

    score   how well the free text of its selection fits; None without any
    marks   what it joins by: a mark for each key of the position. Of a row with lists there are several
            combinations, and none when a joining field has no value, so that the row has no partners
    """

    place: Place
    score: float | None
    marks: list[tuple[Mark, ...]]


def entry_of(trigger: Watched, place: Place, row: Event, score: float | None) -> Entry:
    """What a row carries into a position whose selection it satisfies.

    EventError when it cannot be joined, or holds something that a filter or the alert's text cannot read: so
    nothing can go wrong later, when it meets its partners.
    """
    position = trigger.positions[place.position]
    for path in position.asked:
        lookup(row, path)
    choices = [marks_of(row, key) for key in position.keys]
    if prod(map(len, choices)) > MOST_KEYS:
        raise EventError(
            f"the lists of this row have more than {MOST_KEYS:,} combinations to join by"
            f" in the trigger {trigger.rule}"
        )
    return Entry(place, score, list(product(*choices)))
