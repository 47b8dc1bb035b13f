"""Rules that change while they are matched: one writer at a time, and readers that never wait.

    insert, delete, ... ──> lock ──> ledger, appended to or stamped ──> the next version, by one assignment
                                                                              │
    match ──────────────────────────────────── picks up a version <───────────┘

The ledger's writes concern no version that is out, so it is the assignment that makes them visible,
all at once. What takes longer, compiling layers together, is done beside this (compaction.py) and
published in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.compaction import Upkeep, fresh_rules
from tocsin.conditions.live.index_statistics import GRAPH_ENGINE
from tocsin.conditions.live.layered_snapshot import LayeredSnapshot
from tocsin.conditions.live.layers import Layer
from tocsin.errors import RuleError, UnknownRuleError
from tocsin.fork_locks import RULES, fork_safe_lock

if TYPE_CHECKING:
    from tocsin.conditions.live.index import Index

FRESH_WAIT_AT = 1 << 15
"""With so many fresh rules the writer compiles them itself: the background has fallen behind."""


class LiveRules:
    """The present version, and how it becomes the next."""

    shards: tuple[Index, ...] = ()

    def __init__(self, main: Layer) -> None:
        self.engine = main.engine
        suffix = "" if self.engine == GRAPH_ENGINE else f", engine {self.engine}"
        self.title = f"tocsin.Index of {{rules}}{suffix}"
        self.version = LayeredSnapshot.of(main)
        self._lock = fork_safe_lock(RULES)
        self._upkeep = Upkeep(self, self._lock)

    def apply(self, changes: Sequence[Change]) -> None:
        """Make the changes, in their order and all at once.

        Each is judged as if those before it were made. Raises RuleError when an id to insert is taken
        and UnknownRuleError when one to replace or delete is not there; then nothing has changed. So
        does a rule to add that the engine cannot take.
        """
        if not changes:
            return
        self.version.main.check_taken(changes)
        with self._lock:
            version = self.version
            live = version.live + _check(version, changes)
            _write(version, changes)
            self.version = version.next(live)
            self._upkeep.start_if_due(self.version)
        if fresh_rules(self.version) > FRESH_WAIT_AT:
            self.version.settled()

    def compact(self) -> Layer:
        """Compile all rules into one main index; what is changed meanwhile stays beside it.

        Gives the main index, which holds exactly the rules of one moment during the call.
        """
        return self._upkeep.compact()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the main index, compacted, to one file."""
        self.compact().save(path)


def _check(version: LayeredSnapshot, changes: Sequence[Change]) -> int:
    """By how many rules there will be more; raises when a change cannot be made."""
    is_there: dict[str, bool] = {}
    more = 0
    for change in changes:
        known = is_there.get(change.rule)
        there = version.find(change.rule) is not None if known is None else known
        if change.drops and not there:
            raise UnknownRuleError(change.rule)
        if there and not change.drops:
            raise RuleError(f"the id '{change.rule}' is already taken", rule=change.rule)
        if change.metadata:
            version.ledger.check_metadata_names(change.rule, change.metadata)
        is_there[change.rule] = change.adds
        more += change.adds - change.drops
    return more


def _write(version: LayeredSnapshot, changes: Sequence[Change]) -> None:
    ledger = version.ledger
    for change in changes:
        if change.drops:
            ledger.strike(ledger.newest(change.rule), version.change + 1)
        if change.adds:
            ledger.append(change.rule, change.when, change.metadata)
