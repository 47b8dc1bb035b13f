"""The first stage: for each bucket of a unit, the facts that went to it, and an engine that knows the rest.

The facts are in Spark's state store; derived tuples are not. The tuples of two keys never meet in a rule, so
that one engine serves all keys of a bucket, and what it says of a change is about the key it was made for.
The entry of a fact that is there is True.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tocsin.datalog.engine.changes import Changes
from tocsin.datalog.engine.requests import Operation
from tocsin.datalog.spark.stream.bucket_journal import Entries, Fact
from tocsin.datalog.spark.stream.buckets import Contents, Made
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.step_rows import Change, Kind, Moved, in_turn
from tocsin.datalog.spark.stream.tuple_texts import texts_of, values_of
from tocsin.datalog.spark.stream.units import Unit

LEAST_OUTGROWN = 50_000
"""So many facts an engine takes in, or four times as many as it began with, before another takes its place:
an engine remembers the texts of facts that are gone."""


class Facts(Contents):
    """The facts of a bucket in an engine."""

    def __init__(self, setting: Setting, unit: Unit, bucket: int) -> None:
        self._initial = setting.initial
        self._unit = unit
        self._bucket = bucket
        self._types = {port.name: unit.program.relations[port.name].types for port in unit.takes}
        self._engine = self._initial.empty_engine(unit)
        self._taken = 0
        self._most = LEAST_OUTGROWN

    @property
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""
        return self._taken

    @property
    def is_outgrown(self) -> bool:
        """Whether it remembers much that is gone."""
        return self._taken > self._most

    def at_start(self) -> Entries:
        """What the program gives the bucket."""
        return dict.fromkeys(self._initial.facts_of_bucket(self._unit, self._bucket), True)

    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""
        self._engine = self._initial.empty_engine(self._unit)
        self._taken = 0
        self.follow(entries)
        self._most = max(LEAST_OUTGROWN, 4 * len(entries))

    def follow(self, changed: Entries) -> None:
        """Change entries, and report nothing."""
        self._engine.apply([self._operation(fact, given is not None) for fact, given in changed.items()])
        self._taken += len(changed)

    def make(self, changes: Sequence[Change], watermark: int) -> Made:  # noqa: ARG002
        """Make the changes of a batch."""
        moved: list[Moved] = []
        changed: Entries = {}
        for seq, together in in_turn(changes):
            moved += self._moved(self._made(together), seq)
            for each in together:
                changed[each.port, *each.tuple] = True if each.op == "+" else None
        self._taken += len(changed)
        return Made(moved, changed)

    def _made(self, together: Sequence[Change]) -> Changes:
        """One change is made sooner by itself than as a list of one."""
        if len(together) > 1:
            return self._engine.apply(
                [self._operation((each.port, *each.tuple), each.op == "+") for each in together]
            )
        (only,) = together
        make = self._engine.insert if only.op == "+" else self._engine.delete
        return make(only.port, values_of(only.tuple, self._types[only.port]))

    def _operation(self, fact: Fact, given: bool) -> Operation:
        port, *texts = fact
        return "+" if given else "-", port, values_of(texts, self._types[port])

    def _moved(self, changes: Changes, seq: int | None) -> Iterator[Moved]:
        unit = self._unit
        kind: Kind = "support" if unit.counted else "net"
        for op, changed in (("-", changes.removed), ("+", changes.added)):
            for name, tuples in changed.items():
                for values in tuples:
                    yield Moved(kind, op, unit.gives[name], texts_of(values[unit.extra :]), seq)
