"""The engine `interval`: leaves are labelled with intervals (section 4 of the first paper)."""

from __future__ import annotations

from typing import Self

import numpy as np

from tocsin.arrays.array_checks import Check
from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.scratch import Scratch
from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.kernels.interval_labels import (
    ALONE,
    NARROW,
    Intervals,
    label_trees,
    lay_out_intervals,
    match_intervals,
    unsound_intervals,
)
from tocsin.engines.kernels.tree_places import Places, count_places
from tocsin.engines.kernels.unfolded_trees import Trees
from tocsin.engines.labelled_trees import AnnotatedTrees, lay_out_places, no_leaves, share_labels


class IntervalEngine(AnnotatedTrees):
    """Two numbers for each place. Trees of any shape; those of more than NARROW leaves have wider numbers."""

    LABELS = Intervals

    def __init__(self, conjunctions: ConjunctionIndex, places: Places, labels: Intervals) -> None:
        super().__init__(conjunctions, places, labels)
        self._intervals = labels
        most = int(np.diff(places.rule_start).max(initial=0))
        self._matched = Scratch(lambda: np.empty((most >> 6) + 1, np.uint64))

    @classmethod
    def of_trees(cls, trees: Trees, conjunctions: ConjunctionIndex, always: Flags) -> Self:
        """Label the leaves of trees: LABEL (Algorithm 4)."""
        count = count_places(trees)
        is_narrow = count <= NARROW
        narrow_span = starts(np.where(is_narrow, count, 0), np.int64)
        wide_span = starts(np.where(is_narrow, 0, count), np.int64)
        narrow = np.full(narrow_span[-1], ALONE, np.uint32)
        wide = np.empty(wide_span[-1], np.uint64)
        leaves = no_leaves(count)
        lay_out_intervals(trees, *label_trees(trees), leaves, narrow_span, wide_span, narrow, wide)
        start, narrow = share_labels(narrow_span, narrow)
        intervals = Intervals(np.where(is_narrow, start, wide_span[:-1]), narrow, wide)
        return cls(conjunctions, lay_out_places(leaves, len(conjunctions), always), intervals)

    def evaluate(self, places: Lists) -> Lists:
        """The rules that match, given the places that hold: MATCH (Algorithm 5)."""
        with self._matched.lent() as matched:
            return match_intervals(self._places, self._intervals, places, matched)

    @staticmethod
    def check_labels(check: Check, name: str, labels: Intervals, rule_start: Ints) -> None:
        """IndexFileError unless every place has an interval of its rule's segment."""
        check.length(f"{name}.start", labels.start, len(rule_start) - 1)
        check.sound(f"{name}.start", unsound_intervals(rule_start, labels))
