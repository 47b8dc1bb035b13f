"""The first step of every engine but the A-Tree: from an event to the literals that hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import Texts, starts
from tocsin.arrays.scratch import Scratch
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.kernels.leaves import OneEvent
from tocsin.conditions.kernels.literal_bitmap import Marks, no_marks
from tocsin.conditions.kernels.plane_links import Links
from tocsin.conditions.kernels.planes import PlaneGraph
from tocsin.conditions.language.tree import Path
from tocsin.conditions.matching.resolver import Resolver
from tocsin.engines.kernels.held_literals import cells_by_row, literals_of_event, literals_of_rows
from tocsin.events.cells import EventBatch
from tocsin.text import EventDocuments, TextMatcher

EVENTS_LISTED_TOGETHER = 64
"""Events whose literals are found together: their lists stay in the cache."""


class PredicateStage:
    """The predicates of compiled rules, without the rules. Threads may share it."""

    def __init__(self, compiled: CompiledIndex) -> None:
        self._index = _without_rules(compiled)
        self._resolver = Resolver(self._index)
        self._marks = Scratch(self._no_marks)

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, in order."""
        return self._resolver.fields

    @property
    def literals(self) -> int:
        """Predicates that may be true, and those whose falsehood some rule asks for."""
        return self._index.plane_count

    def read_event(self, event: object, documents: EventDocuments) -> OneEvent:
        """What an event holds. Its documents are told to `documents`."""
        return self._resolver.resolve_event(event, documents)

    def of_read(self, one: OneEvent) -> Lists:
        """The literals that hold in an event that is read, ascending."""
        index = self._index
        with self._marks.lent() as marks:
            count = literals_of_event(
                one, index.literals, index.bounds, index.leaves, index.ranges, index.links, marks
            )
            return Lists(np.array([0, count]), marks.held[:count].copy())

    @property
    def texts(self) -> TextMatcher:
        """The free text of the rules."""
        return self._resolver.texts

    def of_batch(self, batch: EventBatch, documents: EventDocuments | None = None) -> Iterator[Lists]:
        """The literals that hold in the events of a batch, for EVENTS_LISTED_TOGETHER of them at a time."""
        index = self._index
        cells = self._resolver.resolve(batch, EventDocuments(batch) if documents is None else documents)
        by_row = cells_by_row(cells, batch.length)
        with self._marks.lent() as marks:
            for first in range(0, batch.length, EVENTS_LISTED_TOGETHER):
                last = min(first + EVENTS_LISTED_TOGETHER, batch.length)
                yield literals_of_rows(
                    first, last, by_row, cells, index.leaves, index.ranges, index.links, marks
                )

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that looking predicates up takes, by part."""
        parts = ("leaves", "ranges", "links", "literals", "bounds", "patterns")
        return {name: sum(array.nbytes for array in getattr(self._index, name)) for name in parts}

    def _no_marks(self) -> Marks:
        return no_marks(self.literals, self.literals, 0, len(self._index.group_path))


def _without_rules(compiled: CompiledIndex) -> CompiledIndex:
    """The same predicates, with falsehoods that lead to themselves and nothing above them."""
    false_leaf, group_of = compiled.graph.false_leaf, compiled.links.group_of
    groups = len(compiled.group_path)
    nothing = np.empty(0, np.int32)
    no_texts = Texts(np.zeros(1, np.int64), np.empty(0, np.uint8))
    return compiled._replace(
        graph=PlaneGraph(
            false_leaf, np.zeros(1, np.int32), np.empty(0, np.bool_), np.zeros(1, np.int32), nothing, nothing
        ),
        leaves=compiled.leaves._replace(
            negated_start=np.zeros(groups + 1, np.int32), negated_leaf=nothing, negated_plane=nothing
        ),
        links=_links_of_literals(false_leaf, group_of, groups),
        rule_id=no_texts,
        rule_text=no_texts,
        metadata=np.empty(0, np.uint8),
    )


def _links_of_literals(false_leaf: Ints, group_of: Ints, groups: int) -> Links:
    leaves, falsehoods = len(group_of), len(false_leaf)
    link_start = np.zeros(leaves + falsehoods + 3, np.int32)
    link_start[leaves : leaves + falsehoods] = np.arange(falsehoods)
    link_start[leaves + falsehoods :] = falsehoods
    plane = np.arange(leaves, leaves + falsehoods, dtype=np.int32)
    group = group_of[false_leaf]
    order = np.argsort(group, kind="stable")
    return Links(
        link_start,
        plane,
        group_of,
        starts(np.bincount(group, minlength=groups), np.int32),
        false_leaf[order],
        plane[order],
    )
