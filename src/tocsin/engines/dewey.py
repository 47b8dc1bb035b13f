"""The engine `dewey`: leaves are labelled with the way to them (section 3 of the first paper)."""

from __future__ import annotations

from typing import Self

import numpy as np

from tocsin.arrays.array_checks import Check
from tocsin.arrays.dtypes import Bytes, Flags, Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import starts
from tocsin.arrays.scratch import Scratch
from tocsin.engines.conjunction_index import ConjunctionIndex
from tocsin.engines.engine import RefusedRules, refuse_beyond
from tocsin.engines.kernels.alternating_trees import alternating
from tocsin.engines.kernels.dewey_labels import (
    WIDE,
    DeweyLabels,
    Measures,
    match_labels,
    measure,
    number_nodes,
    unsound_labels,
    write_labels,
)
from tocsin.engines.kernels.tree_places import Places, count_places
from tocsin.engines.kernels.unfolded_trees import Trees
from tocsin.engines.labelled_trees import AnnotatedTrees, lay_out_places, no_leaves, share_labels

MOST_NUMBERS = 1 << 24
"""Numbers that all wide labels of one rule may have. A tree of n levels may have some n * n / 2 of them."""

MOST_NUMBERS_OF_ALL = 1 << 30
"""Numbers that the wide labels of all rules may have."""


_PACKED = (5, 4, 3)
"""How labels can be packed, the roomiest form first: see DeweyLabels.form."""


class DeweyEngine(AnnotatedTrees):
    """A label for each place, packed where it fits. Trees are made alternating first."""

    LABELS = DeweyLabels

    def __init__(self, conjunctions: ConjunctionIndex, places: Places, labels: DeweyLabels) -> None:
        super().__init__(conjunctions, places, labels)
        self._labels = labels
        levels = int(np.diff(labels.number_start).max(initial=0))
        self._counted = Scratch(lambda: np.empty(levels + 1, np.int32))

    @classmethod
    def of_trees(cls, trees: Trees, conjunctions: ConjunctionIndex, always: Flags) -> Self:
        """Label the leaves of trees; RefusedRules when the labels of one would be too long to write out."""
        trees = alternating(trees)
        level, number = number_nodes(trees)
        measures = measure(trees, level, number)
        form = _forms(measures)
        _refuse_long_labels(measures, form)
        count = count_places(trees)
        is_wide = form == WIDE
        packed_span = starts(np.where(is_wide, 0, count), np.int64)
        labels = DeweyLabels(
            form,
            packed_span,
            np.ones(packed_span[-1], np.uint64),
            np.zeros(count[is_wide].sum() + 1, np.int64),
            np.empty(measures.numbers[is_wide].sum(), np.int32),
        )
        leaves = no_leaves(count)
        write_labels(trees, level, number, leaves, labels)
        start, packed = share_labels(packed_span, labels.packed)
        start = np.where(is_wide, starts(np.where(is_wide, count, 0), np.int64)[:-1], start)
        labels = labels._replace(start=start, packed=packed)
        return cls(conjunctions, lay_out_places(leaves, len(conjunctions), always), labels)

    def evaluate(self, places: Lists) -> Lists:
        """The rules that match, given the places that hold: Algorithms 1 to 3."""
        with self._counted.lent() as counted:
            return match_labels(self._places, self._labels, places, counted)

    @staticmethod
    def check_labels(check: Check, name: str, labels: DeweyLabels, rule_start: Ints) -> None:
        """IndexFileError unless every place has a label, and those of a rule ascend where they are packed."""
        check.length(f"{name}.form", labels.form, len(rule_start) - 1)
        check.that(
            f"{name}.form", bool(np.isin(labels.form, (WIDE, *_PACKED)).all()), "has a form that is none"
        )
        check.length(f"{name}.start", labels.start, len(rule_start) - 1)
        check.that(f"{name}.number_start", len(labels.number_start) > 0, "is empty")
        check.offsets(
            f"{name}.number_start", labels.number_start, len(labels.number_start) - 1, len(labels.number)
        )
        check.sound(f"{name}.start", unsound_labels(rule_start, labels))


def _forms(measures: Measures) -> Bytes:
    """How the labels of each rule are packed."""
    form = np.full(len(measures.levels), WIDE, np.uint8)
    for doublings in _PACKED:
        bits = 1 << doublings
        fits = (measures.levels <= 64 // bits) & (measures.largest < 1 << (bits - 1))
        form[fits] = doublings
    return form


def _refuse_long_labels(measures: Measures, form: Bytes) -> None:
    numbers = np.where(form == WIDE, measures.numbers, 0)
    long = np.flatnonzero(numbers > MOST_NUMBERS).tolist()
    if long:
        reason = f"nested too deep: its Dewey labels have more than {MOST_NUMBERS:,} numbers"
        raise RefusedRules(dict.fromkeys(long, reason))
    refuse_beyond(numbers, MOST_NUMBERS_OF_ALL, "numbers in Dewey labels")
