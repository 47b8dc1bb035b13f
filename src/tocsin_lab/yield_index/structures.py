"""The index structures that the paper compares with, as what each of them indexes.

no index  nothing
FAI       the first column of each relation
AAI       every column of each relation
AMEM      of each body atom with constants: the tuples that hold them, as a list
FI        the same lists, and within them every column that is joined
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tocsin_lab.yield_index.rule_atoms import Atom, ConjunctiveRule


class Structure(NamedTuple):
    """`columns` gives the indexed columns of a body atom's relation. With `memories`, an atom with constants
    has a list of the tuples that hold them, and its indexes are of these alone.
    """

    name: str
    columns: Callable[[ConjunctiveRule, Atom], tuple[int, ...]]
    memories: bool

    def is_listed(self, atom: Atom) -> bool:
        """Whether there is a list of the tuples that an atom's constants leave."""
        return self.memories and bool(atom.constants)


def _no_columns(_rule: ConjunctiveRule, _atom: Atom) -> tuple[int, ...]:
    return ()


NO_INDEX = Structure("no index", _no_columns, memories=False)
FAI = Structure("FAI", lambda _rule, atom: (0,)[: len(atom.terms)], memories=False)
AAI = Structure("AAI", lambda _rule, atom: tuple(range(len(atom.terms))), memories=False)
AMEM = Structure("AMEM", _no_columns, memories=True)
FI = Structure("FI", lambda rule, atom: rule.join_columns(atom), memories=True)

STRUCTURES = (NO_INDEX, FAI, AAI, AMEM, FI)
