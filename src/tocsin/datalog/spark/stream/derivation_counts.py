"""The second stage: for each tuple of a counted relation, how many rules and keys derive it.

A tuple holds while it is given as a fact, or while anything derives it. What goes out is the net change: that
it came to hold, or ceased to. A tuple has an entry while it differs from what the program gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tocsin.datalog.spark.stream.bucket_journal import Entries, Fact
from tocsin.datalog.spark.stream.buckets import Contents, Made
from tocsin.datalog.spark.stream.initial_facts import Initial
from tocsin.datalog.spark.stream.step_rows import Change, Moved, by_fact, in_turn

FACTS_TO_AN_ENTRY = 3
"""An entry takes the memory of so many facts in an engine."""


class Count(NamedTuple):
    """Whether a tuple is given, and how many derive it."""

    given: bool
    derivations: int

    @property
    def holds(self) -> bool:
        """Whether the tuple holds."""
        return self.given or self.derivations > 0


class Counts(Contents):
    """The counts of the tuples of a bucket."""

    def __init__(self, initial: Initial) -> None:
        self._initial = initial
        self._counts: dict[Fact, Count] = {}

    @property
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""
        return FACTS_TO_AN_ENTRY * len(self._counts)

    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""
        self._counts = {fact: Count(*count) for fact, count in entries.items()}

    def follow(self, changed: Entries) -> None:
        """Change entries, and report nothing."""
        for fact, count in changed.items():
            if count is None:
                self._counts.pop(fact, None)
            else:
                self._counts[fact] = Count(*count)

    def make(self, changes: Sequence[Change], watermark: int) -> Made:  # noqa: ARG002
        """Make the changes of a batch."""
        made = Made([], {})
        for fact, of_it in by_fact(changes).items():
            start = _at_start(self._initial, fact)
            before = self._counts.get(fact, start)
            after, moved = counted(fact, before, of_it)
            made.moved.extend(moved)
            if after != before:
                made.changed[fact] = None if after == start else after
        self.follow(made.changed)
        return made


def _at_start(initial: Initial, fact: Fact) -> Count:
    """What is known of a tuple that no change has touched."""
    relation, *texts = fact
    return Count(initial.is_fact(relation, tuple(texts)), initial.supports.get((relation, tuple(texts)), 0))


def counted(fact: Fact, count: Count, changes: Iterable[Change]) -> tuple[Count, list[Moved]]:
    """The count of a tuple after the changes of a batch, and the net changes, by seq."""
    relation, *texts = fact
    moved: list[Moved] = []
    for seq, together in in_turn(changes):
        before = count.holds
        for change in together:
            if change.kind == "given":
                count = count._replace(given=change.op == "+")
            else:
                step = 1 if change.op == "+" else -1
                count = count._replace(derivations=count.derivations + step)
        if count.holds != before:
            moved.append(Moved("net", "+" if count.holds else "-", relation, tuple(texts), seq))
    return count, moved
