"""Matching by an engine: from an event to the literals that hold, and from these to rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import Texts, starts
from tocsin.arrays.scratch import Scratch
from tocsin.conditions.graph import CompiledIndex
from tocsin.conditions.kernels import Links, Marks, OneEvent, PlaneGraph, no_marks
from tocsin.conditions.matching import BatchMatches, LayerMatcher
from tocsin.engines.engine import Engine
from tocsin.engines.kernels.held_literals import cells_by_row, literals_of_event, literals_of_rows
from tocsin.events import EventBatch
from tocsin.text import EventDocuments

EVENTS_LISTED_TOGETHER = 64
"""Events whose literals are found together: their lists stay in the cache."""


class EngineMatcher(LayerMatcher):
    """An engine, and the literals that it is given: those that hold in an event."""

    def __init__(self, name: str, engine: Engine, compiled: CompiledIndex) -> None:
        super().__init__(_without_rules(compiled))
        self.name = name
        self.engine = engine
        self._marks = Scratch(self._no_marks)

    def with_texts(self, index: CompiledIndex) -> Self:
        """See LayerMatcher."""
        return super().with_texts(_without_rules(index))

    @property
    def most_scratch(self) -> int:
        """Bytes that one thread uses, about: no engine writes to more than it reads."""
        return sum(self.bytes_of_parts().values())

    def match_read(self, values: OneEvent, documents: EventDocuments) -> Ints:  # noqa: ARG002
        """The step after reading: the rules that match, ascending."""
        index = self._index
        with self._marks.lent() as marks:
            count = literals_of_event(
                values, index.literals, index.bounds, index.leaves, index.ranges, index.links, marks
            )
            held = Lists(np.array([0, count]), marks.held[:count].copy())
        return self.engine.match(held).item

    def match_slices(
        self,
        batch: EventBatch,
        documents: EventDocuments | None = None,
        *,
        write: bool = True,
        per_rule: Longs | None = None,
        most_matches: int | None = None,  # noqa: ARG002
        kept: bool = False,  # noqa: ARG002
    ) -> Iterator[BatchMatches]:
        """The matches of EVENTS_LISTED_TOGETHER events at a time, in new memory."""
        for held in self._literals(batch, EventDocuments(batch) if documents is None else documents):
            found = self.engine.match(held)
            if per_rule is not None:
                per_rule += np.bincount(found.item, minlength=len(per_rule))
            yield BatchMatches(found.item if write else found.item[:0], np.diff(found.start))

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that matching needs, by part."""
        parts = ("leaves", "ranges", "links", "literals", "bounds", "patterns")
        looked_up = {name: sum(array.nbytes for array in getattr(self._index, name)) for name in parts}
        return {**looked_up, **self.engine.bytes_of_parts()}

    def _literals(self, batch: EventBatch, documents: EventDocuments) -> Iterator[Lists]:
        """The literals that hold in the events of a batch, ascending."""
        index = self._index
        cells = self._resolver.resolve(batch, documents)
        by_row = cells_by_row(cells, batch.length)
        with self._marks.lent() as marks:
            for first in range(0, batch.length, EVENTS_LISTED_TOGETHER):
                last = min(first + EVENTS_LISTED_TOGETHER, batch.length)
                yield literals_of_rows(
                    first, last, by_row, cells, index.leaves, index.ranges, index.links, marks
                )

    def _no_marks(self) -> Marks:
        literals = self._index.plane_count
        return no_marks(literals, literals, 0, len(self._index.group_path))


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
