"""What it takes to build the compared structures: index accesses, keys and entries.

Adding a tuple to an index is one index access, and so is adding it to a list. An index has a key for each
different value, and an entry for each tuple under its value. Body atoms with the same constants on the same
relation share what is built for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tocsin_lab.yield_index.access_counts import Relations, with_constants
from tocsin_lab.yield_index.joins import different
from tocsin_lab.yield_index.rule_atoms import ConjunctiveRule
from tocsin_lab.yield_index.structures import Structure


@dataclass(frozen=True)
class Built:
    """Sums over all indexes of a structure."""

    index_accesses: int
    keys: int
    entries: int


def build(rule: ConjunctiveRule, relations: Relations, structure: Structure) -> Built:
    """Build what the structure has for a rule."""
    accesses = keys = entries = 0
    done: set[tuple[str, tuple[tuple[int, int], ...], int | None]] = set()
    for atom in rule.body:
        listed = structure.is_listed(atom)
        rows = relations[atom.relation]
        constants = atom.constants if listed else ()
        if listed and (atom.relation, constants, None) not in done:
            done.add((atom.relation, constants, None))
            rows = with_constants(atom, rows)
            accesses += len(rows)
            keys += 1
            entries += len(rows)
        for column in structure.columns(rule, atom):
            if (atom.relation, constants, column) not in done:
                done.add((atom.relation, constants, column))
                accesses += len(rows)
                keys += len(different(rows[:, column]))
                entries += len(rows)
    return Built(accesses, keys, entries)
