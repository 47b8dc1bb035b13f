"""The second stage: for each tuple of a counted relation, how many rules and keys derive it.

A tuple holds while it is given as a fact, or while anything derives it. What goes out is the net change: that
it came to hold, or ceased to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tocsin.spark.activation.initial import Initial
from tocsin.spark.activation.rows import Change, Moved, in_turn
from tocsin.spark.activation.texts import Texts


class Count(NamedTuple):
    """Whether a tuple is given, and how many derive it."""

    given: bool
    derivations: int

    @property
    def holds(self) -> bool:
        """Whether the tuple holds."""
        return self.given or self.derivations > 0


def count_at_start(initial: Initial, relation: str, texts: Texts) -> Count:
    """What is known of a tuple that no change has touched."""
    return Count(initial.is_fact(relation, texts), initial.supports.get((relation, texts), 0))


def counted(
    relation: str, texts: Texts, count: Count, changes: Iterable[Change]
) -> tuple[Count, list[Moved]]:
    """The count of a tuple after the changes of a batch, and the net changes, by seq."""
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
            moved.append(Moved("net", "+" if count.holds else "-", relation, texts, seq))
    return count, moved
