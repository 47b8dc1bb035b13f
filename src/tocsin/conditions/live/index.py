"""The index that users hold: rules that are ready to be matched, and can be changed meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.index_file import open_index
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.build_settings import PathLike, known_words
from tocsin.conditions.live.change_requests import deletion, insertion, read_changes, replacement
from tocsin.conditions.live.explanation import Explanation, explain_condition
from tocsin.conditions.live.index_statistics import GRAPH_ENGINE, Statistics
from tocsin.conditions.live.layers import Layer, main_layer
from tocsin.conditions.live.many_events import ManyEvents
from tocsin.conditions.live.snapshot import RuleStore, Snapshot
from tocsin.conditions.live.table_matcher import TableMatching
from tocsin.conditions.live.writer import LiveRules
from tocsin.conditions.matching.missing_fields import warn_of_missing_fields
from tocsin.conditions.matching.results import TABLE_SCHEMA, Counts, Matches
from tocsin.errors import TocsinError, UnknownRuleError, UsageError, tell, telling
from tocsin.rules import Rule, read_enabled
from tocsin.text import Dictionary, TextBase

if TYPE_CHECKING:
    from tocsin.history.statistics import History


class Index:
    """Rules ready to be matched, whichever engine does it. Made by tocsin.build or tocsin.open.

    They may be changed and saved, but for those of an index in shards, which stay as they were built:
    UnsupportedError.

    Threads may share it. Every call sees the rules as they are when it begins, and one change whole
    or not at all; a call that only reads never waits for one that changes rules.
    """

    engine = GRAPH_ENGINE

    def __init__(self, rules: CompiledIndex | Layer | RuleStore) -> None:
        if isinstance(rules, CompiledIndex):
            rules = main_layer(rules)
        self._rules: RuleStore = LiveRules(rules) if isinstance(rules, Layer) else rules
        self.engine = self._rules.engine
        self._many = ManyEvents()

    @property
    def shards(self) -> tuple[Index, ...]:
        """The indexes of an index in shards, which may be changed; none of one that is whole."""
        return self._rules.shards

    @property
    def version(self) -> Snapshot:
        """The rules as they are now, and stay in what this gives."""
        return self._rules.version

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name: nothing else of an event is looked at.

        Fields that only deleted rules named may be among them until the next compaction.
        """
        return self.version.fields

    @property
    def ids(self) -> pa.LargeStringArray:
        """The rules' ids, in the rules' order: as built, then as inserted or replaced."""
        version = self.version
        return version.ids_of(version.numbers())

    def __len__(self) -> int:
        return self.version.live

    def __contains__(self, rule: object) -> bool:
        return self.version.find(rule) is not None

    def __repr__(self) -> str:
        return f"<{self._rules.title.format(rules=f'{len(self):,}')}>"

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        version = self.version
        number = version.find(rule)
        if number is None:
            raise UnknownRuleError(rule)
        return version.rule(number)

    def match(self, event: Mapping[str, object]) -> Matches:
        """The rules that one event satisfies, in the rules' order."""
        version = self.version
        try:
            numbers, scores = version.match_event(event)
        except MemoryError as error:
            tell(error, "matching an event")
        return Matches(numbers, version.names, scores)

    @telling("matching events")
    def match_many(self, events: Iterable[Mapping[str, object]]) -> list[Matches]:
        """What `match` gives for each of the events, in their order, all against the same rules.

        Many are matched in blocks, as a table is, and few one by one. EventError for the first that cannot
        be read: its `row` is the event's position.
        """
        if isinstance(events, Mapping | str | bytes):
            raise UsageError(f"match_many takes an iterable of events, not {type(events).__name__}")
        return self._many.match(self.version, list(events))

    @telling("matching a table")
    def match_table(
        self,
        table: pa.Table | pa.RecordBatch | pa.RecordBatchReader,
        *,
        count: bool = False,
        threads: int | None = None,
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table: event (the row number), rule, score, by event and rule.

        `rule` is dictionary-encoded: `table["rule"].cast("string")` makes strings of it. All batches of a
        stream have one dictionary, of the ids of all rules.

        A RecordBatchReader is read as the result is, and gives a RecordBatchReader; the rules are those
        of the call, however long it is read. With `count` no match is written out: only how many
        there are for each event and for each rule.

        `threads` says how many threads to use; without it there are as many as this process may use
        cores, unless their scratch memory would be too much. They read a stream a few portions ahead.
        """
        if not isinstance(table, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            raise UsageError(f"match_table takes an Arrow table or reader, not {type(table).__name__}")
        version = self.version
        warn_of_missing_fields(version.fields, table.schema)
        matching = TableMatching(version, table, threads)
        if count:
            return matching.counts()
        if isinstance(table, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(TABLE_SCHEMA, matching.stream())
        return matching.table()

    def insert(self, rule: str | int, when: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Add a rule, behind all others; the next match sees it.

        Raises RuleError when the id is taken, the condition is no condition, or one that the engine cannot
        take; then nothing changes.
        """
        try:  # `telling` would be a call more
            self._rules.apply([insertion(rule, when, metadata)])
        except (MemoryError, TocsinError) as error:
            tell(error, "inserting a rule")

    def replace(self, rule: str | int, when: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Give an id another condition and other metadata. The rule then stands behind all others.

        Raises UnknownRuleError when there is no such rule, RuleError when the condition is none.
        """
        try:  # `telling` would be a call more
            self._rules.apply([replacement(rule, when, metadata)])
        except (MemoryError, TocsinError) as error:
            tell(error, "replacing a rule")

    def delete(self, rule: str | int) -> None:
        """Take a rule away; UnknownRuleError when there is none."""
        try:  # `telling` would be a call more
            self._rules.apply([deletion(rule)])
        except (MemoryError, TocsinError) as error:
            tell(error, "deleting a rule")

    @telling("changing rules")
    def apply(self, operations: Iterable[object]) -> None:
        """Make several changes at once: no match sees some of them without the others.

            index.apply([("delete", "r1"), ("insert", "r2", "age < 18"), ("replace", "r3", "age < 21")])

        An operation is judged as if those before it were made, so an id may be deleted and inserted
        again. Metadata may stand behind the condition, as a mapping. When one cannot be made, its
        error is raised and none is made.
        """
        self._rules.apply(read_changes(operations))

    @telling("compiling the rules anew")
    def compact(self) -> None:
        """Compile all rules anew, as if they had been built together; nothing to do when they were.

        It happens in the background when enough has changed. Others go on matching and changing
        meanwhile.
        """
        self._rules.compact()

    @telling("explaining a rule")
    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        found = self.rule(rule)
        return explain_condition(found, parse_condition(found.when), event, self.version.texts.settings())

    @telling("weighing the rules anew")
    def reweighed(
        self,
        *,
        history: History | PathLike | None = None,
        dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
        stop_words: Iterable[str] = (),
    ) -> Index:
        """The same rules with other dictionaries, as an index of its own; this one stays as it is.

        `history`, `dictionaries` and `stop_words` are those of tocsin.build. So documents that are being
        matched keep the weights they began with, and their scores can be had again.
        """
        compact = self._rules.compact
        words, _ = known_words(history, dictionaries)
        return Index(compact().reweighed(words, TextBase.of({}, stop_words).stop_words))

    @telling("counting what the index holds")
    def stats(self) -> Statistics:
        """Rules, nodes by kind and level, sharing, bytes by part, build seconds by phase."""
        version = self.version
        disabled, _ = read_enabled(version.metadata_of(version.numbers()))
        return replace(version.statistics(), disabled=len(disabled))

    @telling("saving the index")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to one file, whole or not at all.

        An index that was changed is compacted first. The file holds the rules of the call; of changes
        that other threads make during it, the first so many are in it, or none.
        """
        self._rules.save(path)


def open_file(path: str | os.PathLike[str], *, verify: bool = True) -> Index:
    """Open a saved index; IndexFileError when it is damaged, foreign or of another version."""
    return Index(open_index(path, verify=verify))
