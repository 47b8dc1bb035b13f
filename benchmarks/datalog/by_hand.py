"""The rule of UC as somebody would write it who needs this one rule and no other: sets and dictionaries.

    canuse(x, y) :- near(x, z), use(x, z), request(z, y).

A pair (x, z) counts when it is both near and use; a tuple (x, y) is there as long as one such pair gives it.
Inserts and deletes tell which tuples came and which went, as tocsin does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

Pair = tuple[int, int]

NONE: tuple[Pair, ...] = ()
NOBODY: Collection[int] = ()


class CanUse:
    """The relations, the pairs that count by their z, and how many derivations each tuple has."""

    def __init__(self) -> None:
        self.near: set[Pair] = set()
        self.use: set[Pair] = set()
        self.requested: dict[int, set[int]] = {}
        self.users: dict[int, set[int]] = {}
        self.canuse: dict[Pair, int] = {}

    def insert(self, relation: str, row: Pair) -> Iterable[Pair]:
        """The tuples that came."""
        if relation == "request":
            return self._insert_request(row)
        mine, other = (self.near, self.use) if relation == "near" else (self.use, self.near)
        if row in mine:
            return NONE
        mine.add(row)
        if row not in other:
            return NONE
        x, z = row
        self.users.setdefault(z, set()).add(x)
        return self._more((x, y) for y in self.requested.get(z, NOBODY))

    def delete(self, relation: str, row: Pair) -> Iterable[Pair]:
        """The tuples that went."""
        if relation == "request":
            return self._delete_request(row)
        mine, other = (self.near, self.use) if relation == "near" else (self.use, self.near)
        if row not in mine:
            return NONE
        mine.remove(row)
        if row not in other:
            return NONE
        x, z = row
        self.users[z].remove(x)
        return self._fewer((x, y) for y in self.requested.get(z, NOBODY))

    def _insert_request(self, row: Pair) -> Iterable[Pair]:
        z, y = row
        requested = self.requested.setdefault(z, set())
        if y in requested:
            return NONE
        requested.add(y)
        return self._more((x, y) for x in self.users.get(z, NOBODY))

    def _delete_request(self, row: Pair) -> Iterable[Pair]:
        z, y = row
        if y not in self.requested.get(z, NOBODY):
            return NONE
        self.requested[z].remove(y)
        return self._fewer((x, y) for x in self.users.get(z, NOBODY))

    def _more(self, derived: Iterable[Pair]) -> Iterable[Pair]:
        canuse, came = self.canuse, []
        for pair in derived:
            count = canuse.get(pair, 0)
            canuse[pair] = count + 1
            if not count:
                came.append(pair)
        return came

    def _fewer(self, derived: Iterable[Pair]) -> Iterable[Pair]:
        canuse, gone = self.canuse, []
        for pair in derived:
            count = canuse[pair] - 1
            if count:
                canuse[pair] = count
            else:
                del canuse[pair]
                gone.append(pair)
        return gone
