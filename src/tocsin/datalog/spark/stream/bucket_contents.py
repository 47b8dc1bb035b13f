"""What a worker holds of a bucket, by what is done there: facts are joined, derivations counted, lives ended.

Facts       the first stage: for each bucket of a unit the facts that went to it, and an engine that knows the
            rest. The facts are in Spark's state store; derived tuples are not. The tuples of two keys never
            meet in a rule, so that one engine serves all keys of a bucket, and what it says of a change is
            about the key it was made for. The entry of a fact that is there is True.
Counts      the second stage: for each tuple of a counted relation, how many rules and keys derive it. A tuple
            holds while it is given as a fact, or while anything derives it. What goes out is the net change:
            that it came to hold, or ceased to.
Lives       facts with a time to live, in event time, before they go anywhere else. A fact that is given at a
            time t lives until t + ttl: it goes in the first batch whose watermark has come so far. Given
            again, it lives until the later of the two moments. All that goes in one batch goes at once,
            before the changes of the batch, and has no seq. A fact that comes when its time is over already
            is passed over. What leaves are net changes of facts, so that nothing behind need know about time.

In the last two, a fact has an entry while it differs from what the program gives it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from tocsin.datalog.engine.changes import Changes
from tocsin.datalog.engine.requests import Operation
from tocsin.datalog.spark.stream.bucket_journal import Entries, Fact
from tocsin.datalog.spark.stream.buckets import Contents, Made
from tocsin.datalog.spark.stream.initial_facts import Initial, Setting
from tocsin.datalog.spark.stream.step_rows import Kind, Moved, by_fact, in_turn, texts_of, values_of
from tocsin.datalog.spark.stream.units import Unit

LEAST_OUTGROWN = 50_000
"""So many facts an engine takes in, or four times as many as it began with, before another takes its place:
an engine remembers the texts of facts that are gone."""

FACTS_TO_AN_ENTRY = 3
"""An entry takes the memory of so many facts in an engine."""


def contents_of(setting: Setting, work: str, unit: int, bucket: int, ttl: Mapping[str, int]) -> Contents:
    """What a worker is to hold of a bucket of a step that does this work."""
    if work == "join":
        return Facts(setting, setting.plan.units[unit], bucket)
    return Counts(setting.initial) if work == "count" else Lives(setting.initial, ttl)


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

    def make(self, changes: Sequence[Moved], watermark: int) -> Made:  # noqa: ARG002
        """Make the changes of a batch."""
        moved: list[Moved] = []
        changed: Entries = {}
        for seq, together in in_turn(changes):
            moved += self._moved(self._made(together), seq)
            for each in together:
                changed[each.relation, *each.tuple] = True if each.op == "+" else None
        self._taken += len(changed)
        return Made(moved, changed)

    def _made(self, together: Sequence[Moved]) -> Changes:
        """One change is made sooner by itself than as a list of one."""
        if len(together) > 1:
            return self._engine.apply(
                [self._operation((each.relation, *each.tuple), each.op == "+") for each in together]
            )
        (only,) = together
        make = self._engine.insert if only.op == "+" else self._engine.delete
        return make(only.relation, values_of(only.tuple, self._types[only.relation]))

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


class Count(NamedTuple):
    """Whether a tuple is given, and how many derive it."""

    given: bool
    derivations: int

    @property
    def holds(self) -> bool:
        """Whether the tuple holds."""
        return self.given or self.derivations > 0


class Life(NamedTuple):
    """Whether a fact is given, and until when, in milliseconds; None for ever."""

    given: bool
    until: int | None


NEVER = Life(False, None)

State = TypeVar("State", Count, Life)


class _States(Contents, Generic[State]):
    """The states of the facts of a bucket that differ from what the program gives them."""

    _state: type[State]

    def __init__(self, initial: Initial) -> None:
        self._initial = initial
        self._states: dict[Fact, State] = {}

    @property
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""
        return FACTS_TO_AN_ENTRY * len(self._states)

    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""
        self._states = {}
        self.follow(entries)

    def follow(self, changed: Entries) -> None:
        """Change entries, and report nothing."""
        for fact, state in changed.items():
            if state is None:
                self._states.pop(fact, None)
            else:
                self._states[fact] = self._state(*state)

    def make(self, changes: Sequence[Moved], watermark: int) -> Made:
        """Make the changes of a batch, after what is due."""
        made = Made([], {})
        due: dict[Fact, list[Moved]] = {fact: [] for fact in self._due(watermark)}
        for fact, of_it in {**due, **by_fact(changes)}.items():
            start = self._start(fact)
            before = self._states.get(fact, start)
            after, moved = self._changed(fact, before, of_it, watermark)
            made.moved.extend(moved)
            if after != before:
                made.changed[fact] = None if after == start else after
        self.follow(made.changed)
        return made

    def _due(self, watermark: int) -> Iterable[Fact]:  # noqa: ARG002
        """The facts that the watermark changes by itself."""
        return ()

    @abstractmethod
    def _start(self, fact: Fact) -> State:
        """What is known of a fact that no change has touched."""

    @abstractmethod
    def _changed(
        self, fact: Fact, state: State, changes: Sequence[Moved], watermark: int
    ) -> tuple[State, list[Moved]]:
        """The state of a fact after the changes of a batch, and its net changes, by seq."""


class Counts(_States[Count]):
    """The counts of the tuples of a bucket."""

    _state = Count

    def _start(self, fact: Fact) -> Count:
        relation, texts = fact[0], fact[1:]
        return Count(self._initial.is_fact(relation, texts), self._initial.supports.get((relation, texts), 0))

    def _changed(
        self,
        fact: Fact,
        state: Count,
        changes: Sequence[Moved],
        watermark: int,  # noqa: ARG002
    ) -> tuple[Count, list[Moved]]:
        moved: list[Moved] = []
        for seq, together in in_turn(changes):
            before = state.holds
            for change in together:
                if change.kind == "given":
                    state = state._replace(given=change.op == "+")
                else:
                    step = 1 if change.op == "+" else -1
                    state = state._replace(derivations=state.derivations + step)
            if state.holds != before:
                moved.append(Moved("net", "+" if state.holds else "-", fact[0], fact[1:], seq))
        return state, moved


class Lives(_States[Life]):
    """The lives of the facts of a bucket; `ttl` is in milliseconds, by relation."""

    _state = Life

    def __init__(self, initial: Initial, ttl: Mapping[str, int]) -> None:
        super().__init__(initial)
        self._ttl = ttl
        self._ends: list[tuple[int, Fact]] = []

    @property
    def size(self) -> int:
        """How much memory it takes, in facts of an engine."""
        return FACTS_TO_AN_ENTRY * len(self._ends)

    @property
    def next_end(self) -> int | None:
        """When the first of the facts goes."""
        while self._ends:
            until, fact = self._ends[0]
            if fact in self._states and self._states[fact].until == until:
                return until
            heappop(self._ends)
        return None

    def fill(self, entries: Entries) -> None:
        """Hold these entries and no others."""
        self._ends = []
        super().fill(entries)

    def follow(self, changed: Entries) -> None:
        """Change entries, and report nothing."""
        super().follow(changed)
        for fact, life in changed.items():
            if life is not None and life[1] is not None:
                heappush(self._ends, (life[1], fact))

    def _due(self, watermark: int) -> list[Fact]:
        due: list[Fact] = []
        while (end := self.next_end) is not None and end <= watermark:
            due.append(heappop(self._ends)[1])
        return due

    def _start(self, fact: Fact) -> Life:
        return Life(self._initial.is_fact(fact[0], fact[1:]), None)

    def _changed(
        self, fact: Fact, state: Life, changes: Sequence[Moved], watermark: int
    ) -> tuple[Life, list[Moved]]:
        moved: list[Moved] = []
        if state.until is not None and state.until <= watermark:
            state = NEVER
            moved.append(Moved("given", "-", fact[0], fact[1:], None))
        ends = {seq: time + self._ttl[fact[0]] for seq, time in _latest(changes).items()}
        for seq, together in in_turn(changes):
            before = state.given
            for change in together:
                state = NEVER if change.op == "-" else _given(state, ends[seq], watermark)
            if state.given != before:
                moved.append(Moved("given", "+" if state.given else "-", fact[0], fact[1:], seq))
        return state, moved


def _given(life: Life, until: int, watermark: int) -> Life:
    if until <= watermark:
        return life
    if life.until is not None:
        until = max(until, life.until)
    return Life(True, until)


def _latest(changes: Iterable[Moved]) -> dict[int | None, int]:
    """The latest time at which the fact is given in each seq."""
    times: dict[int | None, int] = {}
    for change in changes:
        if change.op == "+" and change.time is not None:
            times[change.seq] = max(change.time, times.get(change.seq, change.time))
    return times
