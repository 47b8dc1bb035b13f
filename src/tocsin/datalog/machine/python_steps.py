"""Steps that are worked out outside the kernels: maps over values, and aggregates.

A kernel lays the tuples that come and go aside (OUTBOX) and asks when it can do no more without. What is
given back are derivations, as plans find them: rows of a head, each with a sign and a rank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.closure_graph import ClosureGraph
from tocsin.datalog.machine.group_values import Accumulator, accumulator
from tocsin.datalog.machine.normal_form import AggregateRule, ClosureRule, MapRule, NormalProgram, Source
from tocsin.datalog.machine.store import Store
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.errors import DerivationError


class Derivations(NamedTuple):
    """Rows of `head` that got one derivation more (sign 1) or less (-1)."""

    head: str
    rows: Longs
    signs: Longs
    ranks: Longs


class OutsideStep(ABC):
    """Something that follows the tuples of one relation."""

    def __init__(self, origin: str, source: Source | None) -> None:
        self.origin = origin
        self._text = source.text if source else None
        self.failing: dict[Any, DerivationError] = {}
        """Why something that is there now has no result: it may go before all is settled."""

    @abstractmethod
    def take(self, rows: Longs, signs: Longs, ranks: Longs) -> Derivations | None:
        """What comes of tuples that came or went."""

    def empty(self) -> None:
        """All tuples that came are gone, and so is what came of them."""
        self.failing.clear()

    def _note(self, what: Any, error: DerivationError) -> None:
        """It has no result."""
        self.failing[what] = DerivationError(error.reason, rule=error.rule or self._text)


class MapStep(OutsideStep):
    """A MapRule. Its function is asked again when a tuple goes, and gives the same."""

    def __init__(self, rule: MapRule, origin: TupleCode, head: TupleCode, symbols: Symbols) -> None:
        super().__init__(rule.origin, rule.source)
        self._rule = rule
        self._origin = origin
        self._head = head
        self._symbols = symbols

    def take(self, rows: Longs, signs: Longs, ranks: Longs) -> Derivations:
        """The images of all rows."""
        images: list[Sequence[int]] = []
        sources: list[int] = []
        known = len(self._symbols)
        for number, values in enumerate(self._origin.decode_rows(rows)):
            try:
                found_here = [self._head.encode(image) for image in self._rule.function(values)]
            except DerivationError as error:
                if signs[number] > 0:
                    self._note(values, error)
                else:
                    self.failing.pop(values, None)
                continue
            if len(self._symbols) > known:
                self._symbols.count_made(known, self._text)
                known = len(self._symbols)
            images += found_here
            sources += [number] * len(found_here)
        found = np.array(images, np.int64).reshape(len(images), len(self._head.types))
        return Derivations(self._rule.head, found, signs[sources], ranks[sources])


class ClosureStep(OutsideStep):
    """A ClosureRule: arcs come and go, and nothing is derived until somebody looks."""

    def __init__(self, rule: ClosureRule) -> None:
        super().__init__(rule.arc, rule.source)
        self.head = rule.head
        self.graph = ClosureGraph()
        self.before = self.graph.version

    def begin(self) -> None:
        """From here on is the next change."""
        self.before = self.graph.version

    def change(self) -> ClosureChange:
        """What changed since it began."""
        return self.graph.changes_between(self.before, self.graph.version)

    def empty(self) -> None:
        """Delete all arcs; `change` goes on telling the whole."""
        self.graph.delete(self.graph.arcs())

    def take(self, rows: Longs, signs: Longs, ranks: Longs) -> None:  # noqa: ARG002  no recursion here
        """Take the arcs. One that goes and comes within a batch goes first."""
        going, coming = rows[signs < 0], rows[signs > 0]
        if self.graph.delete(going) != len(going) or self.graph.insert(coming) != len(coming):
            raise AssertionError("an arc that goes was there, and one that comes was not")


class AggregateStep(OutsideStep):
    """An AggregateRule: the groups that there are, and what each came to when it was last asked."""

    def __init__(self, rule: AggregateRule, symbols: Symbols, head: TupleCode) -> None:
        super().__init__(rule.origin, rule.source)
        self._rule = rule
        self._symbols = symbols
        self._word = symbols.writer(head.types[-1])
        self._groups: dict[tuple[int, ...], Accumulator] = {}

    def take(self, rows: Longs, signs: Longs, ranks: Longs) -> Derivations:  # noqa: ARG002  no recursion here
        """For each group that changed, the result it had and the one it has now."""
        width, groups = self._rule.group, self._groups
        touched: dict[tuple[int, ...], Accumulator] = {}
        keys = map(tuple, rows[:, :width].tolist())
        values: Iterable[object] = repeat(None, len(rows))
        if self._rule.function != "count":
            values = self._symbols.values(rows[:, width], self._rule.type)
        for key, value, sign in zip(keys, values, signs.tolist(), strict=True):
            group = groups.get(key)
            if group is None:
                group = groups[key] = accumulator(self._rule.function, self._rule.type)
            group.change(value, sign)
            touched[key] = group
        found: list[tuple[int, ...]] = []
        ways: list[int] = []
        for key, group in touched.items():
            if group.count < 0:
                raise AssertionError("what goes from a group was in it")
            before, group.word = group.word, self._result(key, group)
            if group.count == 0:
                del groups[key]
            if group.word == before:
                continue
            if before is not None:
                found.append((*key, before))
                ways.append(-1)
            if group.word is not None:
                found.append((*key, group.word))
                ways.append(1)
        head = np.array(found, np.int64).reshape(len(found), width + 1)
        return Derivations(self._rule.head, head, np.array(ways, np.int64), np.zeros(len(ways), np.int64))

    def empty(self) -> None:
        """There are no groups."""
        self._groups.clear()
        super().empty()

    def _result(self, key: tuple[int, ...], group: Accumulator) -> int | None:
        """The word of a group's result, None for a group without tuples or without a result."""
        self.failing.pop(key, None)
        if group.count == 0:
            return None
        try:
            return self._word(group.result())
        except DerivationError as error:
            self._note(key, error)
            return None


def outside_steps(
    program: NormalProgram, codes: Mapping[str, TupleCode], symbols: Symbols
) -> list[OutsideStep]:
    """The steps of a program that kernels do not work out."""
    steps: list[OutsideStep] = []
    for rule in program.steps:
        if isinstance(rule, MapRule):
            steps.append(MapStep(rule, codes[rule.origin], codes[rule.head], symbols))
        elif isinstance(rule, AggregateRule):
            steps.append(AggregateStep(rule, symbols, codes[rule.head]))
        elif isinstance(rule, ClosureRule):
            steps.append(ClosureStep(rule))
    return steps


def taken_outside(steps: Sequence[OutsideStep], outbox: Longs, store: Store) -> Longs:
    """Have steps take what was laid aside for them, rows of OUTBOX; what they derive, as EMISSIONS has it."""
    found = [np.empty(0, np.int64)]
    for place in np.unique(outbox[:, 0]).tolist():
        of_step = outbox[outbox[:, 0] == place]
        relation, numbers = int(of_step[0, 1]), of_step[:, 2]
        rows, ranks = store.rows(relation, numbers), store.ranks(relation, numbers)
        derived = steps[place].take(rows, of_step[:, 3], ranks)
        if derived is not None:
            head = np.full(len(derived.rows), store.number_of[derived.head], np.int64)
            found.append(np.column_stack((head, derived.signs, derived.ranks, derived.rows)).reshape(-1))
    return np.concatenate(found)
