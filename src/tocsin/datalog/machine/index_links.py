"""Which columns of which relations share a data index.

A *side* is one side of a constraint: some columns of a relation, in a fixed order. Sides that a rule holds
equal are tied: they share one data index, in whose entries the tuples of all of them hang, so that partners
are found without a search. The same side in several rules is the same index, so rules share what they have
in common. A *link* is what hangs: the tuples of a side that have certain constants. An entry has room for all
links of its index, so sides are not tied beyond MOST_SIDES; a rule whose sides are not tied searches instead.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.datalog.language.syntax import Type

MOST_SIDES = 16


class Side(NamedTuple):
    """Columns of a relation that are a key together; one column may be kept in the order of its type."""

    relation: str
    columns: tuple[int, ...]
    order: Type | None = None


class ColumnTest(NamedTuple):
    """A column must have this word, or the value of another column: `p(x, x)`."""

    column: int
    word: int | None
    other: int | None


class Link(NamedTuple):
    """The tuples of a side that pass the tests. A counted link only knows how many an entry has.

    That is enough for a negated atom, and for one of which nothing is wanted but that there is some tuple.
    """

    side: Side
    tests: tuple[ColumnTest, ...]
    counted: bool


class Links:
    """All links, numbered, and the data indexes they hang in: `members` lists the links of each."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.members: list[list[int]] = []
        self._index: dict[Side, int] = {}
        self._number: dict[Link, int] = {}
        self._built = 0

    def tie(self, left: Side, right: Side) -> None:
        """Have two sides share a data index, if none of them hangs in another one already."""
        here, there = self._index.get(left), self._index.get(right)
        if here is not None and there is not None:
            sides = [side for side, index in self._index.items() if index in (here, there)]
            if here != there and min(here, there) >= self._built and len(sides) <= MOST_SIDES:
                self._index.update(dict.fromkeys(sides, here))
                self.members[here] += self.members[there]
                self.members[there] = []
            return
        index = here if here is not None else there
        if index is None or sum(other == index for other in self._index.values()) >= MOST_SIDES:
            index = self._new_index()
        self._index.setdefault(left, index)
        self._index.setdefault(right, index)

    def are_tied(self, left: Side, right: Side) -> bool:
        """Whether tuples of both sides with one key hang in one entry."""
        return left in self._index and self._index[left] == self._index.get(right)

    def link(self, link: Link) -> int:
        """The number of a link, a new one if need be."""
        if link not in self._number:
            if link.side not in self._index:
                self._index[link.side] = self._new_index()
            self._number[link] = len(self.links)
            self.members[self._index[link.side]].append(len(self.links))
            self.links.append(link)
        return self._number[link]

    def index_of(self, link: int) -> int:
        """The data index that a link's tuples hang in."""
        return self._index[self.links[link].side]

    def build(self) -> range:
        """Say that all indexes have tuples now, and can no longer be merged; the numbers of the new ones."""
        new = range(self._built, len(self.members))
        self._built = len(self.members)
        return new

    def _new_index(self) -> int:
        self.members.append([])
        return len(self.members) - 1
