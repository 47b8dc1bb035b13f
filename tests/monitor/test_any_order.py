"""Inserts, replacements, deletions, matches, saves and compactions in any order, against a plain dictionary.

The dictionary is the rules; grammar/meaning.py says which of them an event matches. Layers are a few
rules high, so that a short run merges and compacts them, in the background too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.cases import Event
from tests.contract.doors import RuleSet, built, by_cells, by_event, by_reader, by_table, counted, expected
from tests.monitor.small_layers import shrink
from tests.strategies import conditions, events, rule_sets, typed_tables

import tocsin
from tocsin.errors import RuleError, UnknownRuleError
from tocsin.grammar.printing import print_condition
from tocsin.grammar.tree import Condition

IDS = [f"r{number}" for number in range(6)] + ["ä", "a longer id than the others"]
ids = st.sampled_from(IDS)
operations = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["insert", "replace"]), ids, conditions()),
        st.tuples(st.just("delete"), ids),
    ),
    max_size=6,
)


class AnyOrder(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        shrink(self.patch)
        self.folder = tempfile.TemporaryDirectory()
        self.rules: dict[str, Condition] = {}
        self.index: Any = built([])

    def teardown(self) -> None:
        self.patch.undo()
        self.folder.cleanup()

    @initialize(rules=rule_sets())
    def build(self, rules: RuleSet) -> None:
        self.rules = dict(rules)
        self.index = built(rules)

    def attempt(self, operation: tuple[Any, ...]) -> None:
        """Make a change to the dictionary; KeyError when it cannot be made."""
        kind, name, *condition = operation
        if (name in self.rules) == (kind == "insert"):
            raise KeyError(name)
        self.rules.pop(name, None)
        self.rules.update((name, each) for each in condition)

    @rule(name=ids, condition=conditions())
    def insert(self, name: str, condition: Condition) -> None:
        try:
            self.attempt(("insert", name, condition))
        except KeyError:
            with pytest.raises(RuleError, match="already taken"):
                self.index.insert(name, print_condition(condition))
        else:
            self.index.insert(name, print_condition(condition))

    @rule(name=ids, condition=conditions())
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
        before = dict(self.rules)
        written = [(*each[:2], *map(print_condition, each[2:])) for each in asked]
        try:
            for each in asked:
                self.attempt(each)
        except KeyError:
            self.rules = before
            with pytest.raises((RuleError, UnknownRuleError)):
                self.index.apply(written)
        else:
            self.index.apply(written)

    @rule(found=st.lists(events(), min_size=1, max_size=3))
    def match(self, found: list[Event]) -> None:
        right = expected(list(self.rules.items()), found)
        assert by_event(self.index, found) == right
        assert by_cells(self.index, found) == right

    @rule(made=typed_tables(), threads=st.sampled_from([None, 1, 3]))
    def match_table(self, made: tuple[Any, list[Event]], threads: int | None) -> None:
        table, found = made
        right = expected(list(self.rules.items()), found)
        assert by_table(self.index, table) == right
        assert by_reader(self.index, table, batch_rows=3) == right
        counts = self.index.match_table(table, count=True, threads=threads)
        both = (counts.per_event.to_pylist(), counts.per_rule.to_pylist())
        assert both == counted(list(self.rules.items()), len(found), right)

    @rule()
    def compact(self) -> None:
        self.index.compact()
        assert self.index.stats().waiting == self.index.stats().dead == 0

    @rule(reopen=st.booleans())
    def save(self, reopen: bool) -> None:
        path = Path(self.folder.name) / "rules.tocsin"
        self.index.save(path)
        again = tocsin.open(path)
        assert again.ids.to_pylist() == list(self.rules)
        if reopen:
            self.index = again

    @invariant()
    def the_rules_are_the_dictionary(self) -> None:
        assert len(self.index) == len(self.rules)
        assert self.index.ids.to_pylist() == list(self.rules)
        for name in IDS:
            assert (name in self.index) == (name in self.rules)
            if name in self.rules:
                assert self.index.rule(name).when == print_condition(self.rules[name])


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    max_examples=40, stateful_step_count=30, suppress_health_check=list(HealthCheck)
)
TestAnyOrder.pytestmark = [
    pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning"),  # tables lack fields at random
    pytest.mark.filterwarnings("ignore:Encountered key"),  # a map with a key twice: the last one wins
]
