"""Inserts, replacements, deletions, matches, saves and compactions in any order, against a plain dictionary.

The dictionary is the rules; conditions/meaning.py says which of them an event matches. Layers are a few
rules high, so that a short run merges and compacts them, in the background too.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.cases import Event, make_conditions, make_event
from tests.conditions.live.small_layers import shrink
from tests.contract.doors import built, by_cells, by_event, by_reader, by_table, counted, expected
from tests.typed_tables import make_table

import tocsin
from tocsin.conditions.language import Condition, print_condition
from tocsin.conditions.live import compaction, layered_snapshot
from tocsin.errors import RuleError, UnknownRuleError

pytestmark = [
    pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning"),  # tables lack fields at random
    pytest.mark.filterwarnings("ignore:Encountered key"),  # a map with a key twice: the last one wins
]

Wishes = list[tuple[str, Condition | None]]

RANDOM = random.Random(3)
CONDITIONS = make_conditions(RANDOM, 80)
EVENTS = [make_event(RANDOM) for _ in range(60)]
TABLES = [make_table(RANDOM, 8) for _ in range(20)]
"""Made before, so that Hypothesis spends its choices on the order of things, and can make many."""

IDS = [f"r{number}" for number in range(12)] + ["ä", "a longer id than the others"]
ids = st.sampled_from(IDS)
conditions = st.integers(0, len(CONDITIONS) - 1).map(lambda place: CONDITIONS[place])
events = st.lists(st.integers(0, len(EVENTS) - 1).map(lambda place: EVENTS[place]), min_size=1, max_size=4)
tables = st.integers(0, len(TABLES) - 1).map(lambda place: TABLES[place])
operations = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["insert", "replace"]), ids, conditions),
        st.tuples(st.just("delete"), ids),
    ),
    max_size=6,
)
wishes = st.lists(st.tuples(ids, st.one_of(st.none(), conditions)), min_size=1, max_size=4)
"""Ids with the condition that each is to have from now on, or None: changes that can be made."""


class AnyOrder(RuleBasedStateMachine):
    engine = "atree"

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        shrink(self.patch)
        self.folder = tempfile.TemporaryDirectory()
        self.model: dict[str, Condition] = {}
        self.index: Any = built([], self.engine)

    def teardown(self) -> None:
        self.patch.undo()
        self.folder.cleanup()

    @initialize(given=st.lists(conditions, max_size=10))
    def build(self, given: list[Condition]) -> None:
        self.model = {f"r{number}": condition for number, condition in enumerate(given)}
        self.index = built(list(self.model.items()), self.engine)

    def attempt(self, operation: tuple[Any, ...]) -> None:
        """Make a change to the dictionary; KeyError when it cannot be made."""
        kind, name, *condition = operation
        if (name in self.model) == (kind == "insert"):
            raise KeyError(name)
        self.model.pop(name, None)
        self.model.update((name, each) for each in condition)

    @rule(name=ids, condition=conditions)
    def insert(self, name: str, condition: Condition) -> None:
        try:
            self.attempt(("insert", name, condition))
        except KeyError:
            with pytest.raises(RuleError, match="already taken"):
                self.index.insert(name, print_condition(condition))
        else:
            self.index.insert(name, print_condition(condition))

    @rule(name=ids, condition=conditions)
    def replace(self, name: str, condition: Condition) -> None:
        try:
            self.attempt(("replace", name, condition))
        except KeyError:
            with pytest.raises(UnknownRuleError):
                self.index.replace(name, print_condition(condition))
        else:
            self.index.replace(name, print_condition(condition))

    @rule(name=ids)
    def delete(self, name: str) -> None:
        try:
            self.attempt(("delete", name))
        except KeyError:
            with pytest.raises(UnknownRuleError):
                self.index.delete(name)
        else:
            self.index.delete(name)

    @rule(asked=operations)
    def apply(self, asked: list[tuple[Any, ...]]) -> None:
        before = dict(self.model)
        written = [(*each[:2], *map(print_condition, each[2:])) for each in asked]
        try:
            for each in asked:
                self.attempt(each)
        except KeyError:
            self.model = before
            with pytest.raises((RuleError, UnknownRuleError)):
                self.index.apply(written)
        else:
            self.index.apply(written)

    @rule(wished=wishes)
    def grant(self, wished: Wishes) -> None:
        operations: list[tuple[Any, ...]] = []
        for name, condition in wished:
            if condition is not None:
                operations.append(("replace" if name in self.model else "insert", name, condition))
                self.attempt(operations[-1])
            elif name in self.model:
                operations.append(("delete", name))
                self.attempt(operations[-1])
        self.index.apply([(*each[:2], *map(print_condition, each[2:])) for each in operations])

    @rule(found=events)
    def match(self, found: list[Event]) -> None:
        right = expected(list(self.model.items()), found)
        assert by_event(self.index, found) == right
        assert by_cells(self.index, found) == right

    @rule(made=tables, threads=st.sampled_from([None, 1, 3]))
    def match_table(self, made: tuple[Any, list[Event]], threads: int | None) -> None:
        table, found = made
        right = expected(list(self.model.items()), found)
        assert by_table(self.index, table) == right
        assert by_reader(self.index, table, batch_rows=3) == right
        counts = self.index.match_table(table, count=True, threads=threads)
        both = (counts.per_event.to_pylist(), counts.per_rule.to_pylist())
        assert both == counted(list(self.model.items()), len(found), right)

    @rule()
    def compact(self) -> None:
        self.index.compact()
        assert self.index.stats().waiting == self.index.stats().dead == 0

    @rule(wished=st.lists(wishes, min_size=1, max_size=4), found=events)
    def change_during_a_compaction(self, wished: list[Wishes], found: list[Event]) -> None:
        with self.meanwhile(compaction, "compile_like", wished, found):
            self.index.compact()
        self.match(found)

    @rule(wished=st.lists(wishes, min_size=1, max_size=4), found=events)
    def change_during_a_merge(self, wished: list[Wishes], found: list[Event]) -> None:
        work = self.index._rules._upkeep
        self.match(found)
        with (
            pytest.MonkeyPatch.context() as patch,
            work._at_work,
            self.meanwhile(layered_snapshot, "compile_layer", wished, found),
        ):
            patch.setattr(compaction, "merged_above", lambda sizes, dead: 0)
            work._merge()
        self.match(found)

    @contextmanager
    def meanwhile(
        self, module: ModuleType, compiler: str, wished: list[Wishes], found: list[Event]
    ) -> Iterator[None]:
        """The first time that something is compiled, changes and matches come before it is published."""
        compiles = getattr(module, compiler)

        def compiled_late(*given: Any) -> Any:
            setattr(module, compiler, compiles)
            compiled = compiles(*given)
            for each in wished:
                self.grant(each)
                self.match(found)
            return compiled

        setattr(module, compiler, compiled_late)
        try:
            yield
        finally:
            setattr(module, compiler, compiles)

    @rule(reopen=st.booleans())
    def save(self, reopen: bool) -> None:
        path = Path(self.folder.name) / "rules.tocsin"
        self.index.save(path)
        again = tocsin.open(path)
        assert again.ids.to_pylist() == list(self.model)
        assert again.engine == self.engine
        if reopen:
            self.index = again

    @invariant()
    def the_rules_are_the_dictionary(self) -> None:
        assert len(self.index) == len(self.model)
        assert self.index.ids.to_pylist() == list(self.model)
        for name in IDS:
            assert (name in self.index) == (name in self.model)
            if name in self.model:
                assert self.index.rule(name).when == print_condition(self.model[name])


class OfInterval(AnyOrder):
    engine = "interval"


class OfDewey(AnyOrder):
    engine = "dewey"


class OfBop(AnyOrder):
    engine = "bop"


class OfBdd(AnyOrder):
    engine = "bdd"


class OfDnf(AnyOrder):
    engine = "dnf"


class OfScan(AnyOrder):
    engine = "scan"


class OfScanConj(AnyOrder):
    engine = "scan-conj"


def _order(machine: type[AnyOrder], examples: int) -> Any:
    case = machine.TestCase
    case.settings = settings(
        max_examples=examples, stateful_step_count=40, suppress_health_check=list(HealthCheck)
    )
    return case


TestAnyOrder = _order(AnyOrder, 25)
TestInterval = _order(OfInterval, 15)
TestDewey = _order(OfDewey, 15)
TestBop, TestBdd, TestDnf, TestScan, TestScanConj = (
    _order(each, 4) for each in (OfBop, OfBdd, OfDnf, OfScan, OfScanConj)
)
