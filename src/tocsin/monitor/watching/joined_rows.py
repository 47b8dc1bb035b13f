"""The rows of triggers of one shape, and the combinations that agree in trigger and keys."""

from __future__ import annotations

from tocsin.monitor.watching.triggers import Shape

Tuple = tuple[int, ...]


class JoinedRows:
    """Tuples (trigger, a word for each equality of the position, row) by position."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._relations: list[dict[int, set[Tuple]]] = [{} for _ in shape]

    def insert(self, position: int, row: Tuple) -> None:
        """Add a tuple to a position."""
        self._relations[position].setdefault(row[0], set()).add(row)

    def delete(self, position: int, row: Tuple) -> None:
        """Take a tuple away from a position."""
        self._relations[position][row[0]].discard(row)

    def combinations(self, position: int, row: Tuple) -> list[Tuple]:
        """The row numbers, by position, of every combination that has this tuple in this position."""
        combos: list[tuple[dict[int, int], Tuple]] = [({}, ())]
        for place, equalities in enumerate(self._shape):
            candidates = {row} if place == position else self._relations[place].get(row[0], set())
            grown = []
            for bound, rows in combos:
                for found in candidates:
                    keys = dict(zip(equalities, found[1:-1], strict=True))
                    if all(bound.get(number, key) == key for number, key in keys.items()):
                        grown.append(({**bound, **keys}, (*rows, found[-1])))
            combos = grown
        return [rows for _, rows in combos]
