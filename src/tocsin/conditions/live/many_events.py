"""Some events at once, as Python values: in blocks when that is quicker, else one by one.

events   few ──> match_event, each                                   a block has a price of its own,
         many ─> cells ──> match_slices ──> the matches of each      however few events are in it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from tocsin.arrays.packed import starts
from tocsin.conditions.live.snapshot import Snapshot
from tocsin.conditions.matching.portions import EVENTS_AT_ONCE
from tocsin.conditions.matching.results import Matches
from tocsin.errors import EventError
from tocsin.events import FieldPlan, Path
from tocsin.printable import described
from tocsin.tables import is_frame

FEWEST = 48
"""Events that are worth a block when rules name few fields, ..."""

FIELDS_AN_EVENT = 6
"""... and for so many fields it takes one more: each is an array in a block."""


class ManyEvents:
    """Matches many events. Threads may share it: it keeps how fields are found, and replaces it whole."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: tuple[list[Path], FieldPlan] = [], FieldPlan([])

    def match(self, version: Snapshot, events: Sequence[Mapping[str, object]]) -> list[Matches]:
        """The matches of each event; EventError names the first one that cannot be read."""
        fields = version.fields if len(events) >= FEWEST else []
        if len(events) >= FEWEST + len(fields) // FIELDS_AN_EVENT:
            try:
                return list(self._in_blocks(version, self._plan(fields), events))
            except EventError:
                pass  # fields are read one after the other: which event is the first is found below
        return list(_one_by_one(version, events))

    @staticmethod
    def _in_blocks(
        version: Snapshot, plan: FieldPlan, events: Sequence[Mapping[str, object]]
    ) -> Iterator[Matches]:
        names = version.names
        for first in range(0, len(events), EVENTS_AT_ONCE):
            batch = plan.batch(events[first : first + EVENTS_AT_ONCE])
            for rule, per_event, score in version.match_slices(batch, kept=True):
                bounds = starts(per_event, np.int64).tolist()
                for begin, end in pairwise(bounds):
                    yield Matches(rule[begin:end], names, None if score is None else score[begin:end])

    def _plan(self, fields: list[Path]) -> FieldPlan:
        known, plan = self._known
        if known != fields:
            plan = FieldPlan(fields)
            self._known = fields, plan
        return plan


def _one_by_one(version: Snapshot, events: Sequence[Mapping[str, object]]) -> Iterator[Matches]:
    for row, event in enumerate(events):
        try:
            numbers, scores = version.match_event(event)
        except EventError as error:
            raise EventError(no_event(event) or error.reason, row=row) from None
        yield Matches(numbers, version.names, scores)


def no_event(event: object) -> str | None:
    """What is wrong with what is no event, and what to do instead; None if it is one."""
    if isinstance(event, Mapping):
        return None
    hint = ""
    if is_frame(event):
        hint = ": match_table takes tables"
    elif isinstance(event, list | tuple):
        hint = ": match_many takes several"
    elif isinstance(event, str | bytes):
        hint = ": json.loads makes one of a line of JSON"
    return f"an event is a dictionary, not {described(event)}{hint}"
