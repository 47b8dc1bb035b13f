"""Which rows go together, for all triggers: rows enter and leave positions, and are asked for partners.

A row in a position is a tuple (trigger, word for each key..., row number). Triggers whose equalities connect
their positions in the same way have one *shape*, and are joined by one rule, in which the trigger's number is
one more variable: so a new trigger is data, like a new row.
"""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.watches.entries import Entry
from tocsin.watches.join_keys import Words
from tocsin.watches.joined_rows import JoinedRows
from tocsin.watches.watched_trigger import Shape, Watched


class Joins:
    """The rows in all positions of all triggers over several tables."""

    def __init__(self) -> None:
        self._words = Words()
        self._shapes: dict[Shape, JoinedRows] = {}

    def prepare(self, trigger: Watched) -> None:
        """Be ready for the rows of a trigger, so that none of them has to wait."""
        if len(trigger.positions) > 1 and trigger.shape not in self._shapes:
            self._shapes[trigger.shape] = JoinedRows(trigger.shape)

    def enter(self, trigger: Watched, entry: Entry, row: int) -> None:
        """A row enters a position."""
        joined = self._shapes[trigger.shape]
        for marks in entry.marks:
            words = self._words.use(marks)
            joined.insert(entry.place.position, (entry.place.trigger, *words, row))

    def leave(self, trigger: Watched, entry: Entry, row: int) -> None:
        """A row leaves a position that it entered so."""
        joined = self._shapes[trigger.shape]
        for marks in entry.marks:
            words = self._words.numbers(marks)
            joined.delete(entry.place.position, (entry.place.trigger, *words, row))
            self._words.release(words)

    def combinations(self, trigger: Watched, entry: Entry, row: int) -> Iterator[tuple[int, ...]]:
        """Every combination of rows, one for each position, that joins with this row in its position.

        The row has entered the position, unless the trigger does not remember its rows: then it enters only
        for as long as this takes, and only with marks that other rows have too.
        """
        joined = self._shapes[trigger.shape]
        position = entry.place.position
        passing = not trigger.remembers(position)
        if passing:
            shared = [marks for marks in entry.marks if all(mark in self._words for mark in marks)]
            entry = entry._replace(marks=shared)
            self.enter(trigger, entry, row)
        found: dict[tuple[int, ...], None] = {}
        for marks in entry.marks:
            words = self._words.numbers(marks)
            found.update(dict.fromkeys(joined.combinations(position, (entry.place.trigger, *words, row))))
        if passing:
            self.leave(trigger, entry, row)
        return iter(found)
