"""The first stage: for each key of a unit, the facts that went to it, and an engine that knows what follows.

The facts of a key are in Spark's state store, where they outlive the process; derived tuples are not. The
engines are in the memory of the Python workers. One engine serves all keys of a unit that a worker meets: the
tuples of two keys never meet in a rule, so what the engine says of a change is about the key it was made for.

    state of a key      token       another one after each batch that touched the key
                        log         what the last batches changed, and the token before each of them
                        facts       one entry for each fact
    worker              engine      the facts of some keys, as of some token each

A worker whose token of a key is the stored one goes on at once, and reads and writes no more than what
changes. One that has an older token, because another worker had the key in between or because a task failed
after it had changed the engine, follows the log, or else takes the key's facts from the store again. A
token is drawn at random: no two states of a key, not even those of a repeated batch, have the same.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from tocsin.grammar.datalog.syntax import Value
from tocsin.monitor.programs.changes import Changes
from tocsin.monitor.programs.engine import Engine
from tocsin.monitor.programs.requests import Operation
from tocsin.spark.activation.initial import Setting
from tocsin.spark.activation.rows import Change, Kind, Moved, in_turn
from tocsin.spark.activation.texts import fact_of_text, fact_text, texts_of, values_of
from tocsin.spark.activation.units import Unit

BATCHES_IN_LOG = 4
FACTS_IN_LOG = 10_000
"""So much a unit without keys remembers of the past: two workers that take turns need not load it again."""

LARGEST_ENGINE = 2_000_000
"""So many facts are taken into an engine, or twice as many as a key has, before a new one takes its place."""


class Head(NamedTuple):
    """The small part of a key's state. `log` has, oldest first, each batch's token before and changes."""

    token: str
    log: list[tuple[str, dict[str, bool]]]

    def to_json(self) -> str:
        """As a text."""
        return json.dumps(self, ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> Head:
        """From such a text."""
        token, log = json.loads(text)
        return Head(token, [(before, changed) for before, changed in log])


class KeyState(Protocol):
    """The state of the key at hand, in Spark's store or in a test's."""

    def head(self) -> Head | None:
        """The small part; None of a key that has what the program gives it."""

    def facts(self) -> Iterable[str]:
        """The facts, as fact_text writes them."""

    def write(self, head: Head, changed: Mapping[str, bool]) -> None:
        """Put facts in or take them out, and set the small part."""

    def is_empty(self) -> bool:
        """Whether there is no fact."""

    def clear(self) -> None:
        """Have no state any more."""


class KeyedEngine:
    """The engine of a unit in one worker, and as of which token it holds each key."""

    def __init__(self, setting: Setting, unit: Unit) -> None:
        self._setting = setting
        self.unit = unit
        self._types = {port.name: unit.program.relations[port.name].types for port in unit.takes}
        self._renew()

    def change(self, key: str, state: KeyState, changes: Iterable[Change]) -> list[Moved]:
        """Make the changes of a batch to a key, seq by seq; what follows from them, by seq."""
        try:
            return self._change(key, state, changes)
        except BaseException:
            self._renew()  # it may hold what never was
            raise

    def _renew(self) -> None:
        self._engine: Engine | None = None
        self._tokens: dict[str, str] = {}
        self._loaded = 0
        self._most = LARGEST_ENGINE

    @property
    def engine(self) -> Engine:
        """The engine; made when it is first asked for."""
        if self._engine is None:
            self._engine = self._setting.initial.engine(self.unit)
        return self._engine

    def _change(self, key: str, state: KeyState, changes: Iterable[Change]) -> list[Moved]:
        if self._loaded > self._most:
            self._renew()
        head = state.head()
        self._catch_up(key, head, state)
        derived: list[Moved] = []
        changed: dict[str, bool] = {}
        for seq, together in in_turn(changes):
            derived += self._moved(self.engine.apply(map(self._operation, together)), seq)
            changed |= {fact_text(each.port, each.tuple): each.op == "+" for each in together}
        if head is None:
            changed = {**dict.fromkeys(self._facts_at_start(key), True), **changed}
        new = self._next(head, changed)
        state.write(new, changed)
        self._tokens[key] = new.token
        self._loaded += len(changed)
        if not all(changed.values()) and state.is_empty() and not self._facts_at_start(key):
            state.clear()
            del self._tokens[key]
        return derived

    def _operation(self, change: Change) -> Operation:
        return change.op, change.port, values_of(change.tuple, self._types[change.port])

    def _moved(self, changes: Changes, seq: int | None) -> Iterator[Moved]:
        unit = self.unit
        kind: Kind = "support" if unit.counted else "net"
        for op, changed in (("-", changes.removed), ("+", changes.added)):
            for name, tuples in changed.items():
                for values in tuples:
                    yield Moved(kind, op, unit.gives[name], texts_of(values[unit.extra :]), seq)

    def _next(self, head: Head | None, changed: Mapping[str, bool]) -> Head:
        token = secrets.token_hex(8)
        if head is None or self.unit.key is not None or len(changed) > FACTS_IN_LOG:
            return Head(token, [])
        log = [*head.log, (head.token, dict(changed))][-BATCHES_IN_LOG:]
        while sum(len(entry) for _, entry in log) > FACTS_IN_LOG:
            log.pop(0)
        return Head(token, log)

    # ---- Bringing the engine to where the state is

    def _catch_up(self, key: str, head: Head | None, state: KeyState) -> None:
        token = None if head is None else head.token
        known = self._tokens.get(key)
        if token == known:
            return
        tokens = [] if head is None else [before for before, _ in head.log]
        if head is not None and known in tokens:
            for _, changed in head.log[tokens.index(known) :]:
                self._put(changed)
        else:
            self._forget(key)
            facts = self._facts_at_start(key) if head is None else list(state.facts())
            self._put(dict.fromkeys(facts, True))
            self._most = max(self._most, 2 * len(facts))
        if token is None:
            del self._tokens[key]
        else:
            self._tokens[key] = token

    def _put(self, facts: Mapping[str, bool]) -> None:
        """Take facts in or out; what follows was reported when it was new."""
        operations: list[Operation] = []
        for text, given in facts.items():
            port, texts = fact_of_text(text)
            operations.append(("+" if given else "-", port, values_of(texts, self._types[port])))
        self.engine.apply(operations)
        self._loaded += len(facts)

    def _forget(self, key: str) -> None:
        """Take out of the engine what it holds of a key."""
        if self.unit.key is None:
            self._engine = self._setting.initial.empty_engine(self.unit)
            self._loaded = 0
            return
        held: dict[str, bool] = {}
        for port in self.unit.takes:
            types = self._types[port.name]
            pattern: list[Value | None] = [None] * len(types)
            if port.column is not None:
                pattern[port.column] = values_of([key], [types[port.column]])[0]
            for values in self.engine.query(port.name, tuple(pattern)):
                held[fact_text(port.name, texts_of(values))] = False
        self._put(held)

    def _facts_at_start(self, key: str) -> list[str]:
        return self._setting.initial.facts_of_key(self.unit, key)
