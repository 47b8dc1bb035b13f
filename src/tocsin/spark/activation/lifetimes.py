"""Facts with a time to live, in event time: one key for each fact, before it goes anywhere else.

A fact that is given at a time t lives until t + ttl: it goes in the first batch whose watermark has come so
far. Given again, it lives until the later of the two moments. All that goes in one batch goes at once, before
the changes of the batch, and has no seq. A fact that comes when its time is over already is passed
over. What leaves this stage are net changes of facts, so that nothing behind it need know about time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tocsin.spark.activation.initial import Initial
from tocsin.spark.activation.rows import Change, Moved, in_turn
from tocsin.spark.activation.texts import Texts


class Life(NamedTuple):
    """Whether a fact is given, and until when, in milliseconds; None for ever."""

    given: bool
    until: int | None


class Timed(NamedTuple):
    """A change of a fact and its event time, in milliseconds."""

    change: Change
    time: int


NEVER = Life(False, None)


def life_at_start(initial: Initial, relation: str, texts: Texts) -> Life:
    """What is known of a fact that no change has touched: one that stands in the program lives for ever."""
    return Life(initial.is_fact(relation, texts), None)


def lived(
    relation: str, texts: Texts, life: Life, changes: Sequence[Timed], ttl: int, watermark: int
) -> tuple[Life, list[Moved]]:
    """The life of a fact after a batch, and its net changes."""
    moved: list[Moved] = []
    if life.until is not None and life.until <= watermark:
        life = NEVER
        moved.append(Moved("given", "-", relation, texts, None))
    times = _latest(changes)
    for seq, together in in_turn(timed.change for timed in changes):
        before = life.given
        for change in together:
            life = _changed(life, change.op, times[change.seq] + ttl, watermark)
        if life.given != before:
            moved.append(Moved("given", "+" if life.given else "-", relation, texts, seq))
    return life, moved


def _changed(life: Life, op: str, until: int, watermark: int) -> Life:
    if op == "-":
        return NEVER
    if until <= watermark:
        return life
    if life.until is not None:
        until = max(until, life.until)
    return Life(True, until)


def _latest(changes: Iterable[Timed]) -> dict[int | None, int]:
    """The latest time at which the fact is given in each seq."""
    times: dict[int | None, int] = {}
    for change, time in changes:
        times[change.seq] = max(time, times.get(change.seq, time))
    return times
