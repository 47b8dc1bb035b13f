"""The engine `dnf`: rules translated into conjunctions, the second paper's translation-based method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.lists import Lists
from tocsin.arrays.packed import in_large_pages
from tocsin.arrays.scratch import Scratch
from tocsin.engines.engine import RefusedRules
from tocsin.engines.kernels.conjunction_trie import Bits, Trie, find_ends, grow_trie, match_trie
from tocsin.engines.kernels.dnf_translation import (
    MOST_IN_PART,
    NO_ROOM,
    TOO_LONG,
    TOO_MANY,
    Translation,
    translate,
)
from tocsin.engines.kernels.expressions import Expressions, always_true

MOST_CONJUNCTIONS = 16_384
"""Conjunctions that a rule, or a part of it, may have before those that contain others are dropped."""

MOST_LITERALS = 1 << 29
"""Literals that all conjunctions together may have while they are made: 2 GB."""


def translated(
    expressions: Expressions, most_conjunctions: int = MOST_CONJUNCTIONS, most_literals: int = MOST_LITERALS
) -> Translation:
    """The conjunctions of all rules; RefusedRules for those that have too many or find no room."""
    translation = translate(expressions, most_conjunctions, most_literals)
    reasons = {
        TOO_MANY: f"it becomes more than {most_conjunctions:,} conjunctions",
        TOO_LONG: f"a part of it becomes conjunctions of more than {MOST_IN_PART:,} literals",
        NO_ROOM: f"with those of the rules before it there are more than {most_literals:,} literals in "
        "conjunctions",
    }
    of_rule = translation.of_rule
    refused = {rule: reasons[int(of_rule[rule])] for rule in np.flatnonzero(of_rule < 0).tolist()}
    if refused:
        raise RefusedRules(refused)
    return translation


class DnfEngine:
    """Distinct conjunctions in a trie, and the rules that each leads to."""

    def __init__(self, trie: Trie, rules: Lists, always: Ints, rule_count: int) -> None:
        self.trie = trie
        self._rules = rules
        self._always = always
        self._rule_count = rule_count
        self._bits = Scratch(self._no_bits)

    @classmethod
    def of(
        cls,
        expressions: Expressions,
        most_conjunctions: int = MOST_CONJUNCTIONS,
        most_literals: int = MOST_LITERALS,
    ) -> Self:
        """Translate the rules; RefusedRules for those that have too many conjunctions or find no room.

        Literals that are in most conjunctions come first, so that the trie has few nodes.
        """
        translation = translated(expressions, most_conjunctions, most_literals)
        uses = np.bincount(translation.conjunctions.item, minlength=expressions.literals)
        rank = np.empty(expressions.literals, np.int32)
        rank[np.argsort(-uses, kind="stable")] = np.arange(expressions.literals, dtype=np.int32)
        trie, distinct = grow_trie(translation.conjunctions, rank)
        ends = find_ends(translation, distinct)
        is_end = trie.ends >= 0
        trie.ends[is_end] = ends.of_distinct[trie.ends[is_end]]
        always = np.flatnonzero(always_true(expressions)).astype(np.int32)
        return cls(in_large_pages(trie), ends.rules, always, len(expressions.root))

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending."""
        with self._bits.lent() as bits:
            return match_trie(self.trie, self._rules, self._always, held, bits)

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory that its arrays take, by part."""
        return {
            "conjunctions": sum(array.nbytes for array in self.trie),
            "rules of conjunctions": sum(array.nbytes for array in (*self._rules, self._always)),
        }

    def _no_bits(self) -> Bits:
        lines = (self._rule_count >> 9) + 1
        return Bits(
            np.zeros((len(self.trie.first) >> 6) + 1, np.uint64),
            np.zeros(8 * lines, np.uint64),
            np.zeros(lines, np.uint8),
        )
