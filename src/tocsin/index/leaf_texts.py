"""Leaves as they were written."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import IndexFileError
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.conditions import parse_predicate
from tocsin.grammar.tree import Predicate


class Texts(NamedTuple):
    """Strings as bytes: string i is data[start[i] : start[i + 1]]."""

    start: NDArray[np.int64]
    data: NDArray[np.uint8]

    def text(self, number: int) -> str:
        """One of the strings."""
        return self.data[self.start[number] : self.start[number + 1]].tobytes().decode()


def predicate_of(leaf_text: Texts, leaf: int) -> Predicate:
    """A leaf's predicate, in canonical form, from its text."""
    predicate, _ = parse_predicate(leaf_text.text(leaf))
    if not isinstance(predicate, Predicate):
        raise IndexFileError(f"the index is damaged: its leaf {leaf} is a constant")
    return canonical_predicate(predicate)
