"""When tuples expire. Time is the user's: it is 0 at the start, and moves only when `advance` is called."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

Time = int | float
Fact = tuple[str, tuple[int, ...]]
"""A relation and a row of words."""


_STALE = 1_000
"""So many moments that were changed since may stay in the heap, beside as many as there are others."""


class Expiry:
    """The clock, and the moment at which each tuple with a time to live ends.

    `moments` is the truth. The heap holds every moment that was set; one that was changed since is
    passed over when it comes up.
    """

    def __init__(self, now: Time = 0, moments: dict[Fact, Time] | None = None) -> None:
        self.now = now
        self.moments: dict[Fact, Time] = moments or {}
        self.stayed()

    def by_relation(self) -> dict[str, dict[tuple[int, ...], Time]]:
        """The rows of each relation that expire, and when."""
        found: dict[str, dict[tuple[int, ...], Time]] = {}
        for (name, row), moment in self.moments.items():
            found.setdefault(name, {})[row] = moment
        return found

    def set(self, fact: Fact, ttl: Time | None) -> None:
        """A tuple lives from now on for so long, or for ever."""
        if ttl is None:
            self.moments.pop(fact, None)
            return
        moment = self.now + ttl
        heappush(self._heap, (moment, fact))
        self.moments[fact] = moment
        if len(self._heap) > 2 * len(self.moments) + _STALE:
            self.stayed()

    def due(self, now: Time) -> list[Fact]:
        """The tuples that will have expired at that time. To be followed by `passed`, or by `stayed`.

        One of them is due too if this was interrupted.
        """
        found = set()
        while self._heap and self._heap[0][0] <= now:
            moment, fact = heappop(self._heap)
            if self.moments.get(fact) == moment:
                found.add(fact)
        return list(found)

    def passed(self, now: Time, due: list[Fact]) -> None:
        """It is that time now, and these tuples are gone."""
        self.now = now
        for fact in due:
            self.moments.pop(fact, None)

    def stayed(self) -> None:
        """Nothing has gone: what is due is still due."""
        self._heap: list[tuple[Time, Fact]] = [(moment, fact) for fact, moment in self.moments.items()]
        heapify(self._heap)

    def put_back(self, moments: Mapping[Fact, Time | None]) -> None:
        """Tuples end when they did before, or not at all."""
        for fact, moment in moments.items():
            if moment is None:
                self.moments.pop(fact, None)
            else:
                heappush(self._heap, (moment, fact))
                self.moments[fact] = moment
